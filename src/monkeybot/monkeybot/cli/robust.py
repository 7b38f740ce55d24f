"""`accord monkeybot robust`: gaits by a clock that jitters, and with wrong numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, progress
from roboaccord.cli.options import Seed
from roboaccord.cli.pieces import in_pieces
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.results import INLINE, Quantity, Ratio, Seconds

from monkeybot.cli.options import Changes, GaitName, Samples, Steps, robot_parameters
from monkeybot.stability.basin import Draws
from monkeybot.stability.lqr import held_gait
from monkeybot.stability.robustness import Disturbance, robustness

JITTERS = (0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3)  # s
TORQUE_ERRORS = (0.005, 0.01, 0.02, 0.05)
COLUMNS = ("words", "survived", "interval", "steps_lost", "rise", "rise_sd")
PARAMETER_ERRORS = (0.001, 0.002, 0.005, 0.01)


class Spread(StrEnum):
    """Distribution of the jitter."""

    uniform = "uniform"
    normal = "normal"


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
    parameters = robot_parameters(changes)
    asked = disturbances(jitter, torque_error, parameter_error, spread)
    orbit, feedback = held_gait(name, parameters)
    rows = list[Row]()
    with progress() as bar:
        task = bar.add_task(COMPILING, total=samples * len(asked))
        for each in asked:
            found = robustness(
                orbit, parameters, each, draws=Draws(samples, steps, seed), feedback=feedback,
                done=lambda count: bar.update(task, advance=count, description="walking"),
            )  # fmt: skip
            rows.append(
                Row(
                    each, found.survived, found.low, found.high, found.steps_lost, found.rise,
                    found.rise_sd,
                )
            )  # fmt: skip
    table = tables_of(rows, *COLUMNS, title=f"{samples} walks of {steps} steps")
    return Result(Robust(name, samples, steps, seed, rows), table)


@dataclass(frozen=True)
class Row:
    """Hold a disturbance, and what walks with it came to."""

    disturbance: Disturbance = field(metadata=INLINE)
    survived: Annotated[
        float, Quantity("1", "share of the walks, and its 95 % confidence", form=".3f")
    ]
    low: Ratio
    high: Ratio
    steps_lost: Annotated[
        float, Quantity("steps", "median of those that lost the gait", "lost after", ".0f")
    ]
    rise: Annotated[
        float,
        Quantity("m", "of survivors over the orbit's path, mean of a step", "rise", ".3f", "mm"),
    ]
    rise_sd: Annotated[float, Quantity("m", "its standard deviation at the end", "height", ".3f")]

    @property
    def words(self) -> Annotated[str, Quantity("", name="disturbance")]:
        """What is disturbed."""
        d = self.disturbance
        parts = (("jitter", 1e3 * d.jitter, "ms"), ("torque", 1e2 * d.torque_error, "%"))
        found = [*parts, ("parameters", 1e2 * d.parameter_error, "%")]
        return (
            ", ".join(f"{name} {value:g} {unit}" for name, value, unit in found if value) or "none"
        )

    @property
    def interval(self) -> Annotated[str, Quantity("", name="95 %")]:
        """The confidence of the share."""
        return f"{self.low:.3f}-{self.high:.3f}"


@dataclass(frozen=True)
class Robust:
    """Hold what was asked, and a row of each disturbance."""

    gait: str
    samples: int
    steps: int
    seed: int
    results: list[Row]


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
