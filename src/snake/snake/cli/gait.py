"""`accord snake gait`: measure a gait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import ProgressObserver, make_table, progress
from roboaccord.cli.options import Engine, load_setup
from roboaccord.cli.rendering import heading_of, text_of
from roboaccord.contract.results import (
    Hertz,
    MetresPerSecond,
    NewtonMetres,
    Quantity,
    Radians,
    Ratio,
    Seconds,
    quantities,
)
from roboaccord.run.factory import make_simulator
from roboaccord.run.metrics import metrics_of
from roboaccord.run.versions import versions
from roboaccord.scenario.setup import Setup

from snake.search.confirm import run
from snake.simulators.metrics import STEADY, body_motion, is_steady, travel_of_cycles


class Gait(StrEnum):
    """The gaits by name: the serpenoid, and the post's as its author coded and described it."""

    serpenoid = "serpenoid"
    as_coded = "as_coded"
    as_described = "as_described"


def gait_command(
    gait: Annotated[Gait, typer.Option(help="Gait.")] = Gait.serpenoid,
    joints: Annotated[int, typer.Option(help="Number of joints.")] = 21,
    amplitude: Annotated[Radians, typer.Option(help="Of every joint.")] = 0.4,
    frequency: Annotated[Hertz, typer.Option(help="Of the wave.")] = 1.0,
    waves: Annotated[Ratio, typer.Option(help="Waves on the body.")] = 1.5,
    mu_along: Annotated[Ratio, typer.Option(help="Friction along the body.")] = 0.1,
    mu_across: Annotated[Ratio, typer.Option(help="Friction across the body.")] = 1.0,
    engine: Engine = "reference",
    duration: Annotated[Seconds, typer.Option(help="Of the run.")] = 10.0,
) -> Result:
    """Measure a gait: speed, effort and cost of transport.

    Amplitude, frequency and waves are the serpenoid's. A gait is steady when the last two cycles of
    the run have the same speed within 1 %; until then the figures depend on the duration. The
    motion of as_coded and as_described is sensitive: compare figures over seeds, with accord sweep,
    and not single runs.

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
    setup = load_setup("snake", "serpenoid", changes)
    found, remarks = measure(setup, engine)
    table = make_table("figure", "value", "unit", words=["unit"])
    for name, quantity in quantities(GaitFigures).items():
        table.add_row(
            heading_of(name, quantity), text_of(getattr(found, name), quantity), quantity.unit
        )
    used = used_by(setup, "control_period", "physics_step", "seed")
    if gait is not Gait.serpenoid:
        used |= dict.fromkeys(("amplitude", "frequency", "waves"))
    return Result(found, [table, *remarks], used=used)


@dataclass(frozen=True, kw_only=True)
class GaitFigures:
    """Hold the figures of a gait, with the unit of each and the versions of the software."""

    speed: MetresPerSecond
    displacement: Annotated[list[float], Quantity("m")]
    peak_effort: NewtonMetres
    work: Annotated[float, Quantity("J")]
    cost_of_transport: Ratio
    steady: bool
    engine: str
    units: Mapping[str, str]
    versions: Mapping[str, str]


def measure(setup: Setup, engine: str) -> tuple[GaitFigures, list[str]]:
    """Run a setup; return its figures, and a remark if the gait is not steady."""
    with progress() as bar:
        trajectory = run(setup, engine, (ProgressObserver(bar, engine, setup.scenario.duration),))
    figures = metrics_of(setup, trajectory)
    travel = travel_of_cycles(setup, trajectory.time, *body_motion(setup, trajectory))
    found = GaitFigures(
        speed=figures["speed"],
        displacement=[figures["displacement_x"], figures["displacement_y"]],
        peak_effort=figures["peak_effort"],
        work=figures["work"],
        cost_of_transport=figures["cost_of_transport"],
        steady=is_steady(travel),
        engine=engine,
        units={name: each.unit for name, each in quantities(GaitFigures).items()},
        versions=versions(setup, [make_simulator(setup, engine)]),
    )
    if len(travel) < 2:
        return found, ["not yet steady: the run has less than two whole cycles after its start"]
    unsteady = f"not yet steady: the last two cycles differ by more than {100 * STEADY:g} %"
    return found, [] if found.steady else [unsteady]
