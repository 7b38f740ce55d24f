"""`accord crosscheck`: engines against the analytical reference."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from roboaccord.cli.console import COMPILING, log, out, print_json, progress
from roboaccord.cli.run import Changes, Json, RobotName, ScenarioName, load_setup
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.outcome import describe_verdict
from roboaccord.crosscheck.result import CrosscheckResult
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.engines import ENGINES, available
from roboaccord.report.tables import statistics_cells
from roboaccord.run.output import fresh
from roboaccord.scenario.perturbation import Perturbation, parse_perturbation

OUTCOMES = {
    "within": "[green]within[/]",
    "outside": "[red]outside[/]",
    "not_judged": "[yellow]not judged[/]",
    "excused": "[yellow]excused[/]",
}


def crosscheck_command(
    robot: RobotName,
    scenario: ScenarioName,
    engines: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Engines, separated by commas. Default: all that are installed, "
            "with a line for each that is not.",
        ),
    ] = "",
    refine: Annotated[
        int, typer.Option(min=1, max=6, help="Number of physics steps: dt, dt/2, dt/4, ...")
    ] = 3,
    changes: Changes = None,
    perturb: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENGINE:KIND[:WHERE]=VALUE",
            help="Falsify one engine, to see the check find it: its mass, inertia, axis, gravity, "
            "friction, gear, delay, ... at a link or joint, at all where none is named.",
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Default: under runs/.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check engines against the analytical reference at three levels.

    Accelerations at random states; one control period from every recorded state; whole
    trajectories at dt, dt/2, dt/4 with their order of convergence. A scenario that calls its
    motion chaotic is checked by medians over seeds instead. Each level of each engine is within,
    outside, not judged or excused. Exit status 1 if one is outside (fail) or not judged
    (undecided). With no engine there is no verdict, and the status is 0.

    Examples:

      accord crosscheck snake serpenoid

      accord crosscheck snake serpenoid --engines reference,dart --refine 4 --json

      accord crosscheck snake serpenoid --perturb dart:mass:base_link=1.01
    """
    setup = load_setup(robot, scenario, changes or [])
    chosen = choose_engines(engines, quiet=as_json)
    place = folder or fresh(Path("runs") / f"{setup.robot.name}_{setup.scenario.name}_crosscheck")
    with progress(as_json) as bar:
        task = bar.add_task(COMPILING, total=None)
        result = run_crosscheck(
            setup,
            chosen,
            refine=refine,
            out=place,
            perturbations=parse_perturbations(perturb or [], chosen),
            command=shlex.join(["accord", *sys.argv[1:]]),
            refused=None if engines else leave_out,
            started=lambda jobs: bar.update(task, total=jobs),
            done=lambda engine, dt: bar.update(task, advance=1, description=f"{engine} {dt:g} s"),
        )
    if as_json:
        print_json(result.to_json())
    else:
        print_result(result)
    if not result.acceptable:
        raise typer.Exit(1)


def choose_engines(names: str, *, quiet: bool) -> list[str]:
    """Return the engines named, or all that can be had, with a line for each that cannot."""
    if names:
        chosen = [name.strip() for name in names.split(",") if name.strip()]
        for name in chosen:
            if name not in ("reference", *ENGINES):
                raise AccordError(
                    f"unknown engine {name}{did_you_mean(name, ['reference', *ENGINES])}"
                )
        return chosen
    found = available()
    for reason in found.values():
        if reason.startswith("engine ") and not quiet:
            log.print(f"left out: {reason}", highlight=False)
    usable = [name for name, version in found.items() if not version.startswith("engine ")]
    return ["reference", *usable]


def leave_out(name: str, error: AccordError) -> None:
    """Say on stderr that an engine does not take the scenario."""
    reason = str(error).removeprefix(f"{name}: ")
    log.print(f"left out: {name}: {escape(reason)}", highlight=False, soft_wrap=True)


