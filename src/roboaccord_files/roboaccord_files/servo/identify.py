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

from roboaccord_files.servo.linear import NAMES, NO_LIMIT, SCHEMES, Joint, Servo

# Ticks that are tried beyond the intended ones; relative difference of a gain that is named.
MOST_DELAY, ALIKE = 3, 0.002
CLOSE, MOST = 1e-12, 200  # of fits: relative change at the end, and most responses
# Residual over the step, and over the smallest one, that is as good. A change of the delay, the
# armature or the mode, too, must lower the error WORTH times: gains imitate most of a delay.
NOISE, WORSE, WORTH = 1e-6, 3.0, 10.0
POOR = 3e-4  # residual over the step from which limits are sought
GAINS, LIMITS = ("kp", "kd"), ("effort", "velocity")
# Schemes of the own servos of engines, as their sources have them and test_servo finds them.
EXPECTED = {"mujoco": "damped", "mjwarp": "damped", "dart": "implicit", "drake": "implicit",
            "newton": "euler", "sapien": "implicit10"}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """The servo that a response shows.

    Args:
        servo, joint: as they are; the mode of a servo that an engine does not have of its own is
            `explicit` or, with limits, `limited`.
        scheme: of its steps.
        residual: rms of what it leaves of the response, relative to the step.
        intended, meant: servo, with the limits to which it comes, and joint as they were to be.
    """

    servo: Servo
    joint: Joint
    scheme: str
    residual: float
    intended: Servo
    meant: Joint

    def differences(self) -> dict[str, float | str]:
        """Return what differs from the intended servo, with its size; from a continuous one."""
        named, servo, intended = dict[str, float | str](), self.servo, self.intended
        is_own = servo.mode == "own"
        if is_own != (intended.mode == "own") or (is_own and self.scheme != "exact"):
            named["mode"] = NAMES[self.scheme] if is_own else "explicit, held over a tick"
        if servo.delay != intended.delay:
            named["delay"] = float(servo.delay - intended.delay)
        if self.joint != self.meant:
            named["armature"] = self.joint.inertia - self.meant.inertia
        pairs = {key: (getattr(servo, key), getattr(intended, key)) for key in (*GAINS, *LIMITS)}
        ignored = [f"{k} limit" for k, (real, wanted) in pairs.items() if wanted < real == NO_LIMIT]
        if ignored:
            named["ignores"] = " and ".join(ignored)
        for key, (real, wanted) in pairs.items():
            if real < NO_LIMIT and not math.isclose(real, wanted, rel_tol=ALIKE, abs_tol=NOISE):
                named |= {key: real - wanted} if key in GAINS else {f"{key} limit": real}
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
    period, free = joint.step * joint.steps, servo.stiffer(1.0)
    # Limits count where the servo comes to them: the effort is the largest at the start.
    servo = replace(servo, effort=servo.effort if servo.effort < servo.kp * step else NO_LIMIT)
    course = joint.respond(replace(servo, velocity=NO_LIMIT), np.full(len(response) - 1, step))
    is_slow = servo.velocity * period > np.abs(np.diff(course)).max()
    intended = replace(servo, velocity=NO_LIMIT if is_slow else servo.velocity)

    def tried(mode: str, scheme: str, keys: Sequence[str], delay: int, *limits: float) -> Found:
        mode = "limited" if limits and mode != "own" else mode
        start = Servo(free.kp, free.kd, mode, delay, *limits)
        fitted, _, residual = fit(response, step, joint, start, scheme, keys)
        ratio = _ratio(fitted, joint, intended, scheme, kp)
        real = {key: ratio * getattr(fitted, key) for key in (*GAINS, "effort")}
        other = replace(joint, inertia=ratio * joint.inertia)
        return Found(replace(fitted, **real), other, scheme, residual, intended, joint)

    def distance(found: Found) -> tuple[float, float]:
        named = found.differences()  # of as many, gains are the last that differ, then limits
        last = 0.1 * len({*GAINS} & named.keys()) + 0.1 * any("limit" in key for key in named)
        known = (found.servo.mode, found.scheme) == (intended.mode, EXPECTED.get(engine))
        return len(named) + last - known, found.residual

    ways = [(mode, scheme) for mode, names in SCHEMES.items() for scheme in names]
    delays = range(servo.delay + MOST_DELAY + 1)
    candidates = [tried(*way, GAINS, delay) for way, delay in product(ways, delays)]
    if intended != free or min(found.residual for found in candidates) > POOR:
        peaks = [float(np.abs(np.diff(response, n)).max()) / period**n for n in (1, 2)]
        rates, efforts = (peaks[0], NO_LIMIT), (joint.inertia * peaks[1], NO_LIMIT)
        for way, gains, delay, effort, rate in product(ways, (GAINS, ()), delays, efforts, rates):
            if way[0] == "own" or rate == NO_LIMIT:
                candidates.append(tried(*way, (*gains, *LIMITS), delay, effort, rate))
    best = min(found.residual for found in candidates)
    accepted = [found for found in candidates if found.residual <= max(WORSE * best, NOISE)]
    return min(accepted, key=distance)


