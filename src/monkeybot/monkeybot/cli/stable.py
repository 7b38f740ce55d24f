"""`accord monkeybot stable` and `gaits`: gaits that repeat, and whether disturbances fade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, progress
from roboaccord.cli.pieces import in_pieces
from roboaccord.cli.rendering import lines_of, tables_of
from roboaccord.contract.results import (
    IF_ANY,
    Quantity,
    Radians,
    RadiansPerSecond,
    Ratio,
    Seconds,
    to_json,
)
from roboaccord.contract.state import Array

from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.gait import Multipliers
from monkeybot.gaits.kinds import clocked_gait, shipped_data
from monkeybot.gaits.orbits import Orbit
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.basin import Draws, basin
from monkeybot.stability.lqr import held_gait, held_multipliers
from monkeybot.stability.rollouts import Feedback

SD_ANGLE, SD_RATE, STEPS = 0.02, 0.1, 100  # of the starts of the basin, rad, rad/s
COLUMNS = (
    "name", "period", "stride", "drop", "work", "cost_of_transport", "spectral_radius",
    "basin.survived",
)  # fmt: skip


def stable_command(
    period: Annotated[Seconds, typer.Option(help="From one change of hands to the next.")],
    changes: Changes = None,
) -> Result:
    """Find the horizontal gait of constant torque whose hands change by a clock.

    It is stable if its spectral radius, the size of its largest multiplier, is below 1.

    Examples:

      accord monkeybot stable --period 0.943

      accord monkeybot stable --period 0.93 --json
    """
    found = clocked_gait(robot_parameters(changes), period)
    stable = Stable(
        period=found.period,
        torque=found.controls["torque"],
        post_impact=found.start,
        multipliers=found.multipliers,
        spectral_radius=found.spectral_radius,
        stride=found.stride,
        work=found.work,
        drop=found.drop,
    )
    return Result(stable, lines_of(stable))


@dataclass(frozen=True, kw_only=True)
class Stable:
    """Hold the figures of a clocked gait; stride, work and drop are those of a step."""

    period: Annotated[float, Quantity("s", form=".6f")]
    torque: Annotated[float, Quantity("N m", form=".6f")]
    post_impact: Annotated[
        Array, Quantity("rad, rad/s", name="post-impact th1, th2, w1, w2", form=".5f")
    ]
    multipliers: Annotated[Multipliers, Quantity("1", form=".5f")]
    spectral_radius: float
    stride: Annotated[float, Quantity("m", form=".6f")]
    work: Annotated[float, Quantity("J", "of a step", form=".5f")]
    drop: Annotated[float, Quantity("m", "of a step", form=".2g")]

    @property
    def stability(self) -> Annotated[str, Quantity("", name="spectral radius")]:
        """The spectral radius, and whether disturbances fade."""
        fades = self.spectral_radius < 1.0
        return f"{self.spectral_radius:.5f} {'stable' if fades else 'unstable'}"


@in_pieces()
def gaits_command(
    samples: Annotated[
        int, typer.Option(min=0, help="Walks of each gait for its basin; 0 leaves it out.")
    ] = 200,
    changes: Changes = None,
) -> Result:
    """List the gaits that are shipped, with their figures for this robot.

    The basin is the share of starts that walk 100 steps, normally distributed about the orbit with
    0.02 rad and 0.1 rad/s; accord monkeybot basin has its limits of confidence. The radius of
    report_lqr is that of the gait with its feedback.

    Examples:

      accord monkeybot gaits

      accord monkeybot gaits --set viscous_elbow=0.01
    """
    parameters, names = robot_parameters(changes), list(shipped_data())
    found = []
    with progress() as bar:
        task = bar.add_task(COMPILING, total=len(names))
        for name in names:
            found.append(figures(name, parameters, samples))
            bar.update(task, advance=1, description=name)
    table = tables_of(found, *COLUMNS)
    what = tables_of(found, "name", "description")
    return Result({"gaits": to_json(found)}, [*table, "", *what])


@dataclass(frozen=True, kw_only=True)
class BasinFigures:
    """Hold the share of disturbed starts that walk on, its interval, and what was tried."""

    survived: Annotated[
        float,
        Quantity("1", "share of disturbed starts that walk 100 steps", "basin", ".0f", "%"),
    ]
    low: Ratio
    high: Ratio
    sd_angle: Radians = SD_ANGLE
    sd_rate: RadiansPerSecond = SD_RATE
    samples: int
    steps: int = STEPS


@dataclass(frozen=True, kw_only=True)
class GaitRow:
    """Hold what is to be said of a shipped gait."""

    name: Annotated[str, Quantity("", name="gait")]
    description: Annotated[str, Quantity("", name="what it is", form="text")]
    kind: str
    controls: Mapping[str, float]
    post_impact: Annotated[Array, Quantity("rad, rad/s")]
    period: Annotated[float, Quantity("s", form=".4f")]
    multipliers: Annotated[Multipliers, Quantity("1")]
    spectral_radius: Annotated[
        float, Quantity("1", "of the multipliers, stable below 1", "radius", ".4f")
    ]
    stride: Annotated[float, Quantity("m", "of a change of hands, as drop and work", form=".4f")]
    work: Annotated[float, Quantity("J")]
    cost_of_transport: Annotated[
        float, Quantity("1", "of transport, work over weight and stride", "cost", ".3g")
    ]
    drop: Annotated[float, Quantity("m", form=".2f", shown="mm")]
    basin: BasinFigures | None = field(default=None, metadata=IF_ANY)


def figures(name: str, parameters: MonkeyBotParameters, samples: int) -> GaitRow:
    """Return what is to be said of a shipped gait."""
    orbit, feedback = held_gait(name, parameters)
    values = held_multipliers(orbit, parameters) if feedback else orbit.multipliers
    return GaitRow(
        name=name,
        description=shipped_data()[name]["description"],
        kind=orbit.kind.name,
        controls=dict(orbit.controls),
        post_impact=orbit.start,
        period=orbit.period,
        multipliers=values,
        spectral_radius=float(np.abs(values).max()),
        stride=orbit.stride,
        work=orbit.work,
        cost_of_transport=orbit.cost_of_transport(parameters),
        drop=orbit.drop,
        basin=basin_of(orbit, parameters, samples, feedback) if samples else None,
    )


def basin_of(
    orbit: Orbit, parameters: MonkeyBotParameters, samples: int, feedback: Feedback | None
) -> BasinFigures:
    """Return the basin of a gait."""
    share = basin(
        orbit, parameters, sd_angle=SD_ANGLE, sd_rate=SD_RATE, draws=Draws(samples, STEPS),
        feedback=feedback,
    )  # fmt: skip
    return BasinFigures(survived=share.survived, low=share.low, high=share.high, samples=samples)
