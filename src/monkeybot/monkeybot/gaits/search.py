"""Search of gaits: least error, periodic and collisionless gaits, and their repetition.

`minimise` and `repeat` are fixed, the report's methods with located events; test_gaits tests its
numbers and others computed apart. FINE to SMALL and SEARCH may be tuned: wider ones find more from
bad guesses, and take longer. PERIODIC defines what is called periodic and stays. Fields of Minimum,
CollisionlessGait and Repetition, JSON keys of `accord monkeybot gait`, stay.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import INLINE, LEFT_OUT, AccordError, Array, Quantity
from roboaccord.numerics import central_slope, newton_steps

from monkeybot.controllers import other_hand
from monkeybot.gaits.gait import (
    Evaluation,
    Figures,
    Gait,
    distance,
    evaluate,
    full_starts,
    horizontal,
    wrap,
)
from monkeybot.model.coordinates import Mode
from monkeybot.model.events import VERTICAL
from monkeybot.model.hybrid import LIMIT
from monkeybot.model.motion import Motion, frictionless
from monkeybot.model.parameters import MonkeyBotParameters

FINE = 1e-12  # tolerance of the integrator where digits count
NEWTON_STEPS = 25
LONGEST_STEP = 0.15  # rad/s
ALONG_VALLEY = (0.0, 0.2, -0.2, 0.4, -0.4, 0.6, -0.6, 0.8, -0.8, 1.0, -1.0)  # rad/s
SMALL = 1e-6  # rad/s: of the differences
PERIODIC = 1e-9  # rad, rad/s: a gait that repeats to this is periodic


@dataclass(frozen=True)
class Minimum:
    """A minimum of a gait's error: rates (2,), and how many evaluations it took."""

    rates: Annotated[Array, Quantity("rad/s", form=".8f")]
    figures: Figures = field(metadata=INLINE)
    evaluations: Annotated[int, Quantity("")]


def minimise(
    gait: Gait, parameters: MonkeyBotParameters, rates: Array, *, tolerance: float = FINE
) -> Minimum:
    """Minimise a gait's error over the rates at the start, by Nelder and Mead as in the report.

    Raises:
        AccordError: for a start that misses an event.
    """

    def error(x: Array) -> float:
        found = float(evaluate(gait, parameters, x, tolerance=tolerance).error[0])
        return found if np.isfinite(found) else np.inf

    if not np.isfinite(error(np.asarray(rates))):
        raise AccordError(missed(rates))
    best = scipy.optimize.minimize(
        error, rates, method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-18, "maxiter": 4000, "maxfev": 8000},
    )  # fmt: skip
    found = evaluate(gait, parameters, best.x, tolerance=tolerance)
    return Minimum(best.x, found.figures, int(best.nfev) + 1)


def missed(rates: Array) -> str:
    """Return the message for a start that comes to nothing."""
    w1, w2 = (float(rate) for rate in rates)
    return (
        f"from rates {w1:g} and {w2:g} rad/s the free hand never rises to the line, or no further"
    )


@dataclass(frozen=True)
class Periodic:
    """A gait that repeats: rates (2,) [rad/s], how far it is off, and its evaluation."""

    rates: Array
    residual: float
    evaluation: Evaluation


def refine(
    gait: Gait, parameters: MonkeyBotParameters, rates: Array, *, tolerance: float = FINE
) -> Periodic:
    """Find the rates near by from which a gait repeats exactly, by Gauss and Newton.

    Three conditions (th2, w1, w2 return) for two rates: where energy is restored the third follows.
    The residual has a narrow valley with minima of its own, so if the guess comes to nothing,
    others along the valley are tried, the nearest first.

    Raises:
        AccordError: if none is found.
    """
    guess = np.asarray(rates, dtype=float)

    def residual_at(x: Array) -> Array:
        final = evaluate(gait, parameters, x, tolerance=tolerance).final[0]
        return np.array([float(wrap(final[1])), *(final[2:] - x)])

    slope = central_slope(residual_at, guess, SMALL)
    if not np.isfinite(slope).all():
        raise AccordError(missed(rates))
    valley = np.linalg.svd(slope)[2][1]
    nearest, least = guess, math.inf
    for shift in ALONG_VALLEY:
        x, residual = _newton(residual_at, guess + shift * valley)
        if residual < PERIODIC:
            return Periodic(x, residual, evaluate(gait, parameters, x, tolerance=tolerance))
        if residual < least:
            nearest, least = x, residual
    raise AccordError(
        f"no gait that repeats was found near rates {guess[0]:g} and {guess[1]:g} rad/s: the best, "
        f"{nearest[0]:.5f} and {nearest[1]:.5f}, is {least:.2g} off; try another torque"
    )


