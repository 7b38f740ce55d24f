"""`accord snake gait`: measure a gait."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from roboaccord.cli.console import ProgressObserver, out, print_json, progress
from roboaccord.run.factory import make_simulator
from roboaccord.run.metrics import metrics_of
from roboaccord.run.versions import versions
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

from snake.search.confirm import run


class Gait(StrEnum):
    """The gaits by name: the serpenoid, and the post's as its author coded and described it."""

    serpenoid = "serpenoid"
    as_coded = "as_coded"
    as_described = "as_described"


def gait_command(
    gait: Annotated[Gait, typer.Option(help="Gait.")] = Gait.serpenoid,
    joints: Annotated[int, typer.Option(help="Number of joints.")] = 21,
    amplitude: Annotated[float, typer.Option(help="Of every joint, in rad.")] = 0.4,
    frequency: Annotated[float, typer.Option(help="In Hz.")] = 1.0,
    waves: Annotated[float, typer.Option(help="Waves on the body.")] = 1.5,
    mu_along: Annotated[float, typer.Option(help="Friction along the body.")] = 0.1,
    mu_across: Annotated[float, typer.Option(help="Friction across the body.")] = 1.0,
    engine: Annotated[str, typer.Option(help="reference, dart or mujoco.")] = "reference",
    duration: Annotated[float, typer.Option(help="In s.")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Measure a gait: speed, effort and cost of transport.

    Amplitude, frequency and waves are the serpenoid's. The motion of as_coded and as_described
    is sensitive: compare figures over seeds, with accord sweep, and not single runs.

    Examples:

      accord snake gait

      accord snake gait --joints 20 --mu-along 0.5 --engine dart --json
    """
    controller = f"name: {gait.value}"
    if gait is Gait.serpenoid:
        controller += f", amplitude: {amplitude!r}, frequency: {frequency!r}, waves: {waves!r}"
    changes = [
        f"parameters.joints={joints}",
        f"controller={{{controller}}}",
        f"friction.mu_along={mu_along!r}",
        f"friction.mu_across={mu_across!r}",
        f"duration={duration!r}",
    ]
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", changes))
    figures = measure(setup, engine, quiet=as_json)
    if as_json:
        used = versions(setup, [make_simulator(setup, engine)])
        print_json({**figures, "engine": engine, "units": UNITS, "versions": used})
        return
    table = Table("figure", "value", "unit")
    for name, unit in UNITS.items():
        value = figures[name]
        text = ", ".join(f"{v:.4g}" for v in (value if isinstance(value, list) else [value]))
        table.add_row(name.replace("_", " "), text, unit)
    out.print(table)


UNITS = {
    "speed": "m/s",
    "displacement": "m",
    "peak_effort": "N m",
    "work": "J",
    "cost_of_transport": "1",
}


def measure(setup: Setup, engine: str, *, quiet: bool) -> dict[str, Any]:
    """Run a setup, and return speed, displacement, peak effort, work and cost of transport."""
    with progress(quiet) as bar:
        trajectory = run(setup, engine, (ProgressObserver(bar, engine, setup.scenario.duration),))
    figures = metrics_of(setup, trajectory)
    return {
        "speed": figures["speed"],
        "displacement": [figures["displacement_x"], figures["displacement_y"]],
        "peak_effort": figures["peak_effort"],
        "work": figures["work"],
        "cost_of_transport": figures["cost_of_transport"],
    }
