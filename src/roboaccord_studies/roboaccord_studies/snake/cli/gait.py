"""Command `accord snake gait`: speed, effort and cost of transport of a gait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer
from rich.progress import Progress
from roboaccord.cli import Engine, ProgressObserver, Result, load_setup, progress, rendered, used_by
from roboaccord.contract import (
    Controller,
    Hertz,
    MetresPerSecond,
    NewtonMetres,
    Quantity,
    Radians,
    Ratio,
    Seconds,
    Trajectory,
    by_option,
    quantities,
)
from roboaccord.run import make_simulator, metrics_of, run_setup, versions_of
from roboaccord.scenario import Setup

from roboaccord_studies.snake.steady import (
    STEADY,
    is_steady,
    last_cycles,
    serpenoid_of,
    speed_and_cost_of_last,
)


class GaitName(StrEnum):
    """The gaits by name: the serpenoid, and the post's as its author coded and described it."""

    serpenoid = "serpenoid"
    as_coded = "as_coded"
    as_described = "as_described"


@by_option(
    "gait serpenoid", "amplitude frequency waves", "", "joints mu-along mu-across engine duration"
)
def gait_command(
    gait: Annotated[GaitName, typer.Option(help="Name of the gait.")] = GaitName.serpenoid,
    joints: Annotated[int, typer.Option(help="Number of joints.")] = 21,
    amplitude: Annotated[Radians, typer.Option(help="Amplitude of every joint.")] = 0.4,
    frequency: Annotated[Hertz, typer.Option(help="Frequency of the wave.")] = 1.0,
    waves: Annotated[Ratio, typer.Option(help="Number of waves on the body.")] = 1.5,
    mu_along: Annotated[Ratio, typer.Option(help="Friction coefficient along the body.")] = 0.1,
    mu_across: Annotated[Ratio, typer.Option(help="Friction coefficient across the body.")] = 1.0,
    engine: Engine = "reference",
    duration: Annotated[Seconds, typer.Option(help="Duration of the run.")] = 10.0,
) -> Result:
    """Measure a gait: speed, effort and cost of transport.

    Amplitude, frequency and waves are the serpenoid's. Speed and cost of transport are of the last
    half of all cycles, at least two, without the start; the other figures are of the whole run. A
    gait is steady when these cycles all have the same speed within 1 %; until then speed and cost
    depend on the duration. The motion of as_coded and as_described is sensitive: compare figures
    over seeds, with accord sweep, and not single runs.

    Examples:

      accord snake gait

      accord snake gait --gait as_coded

      accord snake gait --joints 20 --mu-along 0.5 --engine dart --json
    """
    serpenoid = gait is GaitName.serpenoid
    changes = [
        f"parameters.joints={joints}",
        serpenoid_of(amplitude, frequency, waves)
        if serpenoid
        else f"controller={{name: {gait.value}}}",
        f"friction.mu_along={mu_along!r}",
        f"friction.mu_across={mu_across!r}",
        f"duration={duration!r}",
    ]
    setup = load_setup("snake", "serpenoid", changes)
    found, remarks = gait_figures(setup, engine)
    used = used_by(setup, "control_period", "physics_step", "seed")
    return Result(found, [*rendered(found), *remarks], used=used)


@dataclass(frozen=True, kw_only=True)
class MeasuredGait:
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


def gait_figures(setup: Setup, engine: str) -> tuple[MeasuredGait, list[str]]:
    """Run a setup; return its figures, and a remark on whether the gait is steady."""
    with progress() as bar:
        trajectory = run_shown(setup, engine, bar)
    figures = metrics_of(setup, trajectory)
    speed, cost, travel = speed_and_cost_of_last(setup, trajectory)
    found = MeasuredGait(
        speed=speed,
        displacement=[figures["displacement_x"], figures["displacement_y"]],
        peak_effort=figures["peak_effort"],
        work=figures["work"],
        cost_of_transport=cost,
        steady=is_steady(travel),
        engine=engine,
        units={name: each.unit for name, each in quantities(MeasuredGait).items()},
        versions=versions_of(setup, [make_simulator(setup, engine)]),
    )
    if len(travel) < 2:
        return found, ["not yet steady: the run has less than two whole cycles after its start"]
    cycles = f"the last {len(last_cycles(travel))} cycles, of which speed and cost of transport are"
    steady, most = ("steady", "at most") if found.steady else ("not yet steady", "more than")
    return found, [f"{steady}: {cycles}, differ by {most} {100 * STEADY:g} %"]


def run_shown(
    setup: Setup, engine: str, bar: Progress, label: str = "", controller: Controller | None = None
) -> Trajectory:
    """Run a setup in an engine, and show on a bar how much of it is done."""
    watch = ProgressObserver(bar, label or engine, setup.scenario.duration)
    return run_setup(setup, make_simulator(setup, engine), (watch,), controller)
