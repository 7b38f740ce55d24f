"""Command `accord monkeybot gait`: the report's gait, and the searches and repetitions of it.

A gait is one step of the robot from hand to hand, and the report is that of docs/monkeybot.md.
Without `--find` the command prints the error of one gait. With it, it searches: each value of
`--find` has a function below that returns the result. `OPTIONS` lists the options that each value
accepts, `STARTS` the default rates and torque.

A search is added as a value of Find, its options in OPTIONS, its start in STARTS and a function
beside `find_periodic`. The keys that `--json` prints are the fields of the classes here, and stay.
So do the report's rates in STARTS: 0.902 and 10.935 rad/s, which it prints as a minimum, and 1 and
12 rad/s, where its search began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from rich.text import Text
from roboaccord import cli
from roboaccord.contract import AccordError, Array, Modes, Quantity
from roboaccord.contract import results as si
from typer import Option

from monkeybot.cli.options import RATES, TORQUE, Changes, Tolerance, robot_parameters
from monkeybot.gaits.collisionless import find_collisionless
from monkeybot.gaits.gait import Figures, evaluate, horizontal
from monkeybot.gaits.multipliers import Multipliers, all_multipliers
from monkeybot.gaits.repetition import Repetition, repeat
from monkeybot.gaits.search import FINE, minimise, missed, refine
from monkeybot.model.parameters import MonkeyBotParameters


class Find(StrEnum):
    """What `--find` searches for."""

    minimum = "minimum"
    periodic = "periodic"
    collisionless = "collisionless"
    repetition = "repetition"


class Clock(StrEnum):
    """Clock of the open loop: free-running, or reset in every gait."""

    reset = "reset"
    pure = "pure"


MULTIPLIERS = Quantity("1", "by events, by a clock that each gait resets, by a clock", "", ".5f")
FIND_HELP = (
    "minimum: the rates of least error near a guess, by the method of Nelder and Mead; periodic: "
    "the gait that repeats exactly near a guess, and its multipliers; collisionless: a passive "
    "gait whose free hand comes to the line at rest; repetition: the gait repeated open-loop, by "
    "the times of one evaluation. Default: its error."
)
ANGLE_HELP = "Guess of the held link's angle, both hands level."
CLOCK_HELP = "reset: the clock restarts at the vertical; pure: it runs on."
SAMPLE_HELP = "Period of the controller, to which times are rounded; 0: not rounded."
Sample = Annotated[si.Seconds, Option(min=0.0, max=1.0, help=SAMPLE_HELP)]
EVALUATION = "without --find"
# Names of options that a call may have, separated by blanks as `Modes` takes them, by the value of
# --find; those of "" go with every value.
OPTIONS = {
    EVALUATION: "rates torque tolerance",
    "--find minimum": "rates torque tolerance",
    "--find periodic": "rates torque",
    "--find collisionless": "angle",
    "--find repetition": "rates torque steps sample clock",
    "": "find set",
}
# Default rates of th1 and th2 [rad/s], and torque [N m], by value of --find. At 2 N m events come
# when the report has them; a gait that repeats exactly is near (0.63, 11.21) at 10 N m.
STARTS = {
    None: ((0.902, 10.935), 2.0),
    Find.minimum: ((1.0, 12.0), 2.0),
    Find.periodic: ((0.63, 11.21), 10.0),
    Find.repetition: ((0.902, 10.935), 2.0),
}


@dataclass(frozen=True)
class Final:
    """State at the end of a gait, where th1 is 0."""

    th2: Annotated[float, Quantity("rad", form=".8f")]
    w1: Annotated[float, Quantity("rad/s", form=".8f")]
    w2: Annotated[float, Quantity("rad/s", form=".8f")]


@dataclass(frozen=True)
class GaitError:
    """Error of a gait, and the state at its end."""

    figures: Figures = field(metadata=si.INLINE)
    final: Final


@dataclass(frozen=True)
class Repeating:
    """A gait that repeats, and its multipliers for three ways of changing hands."""

    rates: Annotated[Array, Quantity("rad/s", form=".8f")]
    torque: si.NewtonMetres
    residual: Annotated[float, Quantity("rad, rad/s", form=".2g")]
    multipliers: Annotated[Mapping[str, Multipliers], MULTIPLIERS]


def _modes(values: Mapping[str, Any]) -> list[str]:
    """Return the key of OPTIONS for a call with these options."""
    return [f"--find {values['find']}" if values["find"] else EVALUATION]


@Modes(_modes, OPTIONS)
def gait_command(
    find: Annotated[Find | None, Option(help=FIND_HELP)] = None,
    rates: Annotated[tuple[float, float] | None, Quantity("rad/s"), RATES] = None,
    torque: Annotated[si.NewtonMetres | None, TORQUE] = None,
    tolerance: Tolerance = FINE,
    angle: Annotated[si.Radians, Option(help=ANGLE_HELP)] = 0.58,
    steps: Annotated[int, Option(min=1, help="Number of gaits.")] = 20,
    sample: Sample = 0.001,
    clock: Annotated[Clock, Option(help=CLOCK_HELP)] = Clock.reset,
    changes: Changes = None,
) -> cli.Result:
    """Evaluate the report's gait, or find gaits of its kind.

    The gait: swing up, change hands on the line, motor, coast to the vertical. Its error is
    th2^2 + (w1 - w1')^2 + (w2 - w2')^2 between start and end. A gait that repeats is stable if all
    its multipliers, the eigenvalues of its return map, are below 1.

    Rates and torque start at 0.902 and 10.935 rad/s and 2 N m; the search of a minimum at 1 and 12
    rad/s, that of a periodic gait at 0.63 and 11.21 rad/s and 10 N m.

    Examples:

      accord monkeybot gait --rates 0.902 10.935 --torque 2

      accord monkeybot gait --set parameters.inertia_a=0.05 --set parameters.inertia_b=0.05 --json

      accord monkeybot gait --find minimum --rates 1 12 --torque 2

      accord monkeybot gait --find periodic --rates 0.63 11.21 --torque 10

      accord monkeybot gait --find collisionless --angle 1.08 --json

      accord monkeybot gait --find repetition --rates 0.768 11.094 --clock pure --steps 20
    """
    parameters = robot_parameters(changes)
    if find is Find.collisionless:
        return cli.Result(find_collisionless(parameters, angle))
    default_rates, default_torque = STARTS[find]
    start = np.array(rates or default_rates)
    torque = default_torque if torque is None else torque
    used = {"rates": start.tolist(), "torque": torque}
    if find is Find.minimum:
        least = minimise(horizontal(torque), parameters, start, tolerance=tolerance)
        return cli.Result(least, used=used)
    if find is Find.periodic:
        return cli.Result(find_periodic(parameters, start, torque), used=used)
    if find is Find.repetition:
        repeated = repeat(parameters, start, torque, steps=steps, sample=sample, clock=clock.value)
        return cli.Result(repeated, lines_of(repeated), used)
    return cli.Result(evaluate_gait(parameters, start, torque, tolerance), used=used)


def evaluate_gait(
    parameters: MonkeyBotParameters, rates: Array, torque: float, tolerance: float
) -> GaitError:
    """Return the error of one gait.

    Raises:
        AccordError: for a start that misses an event.
    """
    evaluated = evaluate(horizontal(torque), parameters, rates, tolerance=tolerance)
    if not np.isfinite(evaluated.error[0]):
        raise AccordError(missed(rates))
    th2, w1, w2 = evaluated.final[0, 1:].tolist()
    return GaitError(evaluated.figures, Final(th2, w1, w2))


def find_periodic(parameters: MonkeyBotParameters, rates: Array, torque: float) -> Repeating:
    """Return the gait that repeats exactly near a guess, and whether it is stable."""
    gait = horizontal(torque)
    periodic = refine(gait, parameters, rates)
    multipliers = all_multipliers(gait, parameters, np.array([0.0, 0.0, *periodic.rates]))
    return Repeating(periodic.rates, torque, periodic.residual, multipliers)


def lines_of(repeated: Repetition) -> list[Any]:
    """Return the repetition of a gait (figures 5 to 8) as a table to print, and its explanation.

    A gait that never hangs straight down has no error; with a clock that it would have to reset,
    it is the last one.
    """
    table = cli.make_table("gait", "error", "kinetic energy [J]", "height [m]")
    rows = np.column_stack([repeated.error, repeated.kinetic_energy, repeated.height])
    for number, row in enumerate(rows, 1):
        table.add_row(str(number), *("-" if np.isnan(x) else f"{x:.4g}" for x in row))
    explained = "error: th2^2 + (w1 - w1')^2 + (w2 - w2')^2; -: it never hung straight down"
    return [table, Text(explained)]