def parse_perturbations(texts: list[str], engines: list[str]) -> tuple[Perturbation, ...]:
    """Return the perturbations of `ENGINE:KIND[:WHERE]=VALUE` texts.

    Raises:
        AccordError: for one that cannot be read, or is of no engine of this check.
    """
    found = tuple(parse_perturbation(text) for text in texts)
    for item in found:
        if item.engine not in engines or item.engine == "reference":
            raise AccordError(f"--perturb {item}: {item.engine} is no engine of this check")
    return found


def print_result(result: CrosscheckResult) -> None:
    """Print the three levels as a table, and the verdict."""
    data = result.data
    table = statistics_table(data) if data["statistics"] else distance_table(data)
    out.print(table)
    versions = ", ".join(f"{engine} {data['versions'][engine]}" for engine in data["engines"])
    if not data["statistics"]:
        out.print("mm: largest distance of any link over the run", highlight=False)
    out.print(versions, highlight=False)
    if data["levels"]:
        out.print(outcome_table(data))
    colour = {"pass": "green", "fail": "red", None: "default"}.get(data["verdict"], "yellow")
    out.print(f"verdict: [{colour}]{describe_verdict(data)}[/]")
    for reason in [*data["reasons"], *data["remarks"]]:
        out.print(f"  {escape(reason)}")
    out.print(f"report: {result.report}", soft_wrap=True)


def outcome_table(data: dict[str, Any]) -> Table:
    """Return the outcome of each level, a row for each engine."""
    levels = data["levels"]
    table = Table(box=None, pad_edge=False)
    table.add_column("engine", no_wrap=True)
    for level in levels:
        table.add_column(level.replace("_", " "), no_wrap=True)
    for engine in data["engines"][1:]:
        cells = [levels[level][engine] for level in levels]
        table.add_row(engine, *(OUTCOMES[cell["outcome"]] for cell in cells))
    return table


def distance_table(data: dict[str, Any]) -> Table:
    """Return the three levels, a row for each engine."""
    runs = data["trajectory"]
    any_run = next(iter(runs.values()))
    title = f"{data['robot']} {data['scenario']}: distance from the reference by physics step"
    table = Table(title=title, title_justify="left")
    table.add_column("engine", no_wrap=True)
    for heading in ("accelerations\nrelative", "one step\nrms rad/s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for dt in any_run["dt"]:
        table.add_column(f"{1e3 * dt:g} ms\nmm", justify="right", no_wrap=True)
    table.add_column("order", justify="right", no_wrap=True)
    for engine, run in runs.items():
        table.add_row(*row_of(data, engine, run))
    return table


def statistics_table(data: dict[str, Any]) -> Table:
    """Return accelerations and the statistics over seeds, a row for each engine."""
    checks = data["statistics"]
    first = next(iter(checks.values()))
    unit = f" [{first['unit']}]" if first["unit"] else ""
    title = f"{data['robot']} {data['scenario']}: {first['figure']}{unit} over seeds"
    # Without a frame it fits a terminal of 80 columns.
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    table.add_column("engine", no_wrap=True)
    headings = ("accel.\nrel.", "mean", "median", "above\n0", "difference", "allowed\n+-")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for engine, check in checks.items():
        acceleration = data["acceleration"].get(engine, {}).get("max")
        first_cell = "" if acceleration is None else f"{acceleration:.1e}"
        mean, median, _, _, positive, difference, allowed = statistics_cells(check)
        mean = mean.split()[0]  # its interval is in the report: the table fits 80 columns
        table.add_row(engine, first_cell, mean, median, positive, difference, allowed)
    table.caption = "difference of medians, 95 % confidence; allowed: what twice the step does"
    table.caption_justify = "left"
    return table


def row_of(data: dict[str, Any], engine: str, run: dict[str, Any]) -> list[str]:
    """Return the cells of one engine's row."""
    acceleration = data["acceleration"].get(engine, {}).get("max")
    step = data["one_step"].get(engine, {}).get("rms")
    return [
        engine,
        "" if acceleration is None else f"{acceleration:.1e}",
        "" if step is None else f"{step:.1e}",
        *(f"{1e3 * error:.2g}" for error in run["error"]),
        "" if run["order"] is None else f"{run['order']:.2f}",
    ]
