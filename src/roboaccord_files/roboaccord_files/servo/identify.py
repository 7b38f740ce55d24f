"""Find out from the response to a step alone which servo answers like that.

A step without weight shows the ratios a = kp / I and b = kd / I, the delay, and by which scheme the
motion is stepped; the droop under a known weight shows kp itself. `identify` fits a and b for each
scheme and delay. Of those that fit as well as the best within the noise, the one counts that
differs least from what was intended, and `Found.differences` names what differs:

    mode        another scheme, such as efforts that are held where they were to be implicit
    delay       ticks
    armature    a and b in one ratio, which is that of the inertias [kg m^2]
    kp, kd      any other; where no weight acts, kp is assumed to be right if b / a is not
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import Array

from roboaccord_files.servo.law import Servo
from roboaccord_files.servo.linear import HELD_SCHEMES, OWN_SCHEMES, Joint
from roboaccord_files.servo.measures import rms

MOST_DELAY = 4  # ticks that are tried beyond the intended ones
ALIKE = 0.002  # relative difference of a gain or an inertia that is named
NOISE = 1e-6  # of the step: residual that single precision leaves
WORSE = 3.0  # times the smallest residual is as good
FITS, SHIFT = 12, 1e-6  # iterations of Gauss and Newton; relative shift of their derivatives
EASY = 1e-10  # change of the logarithms of a and b at which they end
# Which modes schemes of own servos are, for the names of differences.
HELD = "explicit, held over a tick"
NAMES = {
    "exact": "continuous", "euler": "explicit in each physics step", "damped": "implicit damping",
    "implicit": "implicit", "implicit10": "implicit in 10 substeps",
    "implicit4": "implicit in 4 substeps",
}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """The servo that a response shows.

    Args:
        servo: gains, mode (`own` or `explicit`) and delay; gains for the intended inertia.
        scheme: of its steps.
        residual: rms of what it leaves of the response, relative to the step.
        joint, intended: what was intended.
        inertia: that the response shows, together with the gains of `real`.
        real: servo with gains for that inertia.
    """

    servo: Servo
    scheme: str
    residual: float
    joint: Joint
    intended: Servo
    inertia: float
    real: Servo

    @property
    def mode(self) -> str:
        """The mode in words."""
        return NAMES[self.scheme] if self.servo.mode == "own" else HELD

    def differences(self, scheme: str) -> dict[str, float | str]:
        """Return what differs from the intended servo and its scheme, with its size."""
        named: dict[str, float | str] = {}
        is_held = "own" not in (self.servo.mode, self.intended.mode)
        if self.scheme != scheme and not is_held or self.servo.mode != self.intended.mode:
            named["mode"] = self.mode
        if self.servo.delay != self.intended.delay:
            named["delay"] = float(self.servo.delay - self.intended.delay)
        if abs(self.inertia / self.joint.inertia - 1.0) > ALIKE:
            named["armature"] = self.inertia - self.joint.inertia
        for key in ("kp", "kd"):
            real, intended = getattr(self.real, key), getattr(self.intended, key)
            if abs(real - intended) > ALIKE * (intended or 1.0):
                named[key] = real - intended
        return named


def identify(
    response: Array, step: float, joint: Joint, servo: Servo, scheme: str, kp: float | None = None
) -> Found:
    """Return the servo that a response to a step shows.

    Args:
        response: positions (k + 1,), from rest at 0.
        step: target from the first tick on.
        joint: inertia and damping as intended, step and ticks.
        servo: as intended.
        scheme: as intended.
        kp: stiffness that a droop under a known weight shows; None without weight.
    """
    targets = np.full(len(response) - 1, step)
    candidates = list[Found]()
    for mode, schemes in (("own", OWN_SCHEMES), ("explicit", HELD_SCHEMES)):
        for name in schemes:
            for delay in range(servo.delay + MOST_DELAY + 1):
                start = replace(servo, mode=mode, delay=delay)
                fitted = fit(response, targets, joint, start, name)
                residual = rms(joint.respond(fitted, targets, name), response) / abs(step)
                measured = kp and kp * joint.compliance(fitted, name)
                parts = split(fitted, joint, servo, measured)
                candidates.append(Found(fitted, name, residual, joint, servo, *parts))
    best = min(found.residual for found in candidates)
    accepted = [found for found in candidates if found.residual <= max(WORSE * best, NOISE)]

    def distance(found: Found) -> tuple[float, float]:
        named = found.differences(scheme)  # of as many, gains are the last that differ
        return len(named) + 0.1 * len({"kp", "kd"} & named.keys()), found.residual

    return min(accepted, key=distance)


def fit(response: Array, targets: Array, joint: Joint, servo: Servo, scheme: str) -> Servo:
    """Return the servo whose gains fit a response best, by Gauss and Newton on their logarithms."""
    kd = servo.kd or 2.0 * (servo.kp * joint.inertia) ** 0.5
    x = np.log([servo.kp, kd])

    def miss(x: Array) -> Array:
        gains = np.exp(x)
        tried = replace(servo, kp=float(gains[0]), kd=float(gains[1]))
        with np.errstate(all="ignore"):
            difference = joint.respond(tried, targets, scheme)[: len(response)] - response
        return np.nan_to_num(np.clip(difference, -1e3, 1e3), nan=1e3)

    left = miss(x)
    for _ in range(FITS):
        slopes = np.array([(miss(x + SHIFT * unit) - left) / SHIFT for unit in np.eye(2)]).T
        change = np.clip(np.linalg.lstsq(slopes, -left, rcond=None)[0], -0.5, 0.5)
        trial = miss(x + change)
        while trial @ trial > left @ left and np.abs(change).max() > EASY:
            change *= 0.5
            trial = miss(x + change)
        x, left = x + change, trial
        if np.abs(change).max() < EASY:
            break
    return replace(servo, kp=float(np.exp(x[0])), kd=float(np.exp(x[1])))


def split(
    fitted: Servo, joint: Joint, intended: Servo, measured: float | None
) -> tuple[float, Servo]:
    """Return inertia and gains for it, of gains that were fitted for the intended inertia.

    Args:
        fitted, intended: servos.
        joint: as intended.
        measured: stiffness under a known weight over the fitted one; None without weight.
    """
    stiffer, damper = fitted.kp / intended.kp, fitted.kd / (intended.kd or fitted.kd)
    if max(abs(stiffer - 1.0), abs(damper - 1.0)) < ALIKE:
        ratio = 1.0  # another droop is not the servo's
    elif measured is not None:
        ratio = measured
    elif abs(stiffer / damper - 1.0) < ALIKE:
        ratio = 1.0 / stiffer
    else:
        ratio = 1.0
    if abs(ratio - 1.0) < ALIKE:
        ratio = 1.0
    gains = replace(fitted, kp=fitted.kp * ratio, kd=fitted.kd * ratio)
    return joint.inertia * ratio, gains