def _newton(residual_at: Callable[[Array], Array], x: Array) -> tuple[Array, float]:
    """Return where Newton's steps lead, and the residual there."""
    best, least = x, math.inf
    slope = partial(central_slope, residual_at, steps=SMALL)
    # Steps may lead uphill: downhill alone never leaves the valley's floor.
    for point, r in newton_steps(residual_at, slope, x, longest=LONGEST_STEP, steps=NEWTON_STEPS):
        residual = float(np.linalg.norm(r))
        if least < PERIODIC and not residual < least:
            break
        if residual < least:
            best, least = point, residual
    return best, least


SEARCH = np.deg2rad(np.arange(0.0, 15.0, 0.25))  # how far from the guess a gait is looked for


@dataclass(frozen=True)
class CollisionlessGait:
    """A gait that needs neither motor nor impact.

    Args:
        angle: of the held link from straight down, where both hands rest on the line.
        period: from one change of hands to the next.
        stride: between the hands.
        rates: of th1 and th2 half-way, where both links hang straight down (2,).
        residual: largest change of angles [rad] and rates [rad/s] after one gait.
    """

    angle: Annotated[float, Quantity("rad", form=".8f")]
    period: Annotated[float, Quantity("s", form=".8f")]
    stride: Annotated[float, Quantity("m", form=".8f")]
    rates: Annotated[Array, Quantity("rad/s", name="rates half-way", form=".8f")] = field(
        metadata=LEFT_OUT
    )
    residual: Annotated[float, Quantity("rad, rad/s", form=".2g")]


