"""Find out from the response to a step alone which servo answers like that, and match two.

A step without weight shows the ratios a = kp / I and b = kd / I, the delay, and by which scheme the
motion is stepped; the droop under a known weight shows kp itself. `identify` fits a and b for each
scheme and delay. Of those that fit as well as the best within the noise, the one counts that
differs least from what was intended, and `Found.differences` names what differs:

    mode        another scheme, such as efforts that are held where they were to be implicit
    delay       ticks
    armature    a and b in one ratio, which is that of the inertias [kg m^2]
    kp, kd      any other; without weight kp is assumed to be right

Semi-implicit Euler, implicit damping and an implicit spring are one family: each answers exactly as
another with an inertia or a damping that differs by h kd or h kp. So the scheme that an engine is
known to have counts as no difference; EXPECTED has it.

`proposal` gives the gains by which one engine, in its scheme, answers as another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import Array

from roboaccord_files.servo.linear import SCHEMES, Joint, Servo, rms

# Ticks that are tried beyond the intended ones; relative difference of a gain that is named.
MOST_DELAY, ALIKE = 3, 0.002
FITS, SHIFT, EASY = 12, 1e-6, 1e-7  # of Gauss and Newton: iterations, shift, change at the end
# Residual over the step, and over the smallest one, that is as good. A change of the delay, too,
# must lower the error WORTH times: gains imitate most of a delay.
NOISE, WORSE, WORTH = 1e-6, 3.0, 10.0
_WORDS = ("continuous", "explicit in each physics step", "implicit damping", "implicit")
_PARTS = (f"implicit in {parts} substeps" for parts in (10, 4))
# Schemes of the own servos of engines, as their sources have them and test_servo finds them.
EXPECTED = {"mujoco": "damped", "mjwarp": "damped", "dart": "implicit", "drake": "implicit",
            "newton": "euler", "sapien": "implicit10"}  # fmt: skip
NAMES = dict(zip(SCHEMES["own"], (*_WORDS, *_PARTS), strict=True))


@dataclass(frozen=True)
class Found:
    """The servo that a response shows.

    Args:
        servo: gains for the intended inertia, mode (`own` or `explicit`) and delay.
        scheme: of its steps.
        residual: rms of what it leaves of the response, relative to the step.
        joint, intended: what was intended.
        ratio: of the real inertia to the intended one, and of the real gains to those of `servo`.
    """

    servo: Servo
    scheme: str
    residual: float
    joint: Joint
    intended: Servo
    ratio: float

    def differences(self) -> dict[str, float | str]:
        """Return what differs from the intended servo, with its size; from a continuous one."""
        named, servo, intended = dict[str, float | str](), self.servo, self.intended
        if servo.mode != intended.mode or (servo.mode == "own" and self.scheme != "exact"):
            is_own = servo.mode == "own"
            named["mode"] = NAMES[self.scheme] if is_own else "explicit, held over a tick"
        if servo.delay != intended.delay:
            named["delay"] = float(servo.delay - intended.delay)
        if self.ratio != 1.0:
            named["armature"] = (self.ratio - 1.0) * self.joint.inertia
        for key in ("kp", "kd"):
            real, wanted = self.ratio * getattr(servo, key), getattr(intended, key)
            if abs(real - wanted) > ALIKE * (wanted or 1.0):
                named[key] = real - wanted
        return named


def identify(
    response: Array, step: float, joint: Joint, servo: Servo, engine: str, kp: float | None = None
) -> Found:
    """Return the servo that a response to a step shows.

    Args:
        response: positions (k + 1,), from rest at 0.
        step: target from the first tick on.
        joint, servo: as intended.
        engine: name, for EXPECTED; "" where it is not known.
        kp: stiffness that a droop under a known weight shows; None without weight.
    """
    targets, candidates = np.full(len(response) - 1, step), list[Found]()
    for mode, scheme in ((mode, name) for mode, names in SCHEMES.items() for name in names):
        for delay in range(servo.delay + MOST_DELAY + 1):
            fitted = fit(response, targets, joint, replace(servo, mode=mode, delay=delay), scheme)
            residual = rms(joint.respond(fitted, targets, scheme), response) / abs(step)
            ratio = _ratio(fitted, joint, servo, scheme, kp)
            candidates.append(Found(fitted, scheme, residual, joint, servo, ratio))
    best = min(found.residual for found in candidates)
    accepted = [found for found in candidates if found.residual <= max(WORSE * best, NOISE)]

    def distance(found: Found) -> tuple[float, float]:
        named = found.differences()  # of as many, gains are the last that differ
        known = (found.servo.mode, found.scheme) == (servo.mode, EXPECTED.get(engine))
        return len(named) + 0.1 * len({"kp", "kd"} & named.keys()) - known, found.residual

    return min(accepted, key=distance)


def fit(response: Array, targets: Array, joint: Joint, servo: Servo, scheme: str) -> Servo:
    """Return the servo whose gains fit a response best, by Gauss and Newton on their logarithms."""

    def with_gains(x: Array) -> Servo:
        return replace(servo, kp=float(np.exp(x[0])), kd=float(np.exp(x[1])))

    def miss(x: Array) -> Array:
        with np.errstate(all="ignore"):  # of gains that are unstable on the way
            difference = joint.respond(with_gains(x), targets, scheme) - response
        return np.nan_to_num(np.clip(difference, -1e3, 1e3), nan=1e3)

    x = np.log([servo.kp, servo.kd or 2.0 * (servo.kp * joint.inertia) ** 0.5])
    left = miss(x)
    for _ in range(FITS):
        slopes = np.array([(miss(x + SHIFT * unit) - left) / SHIFT for unit in np.eye(2)]).T
        change = np.clip(np.linalg.lstsq(slopes, -left, rcond=None)[0], -0.5, 0.5)
        while (trial := miss(x + change)) @ trial > left @ left and np.abs(change).max() > EASY:
            change *= 0.5
        x, left = x + change, trial
        if np.abs(change).max() < EASY:
            break
    return with_gains(x)


def _ratio(fitted: Servo, joint: Joint, intended: Servo, scheme: str, kp: float | None) -> float:
    """Return the ratio of the real inertia to the intended one, for which gains were fitted."""
    stiffer, damper = fitted.kp / intended.kp, fitted.kd / (intended.kd or fitted.kd)
    ratio = 1.0
    if max(abs(stiffer - 1.0), abs(damper - 1.0)) > ALIKE:  # else another droop is not the servo's
        if kp is not None:
            ratio = kp * joint.compliance(fitted, scheme)
        elif abs(stiffer / damper - 1.0) < ALIKE:
            ratio = 1.0 / stiffer
    return ratio if abs(ratio - 1.0) > ALIKE else 1.0


def proposal(response: Array, size: float, first: Found, second: Found) -> tuple[Servo, float]:
    """Return servo and additional armature by which the second answers as the first.

    Args:
        response: of the first to a step.
        size: of the step.
        first, second: what both responses show.
    """
    targets, joint, tried = np.full(len(response) - 1, size), second.joint, {}
    for delay in {second.servo.delay, first.servo.delay}:
        servo = fit(response, targets, joint, replace(second.servo, delay=delay), second.scheme)
        tried[delay] = rms(joint.respond(servo, targets, second.scheme), response), servo
    error, servo = tried[second.servo.delay]
    if tried[first.servo.delay][0] * WORTH < error:
        servo = tried[first.servo.delay][1]
    # Another inertia that the first shows is taken over, and so its stiffness under a weight stays.
    gains = replace(servo, kp=servo.kp * first.ratio, kd=servo.kd * first.ratio)
    return gains, (first.ratio - second.ratio) * joint.inertia
