"""Find out from the response to a step alone which servo answers like that, and match two.

A step without weight shows the ratios a = kp / I and b = kd / I, the delay, and by which scheme the
motion is stepped; the droop under a known weight shows kp itself. `identify` fits a and b for each
scheme and delay. Of those that fit as well as the best within the noise, the one counts that
differs least from what was intended, and `Found.differences` names what differs:

    mode        another scheme, such as efforts that are held where they were to be implicit
    delay       ticks
    ignores     limits that are not kept, though the intended servo comes to them
    effort limit, velocity limit    another limit, itself [N m, rad/s]
    armature    a and b in one ratio, which is that of the inertias [kg m^2]
    kp, kd      any other; without weight kp is assumed to be right

Limits are sought where the intended servo comes to its own, or no servo without them fits. They
are fitted as a and b are, from the fastest motion and the largest acceleration.

Semi-implicit Euler, implicit damping and an implicit spring are one family: each answers exactly as
another with an inertia or a damping that differs by h kd or h kp. So the scheme that an engine is
known to have counts as no difference; EXPECTED has it.

`proposal` gives the gains by which one engine, in its scheme, answers as another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product


import numpy as np
from roboaccord.contract import Array

from roboaccord_files.servo.linear import NO_LIMIT, SCHEMES, Joint, Servo, rms

# Ticks that are tried beyond the intended ones; relative difference of a gain that is named.
MOST_DELAY, ALIKE = 3, 0.002
CLOSE, MOST = 1e-12, 200  # of fits: relative change at the end, and most responses
# Residual over the step, and over the smallest one, that is as good. A change of the delay, the
# armature or the mode, too, must lower the error WORTH times: gains imitate most of a delay.
NOISE, WORSE, WORTH = 1e-6, 3.0, 10.0
ALL = "kp", "kd", "effort", "velocity"  # what is fitted, where there are limits
POOR = 3e-4  # residual over the step from which limits are sought
_WORDS = ("continuous", "explicit in each physics step", "implicit damping", "implicit",
          "implicit in 10 substeps")  # fmt: skip
# Schemes of the own servos of engines, as their sources have them and test_servo finds them.
EXPECTED = {"mujoco": "damped", "mjwarp": "damped", "dart": "implicit", "drake": "implicit",
            "newton": "euler", "sapien": "implicit10"}  # fmt: skip
NAMES = dict(zip(SCHEMES["own"], _WORDS, strict=True))


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
        is_own = servo.mode == "own"
        if is_own != (intended.mode == "own") or (is_own and self.scheme != "exact"):
            named["mode"] = NAMES[self.scheme] if is_own else "explicit, held over a tick"
        if servo.delay != intended.delay:
            named["delay"] = float(servo.delay - intended.delay)
        limits = {"effort": servo.effort * self.ratio, "velocity": servo.velocity}
        for key, real in limits.items():
            wanted = getattr(intended, key)
            if wanted < NO_LIMIT <= real:
                both = "ignores" in named
                named["ignores"] = "limits of effort and velocity" if both else f"{key} limit"
            elif not math.isclose(real, wanted, rel_tol=ALIKE):
                named[f"{key} limit"] = real
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
    targets, period = np.full(len(response) - 1, step), joint.step * joint.steps
    free, intended = servo.stiffer(1.0), felt(joint, servo, targets)

    def tried(mode: str, scheme: str, keys: Sequence[str], delay: int, *limits: float) -> Found:
        mode = "limited" if limits and mode != "own" else mode
        start = Servo(free.kp, free.kd, mode, delay, *limits)
        fitted, _ = fit(response, targets, joint, start, scheme, keys)
        residual = rms(joint.respond(fitted, targets, scheme), response) / abs(step)
        ratio = _ratio(fitted, joint, intended, scheme, kp)
        return Found(fitted, scheme, residual, joint, intended, ratio)

    def distance(found: Found) -> tuple[float, float]:
        named = found.differences()  # of as many, gains are the last that differ, then limits
        last = 0.1 * len({"kp", "kd"} & named.keys()) + 0.1 * any("limit" in key for key in named)
        known = (found.servo.mode, found.scheme) == (intended.mode, EXPECTED.get(engine))
        return len(named) + last - known, found.residual

    ways = [(mode, scheme) for mode, names in SCHEMES.items() for scheme in names]
    delays = range(servo.delay + MOST_DELAY + 1)
    candidates = [tried(*way, ALL, delay) for way, delay in product(ways, delays)]
    if intended != free or min(found.residual for found in candidates) > POOR:
        peaks = [float(np.abs(np.diff(response, n)).max()) / period**n for n in (1, 2)]
        rates, efforts = (peaks[0], NO_LIMIT), (joint.inertia * peaks[1], NO_LIMIT)
        for way, keys, *limits in product(ways, (ALL, ALL[2:]), delays, efforts, rates):
            if way[0] == "own" or limits[-1] == NO_LIMIT:
                candidates.append(tried(*way, keys, *limits))
    best = min(found.residual for found in candidates)
    accepted = [found for found in candidates if found.residual <= max(WORSE * best, NOISE)]
    return min(accepted, key=distance)


def felt(joint: Joint, servo: Servo, targets: Array) -> Servo:
    """Return a servo without those limits to which it does not come under targets (k,)."""
    size = float(np.abs(targets).max())
    for key in ("effort", "velocity"):
        without = replace(servo, **{key: NO_LIMIT})
        changed = (joint.respond(each, targets) for each in (without, servo))
        servo = without if rms(*changed) < NOISE * size else servo
    return servo


def fit(
    response: Array,
    targets: Array,
    joint: Joint,
    servo: Servo,
    scheme: str,
    keys: Sequence[str],
) -> tuple[Servo, Joint]:
    """Return servo and joint that fit a response best by their values of keys, on logarithms."""
    from scipy.optimize import least_squares

    known = vars(servo) | vars(joint) | {"kd": servo.kd or 2.0 * (servo.kp * joint.inertia) ** 0.5}
    start = {key: known[key] for key in keys if known[key] < NO_LIMIT}

    def changed(x: Array) -> tuple[Servo, Joint]:
        values = dict(zip(start, np.exp(np.clip(x, -99.0, 99.0)).tolist()))
        other = replace(joint, inertia=values.pop("inertia", joint.inertia))
        return replace(servo, **values), other

    def miss(x: Array) -> Array:
        with np.errstate(all="ignore"):  # of gains that are unstable on the way
            new, other = changed(x)
            difference = other.respond(new, targets, scheme) - response
        return np.nan_to_num(np.clip(difference, -1e3, 1e3), nan=1e3)

    x = np.log(np.array([*start.values()]))
    ends = {"ftol": CLOSE, "xtol": CLOSE, "gtol": CLOSE, "max_nfev": MOST}
    return changed(least_squares(miss, x, method="lm", **ends).x)


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


def proposal(
    response: Array, size: float, first: Found, second: Found, lowest: float = -np.inf
) -> tuple[Servo, float]:
    """Return servo and additional armature by which the second answers as the first.

    Args:
        response: of the first to a step.
        size: of the step.
        first, second: what both responses show.
        lowest: additional armature, which may be negative, at least [kg m^2].
    """
    targets, joint, best = np.full(len(response) - 1, size), second.joint, None
    real = joint.inertia * second.ratio
    # Another inertia that the first shows is taken over, and so its stiffness under a weight stays.
    ratio = first.ratio if first.ratio * joint.inertia - real >= lowest else second.ratio
    scaled = {key: ratio * getattr(second.servo, key) for key in ("kp", "kd")}
    limited = replace(second.servo, effort=second.servo.effort * second.ratio)
    start = replace(joint, inertia=ratio * joint.inertia)
    for late, keys in product((second, first), (ALL[:2], (*ALL[:2], "inertia"))):
        servo = replace(limited, **scaled, delay=late.servo.delay)
        servo, other = fit(response, targets, start, servo, second.scheme, keys)
        error = rms(other.respond(servo, targets, second.scheme), response) / abs(size)
        worth = best is None or (best[0] > NOISE and error * WORTH < best[0])
        if worth and other.inertia - real >= lowest:
            best = error, servo, other.inertia - real
    assert best
    return best[1], best[2]
