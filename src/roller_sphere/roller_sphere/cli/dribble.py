"""`accord roller-sphere dribble`: speeds and turn rates at which a carrier keeps its ball."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table
from roboaccord.cli.console import COMPILING, out, print_json, progress
from roboaccord.cli.gathering import numbers
from roboaccord.contract.errors import AccordError
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

from roller_sphere.cli.options import Json
from roller_sphere.dribbling.limits import largest_gain, largest_turn_rate
from roller_sphere.dribbling.map import Cell, coefficients, run_map

NAME = "roller_sphere"


def dribble_command(
    speeds: Annotated[
        str, typer.Option("--speeds", metavar='"V ..."', help="Of the carrier, in m/s.")
    ] = "0.5 1 1.5 2",
    turn_rates: Annotated[
        str, typer.Option("--turn-rates", metavar='"W ..."', help="In rad/s.")
    ] = "0 0.5 1 1.5 2",
    engine: Annotated[str, typer.Option(help="reference, dart or mujoco.")] = "dart",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a scenario key; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
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
    if not v or not w or min(v) <= 0:
        raise AccordError("--speeds and --turn-rates take numbers, and speeds are above 0")
    setup = Setup.of(load_scenario(NAME, NAME, "dribble", changes or ()))
    if setup.contact is None:
        raise AccordError("friction.law must be contact: the limits are those of its coefficients")
    mu, ground = coefficients(setup.contact)
    cells = []
    with progress(as_json) as bar:
        task = bar.add_task(COMPILING, total=len(v) * len(w))
        for cell in run_map(setup, engine, v, w):
            cells.append(cell)
            bar.update(task, advance=1, description="dribbling")
    limits = {
        "acceleration": largest_gain(setup.parameters, mu, ground),
        "braking": largest_gain(setup.parameters, mu, ground, -1.0),
        "turn_rate": {f"{s:g}": largest_turn_rate(setup.parameters, mu, ground, s) for s in v},
    }
    if as_json:
        print_json({"engine": engine, "limits": limits, "cells": [asdict(cell) for cell in cells]})
    else:
        show(cells, limits, engine)


def show(cells: list[Cell], limits: dict[str, Any], engine: str) -> None:
    """Print the map for people."""
    table = Table(
        "speed", "turn", "held", "off, mm", "grip", "slip 1", "slip 2", "model", "spin",
        "model", "share", title=f"dribbling in {engine}: m/s, rad/s", box=None,
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
    out.print(table)
    rates = ", ".join(f"{rate:.2f} rad/s at {v} m/s" for v, rate in limits["turn_rate"].items())
    out.print(
        f"by statics at most {rates};\nstraight on {limits['acceleration']:.2f} m/s^2 of gain and "
        f"{limits['braking']:.2f} of braking",
        highlight=False,
    )
