"""`accord snake gait` and `adapt`: a gait measured, and one that is adapted to the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.progress import Progress
from rich.text import Text
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import ProgressObserver, make_table, progress
from roboaccord.cli.options import Changes, Engine, load_setup
from roboaccord.cli.rendering import heading_of, text_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Controller
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
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.factory import make_simulator, run_setup
from roboaccord.run.metrics import metrics_of
from roboaccord.run.versions import versions
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup

from snake.model.coordinates import PlanarSnake
from snake.search.adaptive import AdaptationEvent, AdaptiveController
from snake.search.confirm import steady_figures
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
    found, remarks = gait_figures(setup, engine)
    table = make_table("figure", "value", "unit", words=["unit"])
    for name, quantity in quantities(GaitFigures).items():
        table.add_row(
            heading_of(name, quantity), text_of(getattr(found, name), quantity), quantity.unit
        )
    used = used_by(setup, "control_period", "physics_step", "seed")
    if gait is not Gait.serpenoid:
        used |= dict.fromkeys(GAIT)
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


def gait_figures(setup: Setup, engine: str) -> tuple[GaitFigures, list[str]]:
    """Run a setup; return its figures, and a remark on whether the gait is steady."""
    simulator = make_simulator(setup, engine)
    with progress() as bar:
        watch = ProgressObserver(bar, engine, setup.scenario.duration)
        trajectory = run_setup(setup, simulator, (watch,))
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
        versions=versions(setup, [simulator]),
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
    kept = ", ".join(f"{key}: {setup.scenario.controller[key]!r}" for key in GAIT)
    as_before = f"controller={{name: serpenoid, {kept}}}"
    fixed = load_setup("snake", "change_of_ground", [*given, as_before])
    controller = make_controller(setup)
    assert isinstance(controller, AdaptiveController)
    with progress() as bar:
        figures, trajectory = measure(setup, controller, engine, bar, "adaptive")
        figures_kept, _ = measure(fixed, make_controller(fixed), engine, bar, "kept")
    reached, left = crossing(setup, trajectory)
    found = Adaptation(
        engine=engine,
        mu_along=mu_along,
        mu_across=mu_across,
        head_crosses=reached,
        tail_crosses=left,
        findings=controller.findings,
        adaptive=figures,
        kept=figures_kept,
        versions=versions(setup, [make_simulator(setup, engine)]),
    )
    return Result(found, shown_of(found), used=used_by(setup, "duration", "physics_step", "seed"))


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """Hold what the controller noticed of a change of ground, and what that is worth."""

    engine: str
    mu_along: Ratio
    mu_across: Ratio
    head_crosses: Annotated[float | None, Quantity("s")]
    tail_crosses: Annotated[float | None, Quantity("s")]
    findings: Sequence[AdaptationEvent]
    adaptive: Figures
    kept: Figures
    versions: Mapping[str, str]


def measure(
    setup: Setup, controller: Controller, engine: str, bar: Progress, label: str
) -> tuple[Figures, Trajectory]:
    """Run a setup; return the figures of its end, and the motion."""
    duration = setup.scenario.duration
    watch = ProgressObserver(bar, label, duration)
    trajectory = run_setup(setup, make_simulator(setup, engine), (watch,), controller)
    return steady_figures(setup, trajectory, duration - LAST, LAST), trajectory


def crossing(setup: Setup, trajectory: Trajectory) -> tuple[float | None, float | None]:
    """Return when the head and when the tail first come to the second ground [s]."""
    p, line = setup.parameters, float(setup.scenario.friction["beyond"]["x"])
    chain = PlanarSnake(p)
    n, (a, b) = p.links, chain.body[:2]
    found: list[float | None] = []
    y = np.array([chain.pack(trajectory.state(i)) for i in range(len(trajectory))])
    cosines = np.cos(y[:, 2 : n + 2])
    tail = trajectory.position[:, 0]
    for x in (tail + (a * cosines[:, :-1] + b * cosines[:, 1:]).sum(axis=1), tail):
        there = np.flatnonzero(x > line)
        found.append(float(trajectory.time[there[0]]) if len(there) else None)
    return found[0], found[1]


def shown_of(found: Adaptation) -> list[RenderableType]:
    """Return the result for people."""
    names = ("time\n[s]", "what", "mu\nalong", "mu\nacross", "amplitude\n[rad]")
    events = make_table(*names, "frequency\n[Hz]", "waves", words=["what"])
    crossings = (("head crosses", found.head_crosses), ("tail crosses", found.tail_crosses))
    rows = [(time, [what]) for what, time in crossings if time is not None]
    for f in found.findings:
        shape = (f"{value:.4g}" for value in (f.gait.amplitude, f.gait.frequency, f.gait.waves))
        rows.append((f.time, [f.kind, *(f"{mu:.3g}" for mu in f.mu), *shape]))
    for time, cells in sorted(rows):
        events.add_row(f"{time:.2f}", *cells)
    table = make_table("gait", "speed\n[m/s]", "peak effort\n[N m]", "cost of\ntransport")
    for which, g in (("kept", found.kept), ("adaptive", found.adaptive)):
        values = (g.speed, g.peak_effort, g.cost_of_transport)
        table.add_row(which, *(f"{v:.3g}" for v in values))
    explained = f"kept, adaptive: over the last {LAST:g} s, on the second ground"
    return [events, "", table, Text(explained)]
