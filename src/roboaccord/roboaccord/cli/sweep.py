"""`accord sweep`: statistics of a scenario's figures over many seeds."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import COMPILING, command_line, make_table, progress
from roboaccord.cli.crosscheck import choose_engines
from roboaccord.cli.folder import results
from roboaccord.cli.gathering import quantity
from roboaccord.cli.options import (
    Changes,
    Faults,
    Force,
    Out,
    RobotName,
    ScenarioName,
    complete_engines,
    load_setup,
)
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.errors import AccordError
from roboaccord.report.sweep import render_sweep
from roboaccord.run.factory import make_simulator
from roboaccord.run.metrics import UNITS
from roboaccord.run.output import plain, write_text
from roboaccord.run.sweep import Cell, sweep
from roboaccord.run.versions import versions
from roboaccord.scenario.setup import Setup


@in_pieces(grows=("seeds", "engines", "physics_steps"))
def sweep_command(
    robot: RobotName,
    scenario: ScenarioName,
    seeds: Annotated[int, typer.Option(min=2, help="Number of runs: seeds 0, 1, ...")] = 20,
    engines: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Engines, separated by commas.",
            autocompletion=complete_engines,
        ),
    ] = "reference",
    physics_steps: Annotated[
        str,
        typer.Option(metavar="LIST", help="In s, separated by commas. Default: the scenario's."),
    ] = "",
    figure: Annotated[
        str, typer.Option(metavar="NAME", help="A figure that `accord run` prints.")
    ] = "speed",
    changes: Changes = None,
    faults: Faults = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Run a scenario from many seeds: mean, spread and confidence of a figure.

    What is random in the scenario depends on the seed: the start, with `initial.spread_q`. A run
    that diverges is counted and named, and has no part in the mean.

    Examples:

      accord sweep snake lateral_undulation --figure travel_per_cycle

      accord sweep snake lateral_undulation --engines reference,dart --physics-steps 0.001,0.0005

      accord sweep snake serpenoid --set initial.spread_q=0.01 --seeds 5 --json
    """
    setup = load_setup(robot, scenario, changes, faults)
    chosen = choose_engines(engines)
    steps = parse_steps(physics_steps)
    default = f"{setup.robot.name}_{setup.scenario.name}_sweep"
    with results(folder, default, force=force) as place, progress() as bar:
        jobs = len(chosen) * seeds * max(len(steps), 1)
        task = bar.add_task(COMPILING, total=jobs)
        cells = sweep(
            setup,
            figure=figure,
            engines=chosen,
            physics_steps=steps,
            seeds=seeds,
            done=lambda engine, step, seed: bar.update(
                task, advance=1, description=f"{engine} {1e3 * step:g} ms"
            ),
        )
        result = summarise(setup, figure, seeds, cells)
        report = write_result(result, place)
    failures = [pair for cell in result["cells"] for pair in cell["failures"].items()]
    steps = steps or [setup.scenario.physics_step]
    return Result(
        {**result, "report": str(report)},
        [
            *tables_of(result),
            *(f"seed {seed} has no value: {reason}" for seed, reason in failures),
            f"report: {report}",
        ],
        used={**used_by(setup, "duration", "control_period"), "physics_steps": steps},
    )


def parse_steps(text: str) -> list[float]:
    """Return the numbers of a list.

    Raises:
        AccordError: if one is no number above 0.
    """
    steps = [quantity(word) for word in text.split(",") if word.strip()]
    if not all(step > 0 for step in steps):
        raise AccordError(f"--physics-steps takes seconds with commas between, not {text!r}")
    return steps


def summarise(setup: Setup, figure: str, seeds: int, cells: list[Cell]) -> dict[str, Any]:
    """Return all that a sweep found, as plain data."""
    engines = dict.fromkeys(cell.engine for cell in cells)
    data = {
        "robot": setup.robot.name,
        "scenario": setup.scenario.name,
        "figure": figure,
        "unit": UNITS.get(figure, ""),
        "seeds": seeds,
        "cells": [cell_data(cell) for cell in cells],
        "scenario_data": setup.scenario.data(),
        "versions": versions(setup, [make_simulator(setup, engine) for engine in engines]),
        "command": command_line(),
    }
    result: dict[str, Any] = plain(data)
    return result


def cell_data(cell: Cell) -> dict[str, Any]:
    """Return a cell as plain data, seeds as text as JSON has them."""
    return {
        "engine": cell.engine,
        "physics_step": cell.physics_step,
        **asdict(cell.statistics),
        "values": {str(seed): value for seed, value in cell.values.items()},
        "failures": {str(seed): reason for seed, reason in cell.failures.items()},
    }


def write_result(result: dict[str, Any], place: Path) -> Path:
    """Write summary.json and report.html, and return the latter."""
    write_text(place / "summary.json", json.dumps(result, indent=1))
    report = place / "report.html"
    write_text(report, render_sweep(result))
    return report


def tables_of(result: dict[str, Any]) -> list[RenderableType]:
    """Return the statistics as a table, and what its columns are."""
    unit = f" [{result['unit']}]" if result["unit"] else ""
    table = make_table(
        "engine", "step\nms", "runs", "mean", "standard\ndeviation", "95 % interval",
        "above\n0", "no\nvalue",
        title=f"{result['robot']} {result['scenario']}: {result['figure']}{unit}",
    )  # fmt: skip
    for cell in result["cells"]:
        mean, width = cell["mean"], cell["half_width"]
        spread = None in (mean, width)
        table.add_row(
            cell["engine"],
            f"{1e3 * cell['physics_step']:g}",
            str(cell["n"]),
            number(mean),
            number(cell["deviation"]),
            "–" if spread else f"{mean - width:.3g} to {mean + width:.3g}",
            "–" if cell["positive"] is None else f"{100 * cell['positive']:.0f} %",
            str(len(cell["failures"])),
        )
    explained = (
        "95 % interval: of the mean; above 0: share of the runs; no value: runs that diverged"
    )
    return [table, Text(explained)]


def number(value: float | None) -> str:
    """Return a number, or a dash for none."""
    return "–" if value is None else f"{value:.4g}"
