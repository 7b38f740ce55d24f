"""Command `accord roller-sphere dribble`: where a ball is held, over speed and turn rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from roboaccord.cli import (
    Changes,
    Engine,
    Result,
    counted,
    in_pieces,
    lines_of,
    load_setup,
    numbers,
    tables_of,
    used_by,
)
from roboaccord.contract import AccordError, Quantity
from roboaccord.run import run_pieces

from roboaccord_studies.roller_sphere.dribble_map import Cell, coefficients, run_cell
from roboaccord_studies.roller_sphere.statics import largest_gain, largest_turn_rate

CELLS = (
    "speed", "turn_rate", "lasted", "largest_offset", "grip", "slip.slip", "slip.model",
    "slip.spin", "slip.model_spin", "slip.share",
)  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """Hold what statics allow: gain and loss of speed, and by speed the turn rate."""

    acceleration: Annotated[float, Quantity("m/s^2", "straight ahead, by statics", form=".2f")]
    braking: Annotated[float, Quantity("m/s^2", "likewise", form=".2f")]
    turn_rate: dict[str, float]

    @property
    def turning(self) -> Annotated[str, Quantity("rad/s", "by statics, at a speed in m/s")]:
        """The turn rates in words."""
        return ", ".join(f"{rate:.2f} at {speed}" for speed, rate in self.turn_rate.items())


@dataclass(frozen=True)
class Dribbling:
    """Hold the map of an engine, and the limits."""

    engine: str
    limits: Limits
    cells: list[Cell]


@in_pieces()
def dribble_command(
    speeds: Annotated[
        str, Quantity("m/s"), typer.Option("--speeds", metavar='"V ..."', help="Of the carrier.")
    ] = "0.5 1 1.5 2",
    turn_rates: Annotated[
        str,
        Quantity("rad/s"),
        typer.Option("--turn-rates", metavar='"W ..."', help="Of the carrier."),
    ] = "0 0.5 1 1.5 2",
    engine: Engine = "dart",
    changes: Changes = None,
) -> Result:
    """Dribble at every speed and turn rate, and compare with statics and with the model of slip.

    Each run goes straight ahead and then into a continuous turn. It shows whether the ball is still
    held at the end; the share of the available friction that statics demands of the rollers in the
    turn (above 1 nothing holds the ball); the slips and the ball's spin over the last second, next
    to those that the model gives for the same velocity of the ball; and roller 1's share of the
    slip, which is a half in the model.

    Examples:

      accord roller-sphere dribble

      accord roller-sphere dribble --engine mujoco --speeds "1 2" --turn-rates "0 1" --json

      accord roller-sphere dribble --set friction.mu=0.8 --set parameters.press_force=20
    """
    v, w = numbers(speeds, "--speeds"), numbers(turn_rates, "--turn-rates")
    if min(v) <= 0:
        raise AccordError("--speeds are above 0")
    setup = load_setup("roller_sphere", "dribble", changes)
    if setup.contact is None:
        raise AccordError("friction.law must be contact: the limits are those of its coefficients")
    mu, ground = coefficients(setup.contact)
    with counted(len(v) * len(w), "dribbling") as done:
        calls = [(setup.scenario.data(), engine, speed, rate) for speed in v for rate in w]
        cells = run_pieces(run_cell, calls, done=lambda cell: done(1))
    limits = Limits(
        largest_gain(setup.parameters, mu, ground),
        largest_gain(setup.parameters, mu, ground, -1.0),
        {f"{s:g}": largest_turn_rate(setup.parameters, mu, ground, s) for s in v},
    )
    shown = [*tables_of(cells, *CELLS, title=f"dribbling in {engine}"), *lines_of(limits)]
    used = used_by(setup, "physics_step", "seed")
    return Result(Dribbling(engine, limits, cells), shown, used=used)
