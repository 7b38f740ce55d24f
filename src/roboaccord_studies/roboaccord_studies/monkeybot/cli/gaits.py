"""Commands `accord monkeybot gaits` and `stable`: the shipped gaits, and a gait for a given period.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. `gaits` refines each gait of config/gaits.yaml for the
robot's parameters and estimates its basin, the share of disturbed starts from which the robot keeps
walking. `stable` finds the clocked gait with a given period in which the robot keeps its height.

A gait is added in config/gaits.yaml of the MonkeyBot. SD_ANGLE, SD_RATE and STEPS are stated in the
help, and stay; so do the keys of `Shipped.to_json`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import typer
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.cli import Result, counted, in_pieces, lines_of, tables_of
from roboaccord.contract import Json, Quantity, Seconds, by_fields, to_json

from roboaccord_studies.monkeybot.basin import Basin, Draws, basin
from roboaccord_studies.monkeybot.level import clocked_gait
from roboaccord_studies.monkeybot.lqr import closed_loop_multipliers, gait_with_feedback
from roboaccord_studies.monkeybot.orbits import Orbit, shipped_data

# Standard deviations of the starts [rad, rad/s], and number of steps, for the basin: a tenth of
# what a walk may end with (rollouts.SURVIVAL_DISTANCE).
SD_ANGLE, SD_RATE, STEPS = 0.02, 0.1, 100
# Columns of the printed table: fields of Shipped.
MOTION = ("orbit.period", "orbit.stride", "orbit.drop", "orbit.work")
COLUMNS = ("name", *MOTION, "cost_of_transport", "orbit.spectral_radius", "survived")
SAMPLES = typer.Option(min=0, help="Walks of each gait to estimate its basin; 0: no basin.")


@in_pieces()
def gaits_command(samples: Annotated[int, SAMPLES] = 200, changes: Changes = None) -> Result:
    """List the gaits that are shipped, with their figures for this robot.

    The basin is the share of starts that walk 100 steps, normally distributed about the orbit with
    0.02 rad and 0.1 rad/s; accord monkeybot basin has its limits of confidence. The radius of
    report_lqr is that of the gait with its feedback.

    Examples:

      accord monkeybot gaits

      accord monkeybot gaits --set parameters.viscous_elbow=0.01
    """
    parameters, names = robot_parameters(changes), list(shipped_data())
    gaits = []
    with counted(len(names), "walking") as done:
        for name in names:
            gaits.append(shipped_figures(name, parameters, samples))
            done(1)
    descriptions = tables_of(gaits, "name", "description")
    return Result({"gaits": to_json(gaits)}, [*tables_of(gaits, *COLUMNS), "", *descriptions])


COST = Quantity("1", "of transport, work over weight and stride", "cost", ".3g")
SURVIVED = Quantity("1", "share of disturbed starts that walk 100 steps", "basin", ".0f", "%")


@dataclass(frozen=True)
class Shipped:
    """The figures of a shipped gait; its multipliers are those with its feedback."""

    name: Annotated[str, Quantity("", name="gait")]
    description: Annotated[str, Quantity("", name="what it is", form="text")]
    orbit: Orbit
    cost_of_transport: Annotated[float, COST]
    basin: Basin | None

    @property
    def survived(self) -> Annotated[float | None, SURVIVED]:
        """The share of starts that survive, None if no basin was estimated."""
        return self.basin.survived if self.basin else None

    def to_json(self) -> dict[str, Json]:
        """Return all figures by name."""
        figures = self.orbit.to_json()
        survival = dict[str, Json]()
        drop = figures.pop("drop")  # printed last
        if self.basin is not None:
            share = by_fields(self.basin)
            del share["height_sd"]
            draws = {"sd_angle": SD_ANGLE, "sd_rate": SD_RATE, "samples": len(self.basin.starts)}
            survival["basin"] = {**share, **draws, "steps": STEPS}
        about = {"name": self.name, "description": self.description, "kind": self.orbit.kind.name}
        cost = {"cost_of_transport": self.cost_of_transport, "drop": drop}
        return {**about, **figures, **cost, **survival}


def shipped_figures(name: str, parameters: MonkeyBotParameters, samples: int) -> Shipped:
    """Return the figures of a shipped gait."""
    p = parameters
    orbit, feedback = gait_with_feedback(name, p)
    survival = None
    if samples:
        draws = Draws(samples, STEPS)
        survival = basin(
            orbit, p, sd_angle=SD_ANGLE, sd_rate=SD_RATE, draws=draws, feedback=feedback
        )
    cost = orbit.cost_of_transport(p)
    description = shipped_data()[name]["description"]
    if feedback:
        orbit = replace(orbit, multipliers=closed_loop_multipliers(orbit, p))
    return Shipped(name, description, orbit, cost, survival)


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
    orbit = clocked_gait(robot_parameters(changes), period)
    figures = orbit.to_json()
    del figures["controls"]
    return Result({**orbit.controls, **figures}, lines_of(orbit))