def fit(
    response: Array, step: float, joint: Joint, servo: Servo, scheme: str, keys: Sequence[str]
) -> tuple[Servo, Joint, float]:
    """Return servo and joint that fit a response best by their values of keys, and the residual."""
    from scipy.optimize import least_squares

    known = vars(servo) | vars(joint) | {"kd": servo.kd or 2.0 * (servo.kp * joint.inertia) ** 0.5}
    start = {key: known[key] for key in keys if known[key] < NO_LIMIT}
    targets = np.full(len(response) - 1, step)

    def changed(x: Array) -> tuple[Servo, Joint]:
        values = dict(zip(start, np.exp(np.clip(x, -99.0, 99.0)).tolist()))
        other = replace(joint, inertia=values.pop("inertia", joint.inertia))
        return replace(servo, **values), other

    def miss(x: Array) -> Array:
        new, other = changed(x)
        difference = other.respond(new, targets, scheme) - response
        return np.nan_to_num(np.clip(difference, -1e3, 1e3), nan=1e3)

    x = np.log(np.array([*start.values()]))  # gains that are tried may be unstable
    with np.errstate(all="ignore"):
        if len(x):
            x = least_squares(miss, x, method="lm", xtol=CLOSE, ftol=CLOSE, max_nfev=MOST).x
        return *changed(x), float(np.sqrt(np.mean(miss(x) ** 2))) / abs(step)


def _ratio(fitted: Servo, joint: Joint, intended: Servo, scheme: str, kp: float | None) -> float:
    """Return the ratio of the real inertia to the intended one, for which gains were fitted."""
    stiffer, damper = fitted.kp / intended.kp, fitted.kd / (intended.kd or fitted.kd)
    if max(abs(stiffer - 1.0), abs(damper - 1.0)) < ALIKE:
        return 1.0  # another droop is not the servo's
    ratio = 1.0 / stiffer if abs(stiffer / damper - 1.0) < ALIKE else 1.0
    ratio = ratio if kp is None else kp * joint.compliance(fitted, scheme)
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
    real, best = second.joint.inertia, (np.inf, second.servo, 0.0)
    # Another inertia that the first shows is taken over, and so its stiffness under a weight stays.
    start = replace(second.joint, inertia=max(first.joint.inertia, real + lowest))
    for late, more in product((second, first), ((), ("inertia",))):
        servo = replace(second.servo, delay=late.servo.delay)
        new, joint, error = fit(response, size, start, servo, second.scheme, (*GAINS, *more))
        added = joint.inertia - real
        if added >= lowest and best[0] > max(NOISE, WORTH * error):
            best = error, new, added
    return best[1:]
