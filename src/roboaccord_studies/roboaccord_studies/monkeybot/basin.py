"""Basin of attraction of a gait by Monte Carlo."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
from monkeybot.gaits.landscape import Done
from monkeybot.gaits.orbits import Orbit
from monkeybot.model.events import VERTICAL
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import LEFT_OUT, AccordError, Array, Quantity

from roboaccord_studies.monkeybot.rollouts import BLOCK, Feedback, Walks, run_walks, walk


@dataclass(frozen=True)
class Draws:
    """Hold how many walks are drawn at random.

    Args:
        samples: number of walks.
        steps: changes of hands; what a cycle has too many is walked too.
        seed: of the random numbers.

    Raises:
        AccordError: for less than one walk or step.
    """

    samples: int
    steps: int
    seed: int = 0

    def __post_init__(self) -> None:
        for name, count in (("samples", self.samples), ("steps", self.steps)):
            if count < 1:
                raise AccordError(f"{name} is {count}, and must be 1 at least")


DRAWS = Draws(1000, 100)


@dataclass(frozen=True)
class Share:
    """Hold the share of walks that survive (`rollouts.Walks`).

    Args:
        survived: the share.
        low, high: its 95 % confidence interval, by Wilson.
    """

    survived: Annotated[float, Quantity("1", "share of the walks", form=".3f")]
    low: float
    high: float

    @property
    def interval(self) -> Annotated[str, Quantity("", "confidence, by Wilson", "95 %")]:
        """The confidence of the share."""
        return f"{self.low:.3f}-{self.high:.3f}"


@dataclass(frozen=True)
class Basin(Share):
    """Hold the share of disturbed starts that converge to the orbit.

    Args:
        height_sd: standard deviation of the survivors' height over the orbit's path at the end;
            None without survivors.
        starts: (th1, th2, w1, w2) (samples, 4).
        walks: their results.
    """

    height_sd: Annotated[
        float | None, Quantity("m", "off the orbit's, deviation", "height of survivors", ".3f")
    ]
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
    """Walk from starts that are normally distributed about an orbit's.

    The result does not depend on the number of cores.

    Args:
        orbit: the gait.
        parameters: of the robot.
        sd_angle: standard deviation of both angles [rad]; of th2 alone where a cycle begins with
            the held link at the vertical.
        sd_rate: of both rates [rad/s].
        draws: how many starts.
        feedback: on the times of the gait.
        done: called with the number of walks that a block has added.

    Raises:
        AccordError: for numbers that make no sense.
    """
    for name, sd in (("sd-angle", sd_angle), ("sd-rate", sd_rate)):
        if not (math.isfinite(sd) and sd >= 0):
            raise AccordError(f"{name} is {sd:g}, and must not be negative")
    deviation = np.array([sd_angle, sd_angle, sd_rate, sd_rate])
    if orbit.gait.phases[-1].until == VERTICAL:
        deviation[0] = 0.0
    noise = np.random.default_rng(np.random.SeedSequence(draws.seed)).standard_normal(
        (draws.samples, 4)
    )
    starts = orbit.start + deviation * noise
    parts = np.array_split(starts, -(-draws.samples // BLOCK))
    cycles = cycles_of(orbit, draws.steps)
    calls = ((orbit, parameters, part, cycles, feedback) for part in parts)
    walks = run_walks(walk, calls, done)
    cycles_walked, rise = walks.cycles[walks.survived], walks.displacement[walks.survived, 1]
    height = rise + orbit.drop * orbit.changes * cycles_walked
    share = share_of(walks.survived.tolist())
    spread = float(np.std(height)) if len(height) else None
    return Basin(share.survived, share.low, share.high, spread, starts, walks)


def share_of(survived: Sequence[bool]) -> Share:
    """Return the share of successes, and its 95 % confidence interval by Wilson.

    Wilson, Journal of the American Statistical Association 22, 1927: it holds even for
    a share of 0 or 1.
    """
    found = scipy.stats.binomtest(sum(survived), len(survived)).proportion_ci(0.95, method="wilson")
    return Share(sum(survived) / len(survived), float(found.low), float(found.high))


def cycles_of(orbit: Orbit, steps: int) -> int:
    """Return how many cycles have so many changes of hands at least."""
    return -(-steps // orbit.changes)
