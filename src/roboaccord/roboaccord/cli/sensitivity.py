"""`accord sensitivity`: the smallest error of an engine that the cross-check detects."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from roboaccord.cli.console import out, print_json, progress
from roboaccord.cli.crosscheck import choose_engines
from roboaccord.cli.run import Changes, Json, RobotName, ScenarioName, load_setup
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.crosscheck.sensitivity import Sensitivity, find_smallest, places
from roboaccord.numerics.parallel import cores, in_processes
from roboaccord.run.output import make_folder, write_text
from roboaccord.run.versions import versions
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.perturbation import KINDS
from roboaccord.scenario.setup import Setup

FILE = "sensitivity.json"


def sensitivity_command(
    robot: RobotName,
    scenario: ScenarioName,
    engines: Annotated[
        str, typer.Option(metavar="LIST", help="Engines, separated by commas. Default: all.")
    ] = "",
    kinds: Annotated[
        str, typer.Option(metavar="LIST", help="Kinds of error, separated by commas. Default: all.")
    ] = "",
    duration: Annotated[
        float, typer.Option(min=1e-3, help="Length of the runs of levels 2 and 3 [s].")
    ] = 1.0,
    changes: Changes = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Goes on from what it holds. Default: in runs/."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the smallest error of each kind that the cross-check tells, by which level and name.

    Falsifies one link or joint of an engine as `accord crosscheck --perturb` does, and bisects over
    the size: levels 1 and 2 first, whole trajectories where these are silent. What is done is kept
    in the folder, so that the command may be stopped and run again.

    Examples:

      accord sensitivity snake serpenoid --engines dart --kinds mass,axis,gravity

      accord sensitivity monkeybot brachiate --out runs/monkeybot_sensitivity
    """
    setup = load_setup(robot, scenario, changes or [])
    chosen = [name for name in choose_engines(engines, quiet=as_json) if name != "reference"]
    asked = choose_kinds(kinds)
    if setup.scenario.crosscheck.statistics:
        raise AccordError(f"{scenario} is compared by statistics: choose a scenario that is not")
    name = f"{setup.robot.name}_{setup.scenario.name}_sensitivity"
    place = make_folder(folder or Path("runs") / name)
    wheres = places(setup, asked)
    done = read_done(place / FILE, setup, duration)
    todo = [(e, k) for e in chosen for k in asked if f"{e} {k}" not in done]
    data = setup.scenario.data()
    calls = ((data, e, k, wheres[k], duration) for e, k in todo)
    with progress(as_json) as bar:
        task = bar.add_task("sensitivity", total=len(todo) + len(done), completed=len(done))
        workers = min(cores(), max(len(todo), 1))
        for found in in_processes(_find, calls, workers=workers, ordered=False):
            done[f"{found.engine} {found.kind}"] = asdict(found)
            write_done(place / FILE, setup, duration, done)
            bar.update(task, advance=1, description=f"{found.engine} {found.kind}")
    rows = [done[f"{e} {k}"] for k in asked for e in chosen]
    if as_json:
        print_json({"robot": setup.robot.name, "scenario": setup.scenario.name, "rows": rows})
    else:
        out.print(table_of(setup, rows))
        out.print(f"kept in {place / FILE}", soft_wrap=True)


def _find(data: dict[str, Any], engine: str, kind: str, where: str, duration: float) -> Sensitivity:
    return find_smallest(Setup.of(make_scenario(data)), engine, kind, where, duration)


def choose_kinds(names: str) -> list[str]:
    """Return the kinds named, or all.

    Raises:
        AccordError: for an unknown one.
    """
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in KINDS:
            raise AccordError(f"unknown kind {name}{did_you_mean(name, KINDS)}")
    return chosen or [*KINDS]


def read_done(path: Path, setup: Setup, duration: float) -> dict[str, Any]:
    """Return what an earlier call found.

    Raises:
        AccordError: if it was of another scenario, or cannot be read.
    """
    if not path.exists():
        return {}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        same = (kept["scenario"], kept["duration"]) == (_plain(setup), duration)
        found = {key: asdict(Sensitivity(**row)) for key, row in kept["done"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or "it is no result of accord sensitivity"
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not same:
        raise AccordError(f"{path} is of another scenario or duration; choose another --out")
    return found


def write_done(path: Path, setup: Setup, duration: float, done: dict[str, Any]) -> None:
    """Write what was found, such that a call that is stopped leaves the old file or the new one."""
    kept = {
        "scenario": _plain(setup),
        "duration": duration,
        "versions": versions(setup),
        "done": done,
    }
    fresh = path.with_suffix(".part")
    write_text(fresh, json.dumps(kept, indent=1))
    fresh.replace(path)


def _plain(setup: Setup) -> Any:
    return json.loads(json.dumps(setup.scenario.data()))


def table_of(setup: Setup, rows: list[dict[str, Any]]) -> Table:
    """Return the table: a row for each kind and engine."""
    title = f"{setup.robot.name} {setup.scenario.name}: smallest error that is found"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in ("error of", "engine", "size", "unit", "level", "named", "from"):
        table.add_column(heading, justify="right" if heading in ("size", "from") else "left")
    for row in rows:
        kind = KINDS[row["kind"]]
        size = "–" if row["size"] is None else f"{row['size']:.1e}"
        named = " ".join((row["quantity"], row["place"])).strip()
        if not named:
            named = row["reason"] if row["size"] is None else "not told apart"
        unit = "" if row["size"] is None else kind.unit
        level = row["level"].replace("_", " ")
        first = "" if row["named_from"] is None else f"{row['named_from']:.1e}"
        table.add_row(row["kind"], row["engine"], size, unit, level, escape(named), first)
    return table
