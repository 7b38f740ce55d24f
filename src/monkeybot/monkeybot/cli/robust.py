"""`accord monkeybot robust`: gaits by a clock that jitters, and with wrong numbers."""

from __future__ import annotations

import math
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, make_table, progress
from roboaccord.cli.options import Seed
from roboaccord.cli.pieces import in_pieces

from monkeybot.cli.options import Changes, GaitName, Samples, Steps, robot_parameters
from monkeybot.stability.basin import Draws
from monkeybot.stability.lqr import held_gait
from monkeybot.stability.robustness import Disturbance, Robustness, robustness

JITTERS = (0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3)  # s
TORQUE_ERRORS = (0.005, 0.01, 0.02, 0.05)
PARAMETER_ERRORS = (0.001, 0.002, 0.005, 0.01)


class Spread(StrEnum):
    """Distribution of the jitter."""

    uniform = "uniform"
    normal = "normal"


@in_pieces()
def robust_command(
    name: GaitName,
    jitter: Annotated[
        float | None,
        typer.Option(
            help="Of the time of every timed phase, in s: at most this, or its deviation."
        ),
    ] = None,
    torque_error: Annotated[
        float | None, typer.Option(help="At most this share of the torque, the same all the way.")
    ] = None,
    parameter_error: Annotated[
        float | None,
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
    parameters = robot_parameters(changes)
    asked = disturbances(jitter, torque_error, parameter_error, spread)
    orbit, feedback = held_gait(name, parameters)
    rows: list[tuple[Disturbance, Robustness]] = []
    with progress() as bar:
        task = bar.add_task(COMPILING, total=samples * len(asked))
        for each in asked:
            found = robustness(
                orbit, parameters, each, draws=Draws(samples, steps, seed), feedback=feedback,
                done=lambda count: bar.update(task, advance=count, description="walking"),
            )  # fmt: skip
            rows.append((each, found))
    data = {
        "gait": name,
        "samples": samples,
        "steps": steps,
        "seed": seed,
        "results": [{**asdict(each), **as_figures(found)} for each, found in rows],
    }
    return Result(data, shown_of(rows, f"{samples} walks of {steps} steps"))


def disturbances(
    jitter: float | None, torque: float | None, parameter: float | None, spread: str
) -> list[Disturbance]:
    """Return the disturbance that is asked for, or all there are to show."""
    if any(value is not None for value in (jitter, torque, parameter)):
        return [
            Disturbance(
                jitter=jitter or 0.0,
                torque_error=torque or 0.0,
                parameter_error=parameter or 0.0,
                spread=str(spread),
            )
        ]
    return [
        *(Disturbance(jitter=size, spread=str(spread)) for size in JITTERS),
        *(Disturbance(torque_error=size) for size in TORQUE_ERRORS),
        *(Disturbance(parameter_error=size) for size in PARAMETER_ERRORS),
    ]


def as_figures(found: Robustness) -> dict[str, Any]:
    """Return the figures, null for those that there are not."""
    names = ("survived", "low", "high", "steps_lost", "rise", "rise_sd")
    values = {name: getattr(found, name) for name in names}
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def shown_of(rows: list[tuple[Disturbance, Robustness]], title: str) -> list[RenderableType]:
    """Return a table, and what its columns are."""
    table = make_table(
        "disturbance", "survived", "95 %", "lost after\n[steps]", "rise\n[mm]", "height\n[m]",
        title=title,
    )  # fmt: skip
    for each, found in rows:
        table.add_row(
            text(each),
            f"{found.survived:.3f}",
            f"{found.low:.3f}-{found.high:.3f}",
            number(found.steps_lost, ".0f"),
            number(1e3 * found.rise + 0.0, ".3f"),
            number(found.rise_sd, ".3f"),
        )
    explained = (
        "survived: share of the walks, and its 95 % confidence; lost after: median of those that "
        "lost the gait; rise: of survivors over the orbit's way, the mean of a step; height: "
        "its standard deviation at the end"
    )
    return [table, Text(explained)]


def text(disturbance: Disturbance) -> str:
    """Return what is disturbed, to be read."""
    parts = {
        "jitter": (disturbance.jitter, 1e3, " ms"),
        "torque": (disturbance.torque_error, 1e2, " %"),
        "parameters": (disturbance.parameter_error, 1e2, " %"),
    }
    said = [f"{name} {unit * v:g}{of}" for name, (v, unit, of) in parts.items() if v]
    return ", ".join(said) or "none"


def number(value: float, form: str) -> str:
    """Return a number, or a dash where there is none."""
    return "-" if math.isnan(value) else f"{value:{form}}"
