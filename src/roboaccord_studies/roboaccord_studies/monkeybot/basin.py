"""Basin of attraction and robustness of a gait by Monte Carlo simulation.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. A walk is a gait repeated many times, and an orbit a
gait that repeats exactly (orbits.py). `basin` simulates walks from random starts near an orbit.
`robustness` simulates walks from the orbit itself with errors of the clock, the motor and the
robot's parameters. Both return the share of walks that survive (rollouts.py defines surviving) with
its confidence interval. The commands `accord monkeybot basin` and `robust` print them
(cli/basin.py). The random numbers do not depend on the number of cores.

The defaults DRAWS and LONG_DRAWS may be changed. DISTURBED and CENTRES define the order of the
random numbers, and with it all figures of `accord monkeybot robust`. The fields of `Basin`,
`Robustness` and `Disturbance` are keys of the JSON output. All of these stay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
from monkeybot.gaits.landscape import Done
from monkeybot.model.events import VERTICAL
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import INLINE, LEFT_OUT, AccordError, Array, Quantity

from roboaccord_studies.monkeybot.orbits import Orbit
from roboaccord_studies.monkeybot.rollouts import BLOCK_SIZE, Feedback, Walks, run_walks, walk


@dataclass(frozen=True)
class Draws:
    """How many walks are drawn at random.

    Args:
        samples: number of walks.
        steps: changes of hands in each walk, rounded up to whole cycles of the gait.
        seed: of the random numbers.
    """

    samples: int
    steps: int
    seed: int = 0


# Defaults of `basin` and `robustness`. Of 1000 walks a share has a standard error of 1.6 % at most,
# of 100 of 5 %; 500 steps show slow losses.
DRAWS, LONG_DRAWS = Draws(1000, 100), Draws(100, 500)
# How fields of `Basin` and `Robustness` are printed: unit, explanation, heading, format, and unit
# shown.
HEIGHT = Quantity("m", "off the orbit's, deviation", "height of survivors", ".3f")
STEPS_LOST = Quantity("steps", "median of those that lost the gait", "lost after", ".0f")
RISE = Quantity("m", "of survivors over the orbit's path, mean of a step", "rise", ".3f", "mm")
# Parameters with random errors, in the order of the random numbers; the centres follow.
DISTURBED = ("mass_a", "mass_b", "inertia_a", "inertia_b", "length_a", "length_b")
CENTRES = ("centre_a", "centre_b")


@dataclass(frozen=True)
class Share:
    """The share of walks that survive (`rollouts.Walks`).

    Args:
        survived: the share.
        low, high: its 95 % confidence interval, by Wilson.
    """

    survived: Annotated[float, Quantity("1", "share of the walks", form=".3f")]
    low: float
    high: float

    @property
    def interval(self) -> Annotated[str, Quantity("", "confidence, by Wilson", "95 %")]:
        """The confidence interval of the share, as text."""
        return f"{self.low:.3f}-{self.high:.3f}"


@dataclass(frozen=True)
class Basin(Share):
    """The share of disturbed starts that converge to the orbit.

    Args:
        height_sd: standard deviation of the survivors' height above the orbit's path at the end;
            None without survivors.
        starts: (th1, th2, w1, w2) of each walk (samples, 4).
        walks: results of the walks.
    """

    height_sd: Annotated[float | None, HEIGHT]
    starts: Array = field(metadata=LEFT_OUT)
    walks: Walks = field(metadata=LEFT_OUT)


def basin(
    orbit: Orbit,
    parameters: MonkeyBotParameters,
    *,
    sd_angle: float,
    sd_rate: float,
    draws: Draws = DRAWS,
    feedback: Feedback | None = None,
    done: Done | None = None,
) -> Basin:
    """Simulate walks from starts that are normally distributed about an orbit's start.

    The result does not depend on the number of cores.

    Args:
        orbit: the gait.
        parameters: of the robot.
        sd_angle: standard deviation of both angles [rad]; of th2 alone if a cycle begins when the
            held link hangs straight down.
        sd_rate: standard deviation of both rates [rad/s].
        draws: number and length of the walks, and the seed.
        feedback: on the times of the gait.
        done: called after each block with its number of walks.

    Raises:
        AccordError: for a standard deviation that is negative or not finite.
    """
    _check_sizes({"sd-angle": sd_angle, "sd-rate": sd_rate})
    deviation = np.array([sd_angle, sd_angle, sd_rate, sd_rate])
    if orbit.gait.phases[-1].until == VERTICAL:
        deviation[0] = 0.0
    rng = np.random.default_rng(np.random.SeedSequence(draws.seed))
    starts = orbit.start + deviation * rng.standard_normal((draws.samples, 4))
    blocks = np.array_split(starts, math.ceil(draws.samples / BLOCK_SIZE))
    cycles = cycles_of(orbit, draws.steps)
    calls = ((orbit, parameters, block, cycles, feedback) for block in blocks)
    walks = run_walks(walk, calls, done)
    heights = _heights_of_survivors(orbit, walks)
    share = share_of(walks.survived.tolist())
    height_sd = float(np.std(heights)) if len(heights) else None
    return Basin(share.survived, share.low, share.high, height_sd, starts, walks)


def _check_sizes(sizes: Mapping[str, float]) -> None:
    """Check that sizes of disturbances, by name, are finite and not negative.

    Raises:
        AccordError: that names the first one that is not.
    """
    for name, size in sizes.items():
        if not (math.isfinite(size) and size >= 0):
            raise AccordError(f"{name} is {size:g}, and must not be negative")


def _heights_of_survivors(orbit: Orbit, walks: Walks) -> Array:
    """Return how far survivors end above the path of an orbit, which may drop itself (k,) [m]."""
    steps = orbit.changes * walks.cycles
    return np.asarray((walks.displacement[:, 1] + orbit.drop * steps)[walks.survived])


def share_of(survived: Sequence[bool]) -> Share:
    """Return the share of successes, and its 95 % confidence interval by Wilson.

    Wilson, Journal of the American Statistical Association 22, 1927. Unlike the normal
    approximation it is valid for a share of 0 or 1 as well.
    """
    test = scipy.stats.binomtest(sum(survived), len(survived))
    interval = test.proportion_ci(0.95, method="wilson")
    return Share(sum(survived) / len(survived), float(interval.low), float(interval.high))


def cycles_of(orbit: Orbit, steps: int) -> int:
    """Return the smallest number of cycles with at least `steps` changes of hands."""
    return math.ceil(steps / orbit.changes)


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """Sizes of the random errors of a robot and its clock.

    Args:
        jitter: error of the duration of every timed phase, drawn for each phase [s]: the largest
            one if spread is uniform, the standard deviation if it is normal.
        torque_error: largest relative error of the motor's torque; drawn once for each walk,
            uniform.
        parameter_error: largest relative error of mass, inertia, length and centre of gravity of
            both links; drawn for each of the eight and each walk, uniform.
        spread: distribution of the jitter, uniform or normal.
    """

    jitter: float = 0.0
    torque_error: float = 0.0
    parameter_error: float = 0.0
    spread: str = "uniform"

    def __post_init__(self) -> None:
        names = ("jitter", "torque_error", "parameter_error")
        _check_sizes({name: getattr(self, name) for name in names})
        if self.parameter_error >= 1:
            raise AccordError("parameter_error is a share, and must be below 1")

    @property
    def words(self) -> Annotated[str, Quantity("", name="disturbance")]:
        """The disturbances that are not 0, as text."""
        sizes = (
            ("jitter", 1e3 * self.jitter, "ms"),
            ("torque", 1e2 * self.torque_error, "%"),
            ("parameters", 1e2 * self.parameter_error, "%"),
        )
        return ", ".join(f"{name} {size:g} {unit}" for name, size, unit in sizes if size) or "none"


@dataclass(frozen=True)
class Robustness:
    """The results of disturbed walks.

    Args:
        disturbance: sizes of the errors.
        share: share of walks that survive.
        steps_lost: changes of hands before a walk lost the gait, the median; NaN if none did.
        rise: mean rise of survivors over the orbit's path in a step; NaN without any.
        rise_sd: standard deviation of their rise at the end; NaN without any.
        walks: results of all walks.
    """

    disturbance: Disturbance = field(metadata=INLINE)
    share: Share = field(metadata=INLINE)
    steps_lost: Annotated[float, STEPS_LOST]
    rise: Annotated[float, RISE]
    rise_sd: Annotated[float, Quantity("m", "its standard deviation at the end", "height", ".3f")]
    walks: Walks = field(metadata=LEFT_OUT)


def robustness(
    orbit: Orbit,
    parameters: MonkeyBotParameters,
    disturbance: Disturbance,
    *,
    draws: Draws = LONG_DRAWS,
    feedback: Feedback | None = None,
    done: Done | None = None,
) -> Robustness:
    """Simulate walks from an orbit with random errors, from a random stream for each walk.

    The gait's times and torques are those of the robot without errors. The result does not depend
    on the number of cores.

    Args:
        orbit: the gait.
        parameters: of the robot, without errors.
        disturbance: sizes of the errors.
        draws: number and length of the walks, and the seed.
        feedback: on the times of the gait.
        done: called with 1 after each walk.
    """
    numbers = range(draws.samples)
    calls = ((orbit, parameters, disturbance, draws, feedback, number) for number in numbers)
    walks = run_walks(_disturbed_walk, calls, done)
    heights = _heights_of_survivors(orbit, walks)
    steps = orbit.changes * walks.cycles
    steps_lost, steps_survived = steps[~walks.survived], steps[walks.survived]
    return Robustness(
        disturbance,
        share_of(walks.survived.tolist()),
        steps_lost=float(np.median(steps_lost)) if len(steps_lost) else math.nan,
        rise=float(np.mean(heights / steps_survived)) if len(heights) else math.nan,
        rise_sd=float(np.std(heights)) if len(heights) else math.nan,
        walks=walks,
    )


def _disturbed_walk(
    orbit: Orbit,
    parameters: MonkeyBotParameters,
    disturbance: Disturbance,
    draws: Draws,
    feedback: Feedback | None,
    number: int,
) -> Walks:
    """Return one walk with errors, drawn from the random stream with the walk's number."""
    rng = np.random.default_rng(np.random.SeedSequence(draws.seed, spawn_key=(number,)))
    unit_errors = rng.uniform(-1.0, 1.0, 1 + len(DISTURBED) + len(CENTRES))
    cycles = cycles_of(orbit, draws.steps)
    shape = 1, cycles, len(orbit.gait.phases)
    is_uniform = disturbance.spread == "uniform"
    unit_jitter = rng.uniform(-1.0, 1.0, shape) if is_uniform else rng.standard_normal(shape)
    disturbed = with_errors(parameters, disturbance.parameter_error * unit_errors[1:])
    jitter = disturbance.jitter * unit_jitter
    factors = 1.0 + disturbance.torque_error * unit_errors[:1]
    start = orbit.start
    return walk(orbit, disturbed, start, cycles, feedback, jitter=jitter, factors=factors)


def with_errors(parameters: MonkeyBotParameters, errors: Array) -> MonkeyBotParameters:
    """Return parameters with relative errors of masses, inertias, lengths and centres (8,).

    The error of a centre of gravity is relative to its distance from the elbow.
    """
    values = {
        name: getattr(parameters, name) * (1.0 + float(error))
        for name, error in zip(DISTURBED, errors[: len(DISTURBED)], strict=True)
    }
    factor_a, factor_b = (1.0 + float(error) for error in errors[len(DISTURBED) :])
    from_elbow = parameters.length_a - parameters.centre_a
    values["centre_a"] = values["length_a"] - from_elbow * factor_a
    values["centre_b"] = parameters.centre_b * factor_b
    return parameters.replace(**values)
