"""Walks of a gait: from starts beside its orbit, with disturbances, and what holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import typer
from roboaccord.cli import Result, Seed, counted, in_pieces
from roboaccord.contract import INLINE, Quantity, Radians, RadiansPerSecond, Ratio, Seconds

from monkeybot.cli.options import Changes, GaitName, Samples, Steps, robot_parameters
from monkeybot.gaits.kinds import shipped_gait
from monkeybot.stability.basin import Basin, Draws, basin
from monkeybot.stability.lqr import SAMPLE, held, held_gait
from monkeybot.stability.robustness import Disturbance, Robustness, robustness

SIZES = {  # of each disturbance, where none is asked for
    "jitter": (0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3),  # s
    "torque_error": (0.005, 0.01, 0.02, 0.05),
    "parameter_error": (0.001, 0.002, 0.005, 0.01),
}


class Spread(StrEnum):
    """Distribution of the jitter."""

    uniform = "uniform"
    normal = "normal"


@dataclass(frozen=True)
class Walked:
    """Hold what was asked, and the share of walks that survived."""

    gait: str
    sd_angle: Radians
    sd_rate: RadiansPerSecond
    draws: Draws = field(metadata=INLINE)
    found: Basin = field(metadata=INLINE)


@dataclass(frozen=True)
class Robust:
    """Hold what was asked, and what each disturbance came to."""

    gait: str
    draws: Draws = field(metadata=INLINE)
    results: Annotated[list[Robustness], Quantity("", "walks that survive")]


@in_pieces()
def basin_command(
    name: GaitName,
    sd_angle: Annotated[
        Radians, typer.Option("--sd-angle", help="Standard deviation of the angles.")
    ],
    sd_rate: Annotated[RadiansPerSecond, typer.Option("--sd-rate", help="Of the rates.")],
    samples: Samples = 1000,
    steps: Steps = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk from starts beside a gait's orbit, normally distributed, and tell how many survive.

    A walk has fallen out of its gait in the first cycle in which it misses an event, in which its
    elbow goes round, or which does not lead forwards. One that lasts survives if at its end it is
    within 0.2 rad and 1 rad/s of the orbit. The report's gait is held by its feedback on the time.

    Examples:

      accord monkeybot basin --gait clocked --sd-angle 0.02 --sd-rate 0.1 --samples 1000

      accord monkeybot basin --gait report_lqr --sd-angle 0.01 --sd-rate 0.05 --json
    """
    parameters, draws = robot_parameters(changes), Draws(samples, steps, seed)
    orbit, feedback = held_gait(name, parameters)
    with counted(samples, "walking") as done:
        found = basin(
            orbit, parameters, sd_angle=sd_angle, sd_rate=sd_rate, feedback=feedback, draws=draws,
            done=done,
        )  # fmt: skip
    return Result(Walked(name, sd_angle, sd_rate, draws, found))


@in_pieces()
def robust_command(
    name: GaitName,
    jitter: Annotated[
        Seconds | None,
        typer.Option(help="Of the time of every timed phase: at most this, or its deviation."),
    ] = None,
    torque_error: Annotated[
        Ratio | None, typer.Option(help="At most this share of the torque, the same all the way.")
    ] = None,
    parameter_error: Annotated[
        Ratio | None,
        typer.Option(help="At most this share of mass, inertia, length, centre of either link."),
    ] = None,
    spread: Annotated[Spread, typer.Option(help="Of the jitter.")] = Spread.uniform,
    steps: Steps = 500,
    samples: Samples = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk on a gait's orbit with disturbances, and tell how many walks survive.

    Without one it goes through a list of them, one at a time; those that are given act together.
    Times and torque stay those of the robot without errors. What survives is as in
    `accord monkeybot basin`: the robot still walks near its orbit; at which height is told beside.
    A gait that changes hands by its state has no times to jitter.

    Examples:

      accord monkeybot robust --gait clocked --jitter 0.0005 --steps 500

      accord monkeybot robust --gait report_lqr --torque-error 0.02 --parameter-error 0.001 --json

      accord monkeybot robust --gait flying
    """
    parameters, draws = robot_parameters(changes), Draws(samples, steps, seed)
    sizes = {"jitter": jitter, "torque_error": torque_error, "parameter_error": parameter_error}
    asked = disturbances(sizes, spread.value)
    orbit, feedback = held_gait(name, parameters)
    with counted(samples * len(asked), "walking") as done:
        rows = [
            robustness(orbit, parameters, each, draws=draws, feedback=feedback, done=done)
            for each in asked
        ]
    return Result(Robust(name, draws, rows))


def disturbances(asked: Mapping[str, float | None], spread: str) -> list[Disturbance]:
    """Return the disturbance that is asked for, or all there are to show."""
    given = {name: size for name, size in asked.items() if size is not None}
    if given:
        return [Disturbance(**given, spread=spread)]
    return [
        Disturbance(**{name: size}, spread=spread if name == "jitter" else Spread.uniform.value)
        for name, sizes in SIZES.items()
        for size in sizes
    ]


def lqr_command(
    name: Annotated[
        str, typer.Option("--gait", metavar="NAME", help="A gait of the report's kind.")
    ] = "report_lqr",
    sample: Annotated[
        Seconds,
        typer.Option(
            min=0.0, max=1.0, help="Period of the controller, to which times are rounded."
        ),
    ] = SAMPLE,
    changes: Changes = None,
) -> Result:
    """Find the feedback on the time of the change of hands that holds the report's gait.

    The change comes gain . (x - target) earlier, with x = (th2, w1, w2) where the held link hangs
    straight down. The numbers are those of the scenario `report_lqr`.

    Examples:

      accord monkeybot lqr

      accord monkeybot lqr --json
    """
    parameters = robot_parameters(changes)
    return Result(held(shipped_gait(name, parameters), parameters, sample))
