"""`accord roller-sphere dribble`: speeds and turn rates at which a carrier keeps its ball."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import COMPILING, make_table, progress
from roboaccord.cli.gathering import numbers
from roboaccord.cli.options import Changes, Engine, load_setup
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity

from roller_sphere.dribbling.limits import largest_gain, largest_turn_rate
from roller_sphere.dribbling.map import Cell, coefficients, run_map


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

    Each run goes straight on and then into a turn that goes on. Shown are whether the ball is
    still held at the end, the share of friction that statics ask of the rollers in the turn (above
    1 nothing holds the ball), and of the last second the slips and the ball's spin beside those
    that the model gives for the same velocity of the ball; and roller 1's share of the slip, which
    is a half in the model.

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
    with progress() as bar:
        task = bar.add_task(COMPILING, total=len(v) * len(w))
        cells = run_map(
            setup, engine, v, w,
            lambda cell: bar.update(task, advance=1, description="dribbling"),
        )  # fmt: skip
    limits = {
        "acceleration": largest_gain(setup.parameters, mu, ground),
        "braking": largest_gain(setup.parameters, mu, ground, -1.0),
        "turn_rate": {f"{s:g}": largest_turn_rate(setup.parameters, mu, ground, s) for s in v},
    }
    data = {"engine": engine, "limits": limits, "cells": [asdict(cell) for cell in cells]}
    used = used_by(setup, "physics_step", "seed")
    return Result(data, shown_of(cells, limits, engine), used=used)


def shown_of(cells: list[Cell], limits: dict[str, Any], engine: str) -> list[RenderableType]:
    """Return the map for people."""
    table = make_table(
        "speed\nm/s", "turn\nrad/s", "held", "off\nmm", "grip\n1", "slip 1\nm/s", "slip 2\nm/s",
        "model\nm/s", "spin\nrad/s", "model\nrad/s", "share\n1", title=f"dribbling in {engine}",
    )  # fmt: skip
    for cell in cells:
        s = cell.slip
        row = [f"{s.slip[0]:.3f}", f"{s.slip[1]:.3f}", f"{s.model:.3f}", f"{s.spin:.2f}",
               f"{s.model_spin:.2f}", f"{s.share:.2f}"] if s else ["-"] * 6  # fmt: skip
        table.add_row(
            f"{cell.speed:g}", f"{cell.turn_rate:g}",
            "kept" if cell.kept else f"{cell.held:.2f} s",
            f"{1e3 * cell.largest_offset:.1f}", f"{cell.grip:.2f}", *row,
        )  # fmt: skip
    explained = (
        "held: how long the ball was; off: its largest distance from its place; grip: share of "
        "friction that statics ask, above 1 nothing holds; slip 1, 2: of the rollers, and the "
        "model's; spin: of the ball, and the model's; share: roller 1's of the slip, 0.5 in the "
        "model"
    )
    rates = ", ".join(f"{rate:.2f} rad/s at {v} m/s" for v, rate in limits["turn_rate"].items())
    by_statics = (
        f"by statics at most {rates}; straight on {limits['acceleration']:.2f} m/s^2 of gain and "
        f"{limits['braking']:.2f} of braking"
    )
    return [table, Text(explained), Text(by_statics)]
