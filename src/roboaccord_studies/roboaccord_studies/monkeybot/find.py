"""Command `accord monkeybot find`: search of gaits that repeat, from random starts.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. Starts are drawn near the pose in which the free hand is
behind the held one and level with it, or anywhere. From each start Newton's method runs with loose
tolerances. Starts that come near a root are refined (`orbits.find_orbit`), and equal gaits are
listed once. Blocks of starts are processed in parallel, and the result does not depend on the
number of cores.

TILT_SPREAD, RATE_RANGES, MAX_RATE and SAME_TOLERANCE may be tuned, but then a seed no longer gives
the gaits that docs/monkeybot_gaits.md prints. For the same reason the order of the draws in
`random_starts` stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.gait import wrap
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.cli import Result, Seed, counted, in_pieces, tables_of
from roboaccord.contract import INLINE, AccordError, Array, Quantity, Seconds
from roboaccord.run import run_pieces

from roboaccord_studies.monkeybot.kinds import Kind, gait_of
from roboaccord_studies.monkeybot.options import Controls, KindName, Rise, controls_of, kind_of
from roboaccord_studies.monkeybot.orbits import Closing, Orbit, find_orbit
from roboaccord_studies.monkeybot.symmetry import asymmetry

# tolerance of the integrator in the first search; REFINED_RESIDUAL needs no more
COARSE_TOLERANCE = 1e-8
# Step of the unknowns for derivatives, with that tolerance: errors of COARSE_TOLERANCE / 1e-5 =
# 1e-3 are below what a step is off.
DIFFERENCE_STEP = 1e-5
NEWTON_STEPS = 24  # largest number of Newton's steps; with LONGEST_STEP they cross 7 rad/s
# rad, rad/s, s and N m alike: longer steps of Newton's method are shortened: 17 degrees; longer
# ones leave the events of a gait.
LONGEST_STEP = 0.3
# rad, rad/s: largest residual of a start that is refined: Newton's digits double from there.
REFINED_RESIDUAL = 1e-3
# Two gaits whose starts and controls differ by less are one: 1000 times the
# residual of an orbit (orbits.MAX_RESIDUAL).
SAME_TOLERANCE = 1e-6
MIN_STRIDE = 1e-3  # m: a gait with a shorter stride does not walk, and is left out: 0.2 % of a link
# rad: spread of the free hand's direction about level, and ranges of w1 and w2 [rad/s], of starts
# near known gaits. Shipped gaits but the report's have directions within 1e-3 of level, and rates
# of 0 to 0.6.
TILT_SPREAD, RATE_RANGES = 0.3, ((-3.0, 4.0), (-4.0, 4.0))
# rad/s: largest rate of starts that are drawn anywhere: about that of the report's gait, 10.5.
MAX_RATE = 10.0
# Starts that one process searches at a time: few of the hundreds, so that all cores end together.
BLOCK = 10
# Columns of the two tables that are printed.
FIGURES = ("orbit.spectral_radius", "orbit.settings", "orbit.stride", "orbit.drop")
STATES = ("orbit.start", "orbit.work", "asymmetry", "straight")

Done = Callable[[int], None]  # called with the number of starts that were searched


def find_gaits(
    kind: Kind,
    parameters: MonkeyBotParameters,
    controls: Mapping[str, float],
    *,
    samples: int,
    seed: int = 0,
    rise: float = 0.0,
    anywhere: bool = False,
    done: Done | None = None,
) -> list[Orbit]:
    """Find gaits of a kind from random starts; the most stable one is first.

    The result depends on the seed, and not on the number of cores.

    Args:
        kind: of the gaits.
        parameters: of the robot.
        controls: all controls of the kind; those that are solved for start at 0.5 to 1.5 times the
            given value.
        samples: number of random starts.
        seed: of the random numbers.
        rise: wanted rise of a cycle [m], if the kind has a control to meet it.
        anywhere: whether starts are drawn anywhere, instead of near known gaits.
        done: called after each block with its number of starts.

    Raises:
        AccordError: for a control that is missing or unknown.
    """
    gait_of(kind, controls)
    guesses = random_starts(kind, controls, samples, seed, anywhere=anywhere)
    blocks = np.array_split(guesses, math.ceil(samples / BLOCK))
    distinct: list[Orbit] = []
    closing = Closing(kind, parameters, controls, rise, COARSE_TOLERANCE)
    calls = ((closing, block) for block in blocks)
    for orbits in run_pieces(_search_block, calls, done=lambda _: done(BLOCK) if done else None):
        for orbit in orbits:
            if not any(is_same_orbit(orbit, other) for other in distinct):
                distinct.append(orbit)
    return sorted(distinct, key=lambda orbit: (orbit.spectral_radius, *orbit.start))


def random_starts(
    kind: Kind, controls: Mapping[str, float], samples: int, seed: int, *, anywhere: bool = False
) -> Array:
    """Return random starts and controls to solve for (samples, 4 + solved).

    The free hand is behind the held one and about level with it: th1 + th2 / 2 is near -pi / 2.

    Args:
        kind: of the gaits.
        controls: all controls of the kind.
        samples: number of starts.
        seed: of the random numbers.
        anywhere: draw th1 from the full circle and rates up to `MAX_RATE`, instead of near known
            gaits.
    """
    rng = np.random.default_rng(seed)
    low, high = (-math.pi, math.pi) if anywhere else (-0.5 * math.pi, 0.0)
    th1 = rng.uniform(low, high, samples)
    th2 = -math.pi - 2.0 * th1 + rng.uniform(-TILT_SPREAD, TILT_SPREAD, samples)
    ranges = ((-MAX_RATE, MAX_RATE),) * 2 if anywhere else RATE_RANGES
    rates = [rng.uniform(low, high, samples) for low, high in ranges]
    solved = [controls[name] * rng.uniform(0.5, 1.5, samples) for name in kind.solved]
    return np.column_stack([th1, th2, *rates, *solved])


def is_same_orbit(a: Orbit, b: Orbit) -> bool:
    """Return whether two orbits are the same, to within SAME_TOLERANCE."""
    difference = a.start - b.start
    difference[:2] = wrap(difference[:2])
    numbers = [a.controls[name] - b.controls[name] for name in a.controls]
    return bool(np.abs([*difference, *numbers]).max() < SAME_TOLERANCE)


def _search_block(closing: Closing, guesses: Array) -> list[Orbit]:
    """Return the orbits to which guesses lead.

    Args:
        closing: conditions for the gait to repeat, with the loose tolerance of the first search.
        guesses: of the unknowns (k, 4 + solved).
    """
    orbits = []
    for guess in guesses:
        # Unknowns z (4 + solved,) of each step of Newton's method, up to the first near a root.
        path = closing.newton(guess, DIFFERENCE_STEP, longest=LONGEST_STEP, steps=NEWTON_STEPS)
        near_root = (z for z, residual in path if np.linalg.norm(residual) < REFINED_RESIDUAL)
        z = next(near_root, None)
        if z is None:
            continue
        controls = closing.controls_at(z)
        try:
            orbit = find_orbit(closing.kind, closing.parameters, controls, z[:4], rise=closing.rise)
        except (AccordError, np.linalg.LinAlgError):
            continue
        if abs(orbit.stride) > MIN_STRIDE:
            orbits.append(orbit)
    return orbits


MIRROR = Quantity("rad", "how far a swing is from its mirror image in time", "", ".2g")
STRAIGHT = Quantity("rad", "how near it comes to hanging straight", "", ".2g")


@dataclass(frozen=True)
class RatedGait:
    """A gait with two measures of its symmetry (symmetry.py); None where it has none."""

    orbit: Orbit = field(metadata=INLINE)
    asymmetry: Annotated[float | None, MIRROR] = None
    straight: Annotated[float | None, STRAIGHT] = None


@dataclass(frozen=True)
class Search:
    """The gaits that were found, and the settings of the search."""

    kind: str
    samples: int
    seed: int
    gaits: list[RatedGait]


ANYWHERE = typer.Option(
    "--anywhere",
    help="Start with the elbow on either side and rates up to 10 rad/s, to find also gaits that do "
    "not pass through the vertical.",
)


@in_pieces()
def find_command(
    kind: KindName = "clocked",
    period: Annotated[Seconds | None, typer.Option(help="Short for --at period=VALUE.")] = None,
    controls: Controls = None,
    rise: Rise = 0.0,
    samples: Annotated[int, typer.Option(min=1, help="Random starts.")] = 1000,
    seed: Seed = 0,
    anywhere: Annotated[bool, ANYWHERE] = False,
    changes: Changes = None,
) -> Result:
    """Find gaits of a kind that repeat, by Newton's method from random starts.

    The same seed gives the same gaits. The most stable is first; a gait that walks to the left is
    the mirror image of one to the right. What a kind solves for (usually the torque) starts from
    0.5 to 1.5 times the given value.

    Examples:

      accord monkeybot find --kind clocked --period 0.935 --samples 1000 --seed 1

      accord monkeybot find --kind flying --at flight=0.012 --samples 500 --json

      accord monkeybot find --kind passive --at period=0.9 --anywhere
    """
    gait_kind = kind_of(kind)
    settings = [] if period is None else [f"period={period!r}"]
    values = controls_of(gait_kind, [*settings, *(controls or ())])
    parameters = robot_parameters(changes)
    with counted(samples, "random starts") as done:
        orbits = find_gaits(
            gait_kind,
            parameters,
            values,
            samples=samples,
            seed=seed,
            rise=rise,
            anywhere=anywhere,
            done=done,
        )
    rows = [RatedGait(orbit, *(asymmetry(orbit, parameters) or ())) for orbit in orbits]
    numbers = [str(number) for number, _ in enumerate(rows, 1)]
    tables = []
    for names in (FIGURES, STATES) if rows else ():
        tables += tables_of(rows, *names, labels=numbers)
    return Result(
        Search(kind, samples, seed, rows),
        [f"{len(orbits)} gaits from {samples} starts", *tables],
        used={"at": [f"{name}={value:g}" for name, value in values.items()], "period": None},
    )
