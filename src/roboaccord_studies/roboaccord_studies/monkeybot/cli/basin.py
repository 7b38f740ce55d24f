"""Commands `accord monkeybot basin` and `robust`: the share of disturbed walks that survive.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. A walk is a gait repeated many times. `basin` draws
random starts near a gait, `robust` random errors of clock, motor and robot; both print the share of
walks that survive, with its confidence interval. The simulation is in ../basin.py, the definition
of surviving in ../rollouts.py.

The fields of `Walked` and `Robust` are keys of the JSON output, and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import typer
from monkeybot.cli.options import Changes, robot_parameters
from roboaccord.cli import Result, Seed, counted, in_pieces
from roboaccord.contract import INLINE, Quantity, Radians, RadiansPerSecond, Ratio, Seconds

from roboaccord_studies.monkeybot import basin as walking
from roboaccord_studies.monkeybot.basin import Basin, Disturbance, Draws, Robustness
from roboaccord_studies.monkeybot.lqr import gait_with_feedback
from roboaccord_studies.monkeybot.options import GaitName, Samples, Steps


@dataclass(frozen=True)
class Walked:
    """The settings of `basin_command`, and the share of walks that survived."""

    gait: str
    sd_angle: Radians
    sd_rate: RadiansPerSecond
    draws: Draws = field(metadata=INLINE)
    basin: Basin = field(metadata=INLINE)


SD_ANGLE = typer.Option("--sd-angle", help="Standard deviation of the initial angles.")
SD_RATE = typer.Option("--sd-rate", help="Standard deviation of the initial rates.")


@in_pieces()
def basin_command(
    name: GaitName,
    sd_angle: Annotated[Radians, SD_ANGLE],
    sd_rate: Annotated[RadiansPerSecond, SD_RATE],
    samples: Samples = 1000,
    steps: Steps = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk from starts beside a gait's orbit, normally distributed, and report how many survive.

    A walk leaves its gait in the first cycle in which it misses an event, its elbow makes a full
    turn, or it does not move forwards. One that never leaves it survives if it ends within 0.2 rad
    and 1 rad/s of the orbit. The report's gait is stabilised by its feedback on the time at which
    the hands change.

    Examples:

      accord monkeybot basin --gait clocked --sd-angle 0.02 --sd-rate 0.1 --samples 1000

      accord monkeybot basin --gait report_lqr --sd-angle 0.01 --sd-rate 0.05 --json
    """
    p, draws = robot_parameters(changes), Draws(samples, steps, seed)
    orbit, feedback = gait_with_feedback(name, p)
    with counted(samples, "walking") as done:
        basin = walking.basin(
            orbit, p, sd_angle=sd_angle, sd_rate=sd_rate, draws=draws, feedback=feedback, done=done
        )
    return Result(Walked(name, sd_angle, sd_rate, draws, basin))


# Sizes of the disturbances that are applied one at a time if no option names one: in steps of 2 to
# 2.5, as on a logarithmic scale.
SIZES = {
    "jitter": (0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3),  # s
    "torque_error": (0.005, 0.01, 0.02, 0.05),
    "parameter_error": (0.001, 0.002, 0.005, 0.01),
}


class Spread(StrEnum):
    """Distribution of the jitter."""

    uniform = "uniform"
    normal = "normal"


@dataclass(frozen=True)
class Robust:
    """The settings of `robust_command`, and the result of each disturbance."""

    gait: str
    draws: Draws = field(metadata=INLINE)
    results: Annotated[list[Robustness], Quantity("", "walks that survive")]


JITTER = typer.Option(
    help="Jitter of the time of every timed phase: its bound, or its standard deviation."
)
TORQUE_ERROR = typer.Option(help="Largest relative error of the torque, constant over the run.")
PARAMETER_ERROR = typer.Option(
    help="Largest relative error of mass, inertia, length and centre of either link."
)


@in_pieces()
def robust_command(
    name: GaitName,
    jitter: Annotated[Seconds | None, JITTER] = None,
    torque_error: Annotated[Ratio | None, TORQUE_ERROR] = None,
    parameter_error: Annotated[Ratio | None, PARAMETER_ERROR] = None,
    spread: Annotated[Spread, typer.Option(help="Distribution of the jitter.")] = Spread.uniform,
    steps: Steps = 500,
    samples: Samples = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk on a gait's orbit with disturbances, and report how many walks survive.

    Without any, it applies a list of disturbances, one at a time; those that are given act
    together. Times and torque stay those of the robot without errors. A walk survives as in
    `accord monkeybot basin`, if it is still near its orbit at the end; the height of the survivors
    is reported separately. A gait that changes hands by its state has no times to jitter.

    Examples:

      accord monkeybot robust --gait clocked --jitter 0.0005 --steps 500

      accord monkeybot robust --gait report_lqr --torque-error 0.02 --parameter-error 0.001 --json

      accord monkeybot robust --gait flying
    """
    parameters, draws = robot_parameters(changes), Draws(samples, steps, seed)
    sizes = {"jitter": jitter, "torque_error": torque_error, "parameter_error": parameter_error}
    to_apply = disturbances(sizes, spread.value)
    orbit, feedback = gait_with_feedback(name, parameters)
    with counted(samples * len(to_apply), "walking") as done:
        rows = [
            walking.robustness(
                orbit, parameters, disturbance, draws=draws, feedback=feedback, done=done
            )
            for disturbance in to_apply
        ]
    return Result(Robust(name, draws, rows))


def disturbances(sizes: Mapping[str, float | None], spread: str) -> list[Disturbance]:
    """Return one disturbance of the given sizes; if there are none, all of SIZES one at a time."""
    given = {name: size for name, size in sizes.items() if size is not None}
    if given:
        return [Disturbance(**given, spread=spread)]
    one_by_one = list[Disturbance]()
    for name, defaults in SIZES.items():
        spread_of_kind = spread if name == "jitter" else Spread.uniform.value
        one_by_one += [Disturbance(**{name: size}, spread=spread_of_kind) for size in defaults]
    return one_by_one
