"""`accord snake optimise`: find a gait for a ground, and confirm it in the simulators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.progress import Progress
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import ProgressObserver, make_table, progress
from roboaccord.cli.crosscheck import choose_engines
from roboaccord.cli.options import Seed
from roboaccord.contract.results import Hertz, MetresPerSecond, NewtonMetres, Ratio
from roboaccord.run.factory import make_simulator
from roboaccord.run.versions import versions
from roboaccord.scenario.setup import Setup

from snake.model.coordinates import friction_of
from snake.search.confirm import run, setup_of, steady_figures, window
from snake.search.ideal import Gait, IdealModel
from snake.search.optimise import DEFAULT_GAIT, Optimum, Task, optimise

COLUMNS = (
    "gait", "by", "A\n[rad]", "f\n[Hz]", "waves", "speed\n[m/s]", "effort\n[N m]", "cost", "gain"
)  # fmt: skip


class Objective(StrEnum):
    """Objectives of the optimisation."""

    speed = "speed"
    cost = "cost"


def optimise_command(
    mu_along: Annotated[Ratio, typer.Option(help="Friction along the body.")] = 0.1,
    mu_across: Annotated[Ratio, typer.Option(help="Friction across the body.")] = 1.0,
    objective: Annotated[
        Objective, typer.Option(help="Fastest gait, or least cost of transport.")
    ] = Objective.speed,
    max_effort: Annotated[
        NewtonMetres | None, typer.Option(help="Of any joint. Default: the robot's limit.")
    ] = None,
    joints: Annotated[int, typer.Option(help="Number of joints.")] = 21,
    max_frequency: Annotated[Hertz, typer.Option(help="Of the wave.")] = 3.0,
    min_speed: Annotated[
        MetresPerSecond | None,
        typer.Option(
            help="Least speed of a cheap gait. Default: half the default gait's. Without "
            "it the cheapest gait would be the slowest."
        ),
    ] = None,
    engines: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Where to confirm the result, separated by commas: reference, dart, mujoco. "
            "Default: reference, and dart where it is installed.",
        ),
    ] = "",
    seed: Seed = 0,
) -> Result:
    """Find the best serpenoid for a ground: amplitude, frequency and waves.

    Gaits are compared by the ideally tracked gait. The best one and the default one (0.4 rad,
    1 Hz, 1.5 waves) then run in full simulation. Speed is along the heading, so a gait that goes
    backwards has a negative one; a negative frequency runs the wave from the tail to the head.

    Examples:

      accord snake optimise --max-effort 3

      accord snake optimise --mu-along 0.5 --mu-across 1 --objective cost --min-speed 0.3 --json
    """
    setup_for = partial(setup_of, joints=joints, mu_along=mu_along, mu_across=mu_across)
    setup = setup_for(DEFAULT_GAIT)
    model = IdealModel(setup.parameters, *friction_of(setup))
    default = model.evaluate(DEFAULT_GAIT)
    task = Task(
        objective=objective.value,
        max_effort=float(setup.effort_limits.max()) if max_effort is None else max_effort,
        max_frequency=max_frequency,
        min_speed=0.5 * abs(default.speed) if min_speed is None else min_speed,
        seed=seed,
    )
    simulators = {name: make_simulator(setup, name) for name in chosen(engines)}
    with progress() as bar:
        search = bar.add_task("searching", total=None)
        found = optimise(
            model, task, lambda done, total: bar.update(search, completed=done, total=total)
        )
        confirmed: dict[str, Any] = {}
        for name in simulators:
            pair = {
                which: confirm(setup_for(gait), gait, name, bar)
                for which, gait in (("default", DEFAULT_GAIT), ("optimum", found.gait))
            }
            confirmed[name] = {**pair, "gain": gain(pair, task.objective)}
    data = {
        "objective": task.objective,
        "mu_along": mu_along,
        "mu_across": mu_across,
        "joints": joints,
        "max_effort": task.max_effort,
        "max_frequency": task.max_frequency,
        "min_speed": task.min_speed if task.objective == "cost" else None,
        "seed": seed,
        "evaluations": found.evaluations,
        "optimum": {**asdict(found.gait), **asdict(found.figures)},
        "default": {**asdict(DEFAULT_GAIT), **asdict(default)},
        "at_bounds": found.bounds,
        "gain": gain(
            {"default": asdict(default), "optimum": asdict(found.figures)}, task.objective
        ),
        "confirmed": confirmed,
        "versions": versions(setup, simulators.values()),
    }
    used = {name: data[name] for name in ("max_effort", "min_speed")}
    return Result(data, shown_of(data, found), used={**used, "engines": list(simulators)})


def chosen(engines: str) -> list[str]:
    """Return the engines asked for; without a list all but MuJoCo."""
    return [n for n in choose_engines(engines) if engines or n != "mujoco"]


def confirm(setup: Setup, gait: Gait, engine: str, bar: Progress) -> dict[str, float]:
    """Run a gait in an engine and return its figures: settled, and the peak effort of the start."""
    trajectory = run(setup, engine, (ProgressObserver(bar, engine, setup.scenario.duration),))
    figures = steady_figures(setup, trajectory, *window(gait))
    return {**asdict(figures), "peak_effort_start": float(abs(trajectory.effort).max())}


def gain(pair: Mapping[str, Mapping[str, float]], objective: str) -> float:
    """Return how much better the optimum is than the default [%]: faster, or cheaper."""
    if objective == "cost":
        return 100.0 * (
            1.0 - pair["optimum"]["cost_of_transport"] / pair["default"]["cost_of_transport"]
        )
    before = pair["default"]["speed"]
    return 100.0 * (pair["optimum"]["speed"] - before) / abs(before)


def shown_of(data: dict[str, Any], found: Optimum) -> list[RenderableType]:
    """Return the result for people."""
    table = make_table(*COLUMNS, words=["by"])
    for which in ("default", "optimum"):
        g = data[which]
        shape = (f"{g['amplitude']:.4g}", f"{g['frequency']:.4g}", f"{g['waves']:.4g}")
        share = data["gain"] if which == "optimum" else None
        table.add_row(which, "model", *shape, *_figures(g, share))
        for engine, pair in data["confirmed"].items():
            share = pair["gain"] if which == "optimum" else None
            table.add_row("", engine, "", "", "", *_figures(pair[which], share))
    explained = (
        "A, f, waves: amplitude, frequency and number of waves on the body; effort: peak of any "
        "joint; cost: of transport; gain: over the default gait; model: ideally tracked gait"
    )
    way = "from the head to the tail" if found.gait.frequency > 0 else "from the tail to the head"
    lines = [f"The wave runs {way}. {found.evaluations} gaits were evaluated."]
    lines += [f"The {name} is at its bound, {bound:.4g}." for name, bound in found.bounds.items()]
    if data["objective"] == "cost":
        lines.append(f"Speed was to be at least {data['min_speed']:.4g} m/s.")
    return [table, Text(explained), *lines]


def _figures(g: Mapping[str, float], share: float | None) -> tuple[str, ...]:
    return (
        f"{g['speed']:.4g}",
        f"{g['peak_effort']:.4g}",
        f"{g['cost_of_transport']:.4g}",
        "" if share is None else f"{share:+.0f} %",
    )
