"""`accord snake gait` and `adapt`: a gait measured, and one that is adapted to the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np
import typer
from rich.progress import Progress
from roboaccord.cli import (
    Changes,
    Engine,
    ProgressObserver,
    Result,
    load_setup,
    progress,
    rendered,
    used_by,
)
from roboaccord.contract import (
    AccordError,
    Controller,
    Hertz,
    MetresPerSecond,
    NewtonMetres,
    Quantity,
    Radians,
    Ratio,
    Seconds,
    Trajectory,
    quantities,
)
from roboaccord.run import make_simulator, metrics_of, run_setup, versions_of
from roboaccord.scenario import Setup, make_controller

from snake.model.coordinates import PlanarSnake
from snake.search.adaptive import AdaptationEvent, AdaptiveController
from snake.search.confirm import serpenoid_of, steady_figures
from snake.search.ideal import Figures
from snake.simulators.metrics import STEADY, is_steady, last_cycles, speed_and_cost_of_last

GAIT = ("amplitude", "frequency", "waves")
LAST = 4.0  # s: of a run over a change of ground, over which the speed on the second is taken


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

    Amplitude, frequency and waves are the serpenoid's. Speed and cost of transport are of the last
    half of all cycles, at least two, without the start; the other figures are of the whole run. A
    gait is steady when these cycles all have the same speed within 1 %; until then speed and cost
    depend on the duration. The motion of as_coded and as_described is sensitive: compare figures
    over seeds, with accord sweep, and not single runs.

    Examples:

      accord snake gait

      accord snake gait --joints 20 --mu-along 0.5 --engine dart --json
    """
    serpenoid = gait is Gait.serpenoid
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
    if not serpenoid:
        used |= dict.fromkeys(GAIT)
    return Result(found, [*rendered(found), *remarks], used=used)


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


def gait_figures(setup: Setup, engine: str) -> tuple[GaitFigures, list[str]]:
    """Run a setup; return its figures, and a remark on whether the gait is steady."""
    with progress() as bar:
        trajectory = run_shown(setup, engine, bar)
    figures = metrics_of(setup, trajectory)
    speed, cost, travel = speed_and_cost_of_last(setup, trajectory)
    found = GaitFigures(
        speed=speed,
        displacement=[figures["displacement_x"], figures["displacement_y"]],
        peak_effort=figures["peak_effort"],
        work=figures["work"],
        cost_of_transport=cost,
        steady=is_steady(travel),
        engine=engine,
        units={name: each.unit for name, each in quantities(GaitFigures).items()},
        versions=versions_of(setup, [make_simulator(setup, engine)]),
    )
    if len(travel) < 2:
        return found, ["not yet steady: the run has less than two whole cycles after its start"]
    cycles = f"the last {len(last_cycles(travel))} cycles, of which speed and cost of transport are"
    steady, most = ("steady", "at most") if found.steady else ("not yet steady", "more than")
    return found, [f"{steady}: {cycles}, differ by {most} {100 * STEADY:g} %"]


def adapt_command(
    mu_along: Annotated[Ratio, typer.Option(help="Of the second ground, along the body.")] = 0.5,
    mu_across: Annotated[Ratio, typer.Option(help="Of the second ground, across the body.")] = 1.0,
    engine: Engine = "reference",
    duration: Annotated[Seconds, typer.Option(min=8.0, help="Of the run.")] = 15.0,
    changes: Changes = None,
) -> Result:
    """Cross a change of ground with the adaptive controller, and with the same gait kept.

    The scenario is change_of_ground. Speed and cost of transport are of the last 4 s.

    Examples:

      accord snake adapt

      accord snake adapt --mu-along 0.3 --mu-across 0.5 --engine mujoco --json
    """
    ground = f"friction.beyond={{x: 3.0, mu_along: {mu_along!r}, mu_across: {mu_across!r}}}"
    given = [ground, f"duration={duration!r}", *(changes or [])]
    setup = load_setup("snake", "change_of_ground", given)
    if setup.scenario.controller.get("name") != "adaptive":
        raise AccordError("adapt is about the controller adaptive; use accord run for another one")
    if not setup.scenario.friction.get("beyond"):
        raise AccordError("adapt needs a second ground: friction.beyond is empty")
    kept = serpenoid_of(*(setup.scenario.controller[key] for key in GAIT))
    fixed = load_setup("snake", "change_of_ground", [*given, kept])
    controller = make_controller(setup)
    assert isinstance(controller, AdaptiveController)
    with progress() as bar:
        trajectory = run_shown(setup, engine, bar, "adaptive", controller)
        stayed = run_shown(fixed, engine, bar, "kept")
    reached, left = crossing(setup, trajectory)
    start = setup.scenario.duration - LAST
    found = Adaptation(
        engine=engine,
        mu_along=mu_along,
        mu_across=mu_across,
        head_crosses=reached,
        tail_crosses=left,
        findings=controller.findings,
        adaptive=steady_figures(setup, trajectory, start, LAST),
        kept=steady_figures(fixed, stayed, start, LAST),
        versions=versions_of(setup, [make_simulator(setup, engine)]),
    )
    return Result(found, used=used_by(setup, "duration", "physics_step", "seed"))


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """Hold what the controller noticed of a change of ground, and what that is worth."""

    engine: str
    mu_along: float
    mu_across: float
    head_crosses: Annotated[float | None, Quantity("s", "comes to the second ground")]
    tail_crosses: Annotated[float | None, Quantity("s")]
    findings: Sequence[AdaptationEvent]
    adaptive: Annotated[Figures, Quantity("", name=f"adaptive, last {LAST:g} s")]
    kept: Annotated[Figures, Quantity("", name=f"gait kept, last {LAST:g} s")]
    versions: Mapping[str, str]


def run_shown(
    setup: Setup, engine: str, bar: Progress, label: str = "", controller: Controller | None = None
) -> Trajectory:
    """Run a setup in an engine, and show on a bar how much of it is done."""
    watch = ProgressObserver(bar, label or engine, setup.scenario.duration)
    return run_setup(setup, make_simulator(setup, engine), (watch,), controller)


def crossing(setup: Setup, trajectory: Trajectory) -> tuple[float | None, float | None]:
    """Return when the head and when the tail first come to the second ground [s]."""
    line = float(setup.scenario.friction["beyond"]["x"])
    x = PlanarSnake(setup.parameters).middles(trajectory)[:, :, 0]
    there = (np.flatnonzero(end > line) for end in (x[:, -1], x[:, 0]))
    head, tail = (float(trajectory.time[found[0]]) if len(found) else None for found in there)
    return head, tail
