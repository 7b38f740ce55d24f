"""`accord snake adapt`: what it is worth to notice a change of ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.progress import Progress
from rich.text import Text
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import ProgressObserver, make_table, progress
from roboaccord.cli.options import Changes, Engine, load_setup
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Controller
from roboaccord.contract.results import Quantity, Ratio, Seconds
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.factory import make_simulator
from roboaccord.run.versions import versions
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup

from snake.model.coordinates import PlanarSnake
from snake.search.adaptive import AdaptationEvent, AdaptiveController
from snake.search.confirm import run, steady_figures
from snake.search.ideal import Figures

LAST = 4.0  # s: of the run, over which the speed on the second ground is taken
GAIT = ("amplitude", "frequency", "waves")


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
    trajectory = run(setup, engine, (ProgressObserver(bar, label, duration),), controller)
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