def start_of(angle: float) -> Array:
    """Return the state in which both hands are level and at rest, the free one behind (8,)."""
    return np.array([-angle, 2.0 * angle - math.pi, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def find_collisionless(parameters: MonkeyBotParameters, angle: float) -> CollisionlessGait:
    """Find the collisionless gait nearest to a guess.

    The robot and the gait are symmetric about the vertical: released at rest with both hands level,
    it must hang straight, th1 = th2 = 0, at one instant half-way.

    Args:
        parameters: of a robot whose links are alike.
        angle: guess [rad].

    Raises:
        AccordError: for links that differ, an angle outside (0, pi/2), or where there is none.
    """
    p = frictionless(parameters)
    if not np.allclose(p.row(0), p.row(1), rtol=1e-9, atol=0.0):
        raise AccordError("a collisionless gait needs both links alike, seen from their hands")
    if p.gravity == 0.0:
        raise AccordError("gravity is 0, and a robot at rest stays there")
    if not 0.0 < angle < 0.5 * math.pi:
        raise AccordError(f"angle is {angle:g} rad, and must be between 0 and pi/2")
    root = _root(p, angle)
    half = _half(p, root)
    stride = 2.0 * p.length_a * math.sin(root)
    period = 2.0 * half.time
    return CollisionlessGait(root, period, stride, half.u[2:4], _residual(p, root, period))


def _half(parameters: MonkeyBotParameters, angle: float) -> Motion:
    """Return the motion from rest to where the held link hangs straight down."""
    motion = Motion(parameters, start_of(angle), tolerance=1e-14)
    motion.advance(LIMIT, until=VERTICAL)
    return motion


def _root(p: MonkeyBotParameters, guess: float) -> float:
    """Return the angle nearest to the guess from which th2 = 0 half-way."""

    def miss(angle: float) -> float:
        return float(_half(p, angle).u[1])

    low = high = miss(guess)
    for before, after in itertools.pairwise(SEARCH):
        for side in (-1.0, 1.0):
            a, b = guess + side * before, guess + side * after
            if not 0.0 < b < 0.5 * math.pi:
                continue
            m = miss(b)
            last = low if side < 0 else high
            if last * m <= 0.0 and abs(last - m) < 1.0:
                return float(scipy.optimize.brentq(miss, a, b, xtol=1e-15, rtol=1e-15))
            low, high = (m, high) if side < 0 else (low, m)
    raise AccordError(f"no collisionless gait is within 15 degrees of {guess:g} rad")


def _residual(parameters: MonkeyBotParameters, angle: float, period: float) -> float:
    """Return how far one whole gait ends from its start."""
    start = start_of(angle)
    motion = Motion(parameters, start, tolerance=1e-14)
    motion.advance(period)
    motion.hold(Mode.SWING_B)
    return float(np.abs(motion.held[:4] - start[:4]).max())


CLOCKS = ("reset", "pure")


@dataclass(frozen=True)
class Repetition:
    """Results of n gaits; NaN from the gait on that never hung straight down.

    Args:
        error: of each gait, from the first start (n,).
        kinetic_energy: where the held link hangs straight down, at its end (n,) [J].
        height: of the hand that gripped, over the first one (n,) [m].
    """

    error: Array
    kinetic_energy: Array
    height: Array


def repeat(
    parameters: MonkeyBotParameters, rates: Array, torque: float, *, steps: int,
    sample: float = 0.001, clock: str = "reset", times: tuple[float, float] | None = None,
) -> Repetition:  # fmt: skip
    """Repeat the report's gait open-loop, by the times of its state-triggered evaluation.

    Args:
        parameters: of the robot.
        rates: at th1 = th2 = 0 (2,) [rad/s].
        torque: of the motor [N m].
        steps: number of gaits.
        sample: period of the controller, to which all times are rounded [s]; 0 rounds nothing.
        clock: `reset`: it starts again at the first sample at which the held link has passed the
            vertical; `pure`: it never does.
        times: until the hands change and of the motor [s], in place of those of the evaluation.

    Raises:
        AccordError: for a start that misses an event, or numbers that make no sense.
    """
    if steps < 1 or sample < 0 or clock not in CLOCKS:
        raise AccordError("steps must be positive, sample not negative, clock reset or pure")
    once = evaluate(horizontal(torque), parameters, rates, tolerance=FINE)
    if not np.isfinite(once.error[0]):
        raise AccordError(missed(rates))
    switch, motor = times or (float(once.switch_time[0]), float(once.motor_time[0]))
    period = float(once.times[0].sum())
    start = full_starts(rates)
    motion = Motion(parameters, start[0])
    error, kinetic, height = np.full((3, steps), np.nan)
    due = to_sample(switch, sample)
    for i in range(steps):
        motion.advance(due - motion.time)
        motion.hold(other_hand(motion.mode))
        height[i] = motion.held[5]
        driven = to_sample(motor, sample)
        motion.advance(driven, torque)
        latest = to_sample((i + 1) * period + switch, sample) if clock == "pure" else LIMIT + due
        if not motion.advance(latest - motion.time, until=VERTICAL):
            if clock == "reset":
                break
        else:
            error[i] = distance(start[:, :4], motion.held[None, :4])[0]
            kinetic[i] = motion.energies[0]
        due = (
            latest
            if clock == "pure"
            else next_sample(motion.time, sample) + to_sample(switch, sample)
        )
    return Repetition(error, kinetic, height)


def to_sample(time: float, sample: float) -> float:
    """Return a time rounded to a whole number of samples."""
    return round(time / sample) * sample if sample else time


def next_sample(time: float, sample: float) -> float:
    """Return the first sample at a time or after it."""
    return math.ceil(time / sample - 1e-9) * sample if sample else time
