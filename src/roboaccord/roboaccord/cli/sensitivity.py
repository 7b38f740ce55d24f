"""`accord sensitivity`: the smallest error of an engine that the cross-check detects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import make_table, progress
from roboaccord.cli.crosscheck import choose_engines
from roboaccord.cli.folder import results
from roboaccord.cli.options import (
    Changes,
    Engines,
    Faults,
    Force,
    RobotName,
    ScenarioName,
    load_setup,
)
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.files import read_text
from roboaccord.crosscheck.sensitivity import Sensitivity, find_smallest, places
from roboaccord.run.output import write_text
from roboaccord.run.pieces import run_pieces
from roboaccord.run.versions import versions
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.perturbation import KINDS
from roboaccord.scenario.setup import Setup

FILE = "sensitivity.json"


def sensitivity_command(
    robot: RobotName,
    scenario: ScenarioName,
    engines: Engines = "",
    kinds: Annotated[
        str, typer.Option(metavar="LIST", help="Kinds of error, separated by commas. Default: all.")
    ] = "",
    duration: Annotated[
        float, typer.Option(min=1e-3, help="Of the runs of levels 2 and 3, in s.")
    ] = 1.0,
    changes: Changes = None,
    faults: Faults = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Goes on from what the command left there; a folder with something else in it is "
            "refused. Default: in runs/.",
        ),
    ] = None,
    force: Force = False,
) -> Result:
    """Find the smallest error of each kind that the cross-check tells, by which level and name.

    Falsifies one link or joint of an engine as `accord crosscheck --perturb` does, and bisects over
    the size: levels 1 and 2 first, whole trajectories where these are silent. What is done is kept
    in the folder, so that the command may be stopped and run again.

    Examples:

      accord sensitivity snake serpenoid --engines dart --kinds mass,axis,gravity

      accord sensitivity monkeybot brachiate --out runs/monkeybot_sensitivity
    """
    setup = load_setup(robot, scenario, changes, faults)
    chosen = [name for name in choose_engines(engines) if name != "reference"]
    asked = choose_kinds(kinds)
    if setup.scenario.crosscheck.statistics:
        raise AccordError(f"{scenario} is compared by statistics: choose a scenario that is not")
    name = f"{setup.robot.name}_{setup.scenario.name}_sensitivity"
    wheres = places(setup, asked)
    with results(folder or Path("runs") / name, name, force=force) as place:
        todo = [(engine, kind) for kind in asked for engine in chosen]
        done = find_all(setup, todo, wheres, duration, place / FILE)
    rows = [done[f"{engine} {kind}"] for engine, kind in todo]
    data = {"robot": setup.robot.name, "scenario": setup.scenario.name, "rows": rows}
    used = {"engines": chosen, "kinds": asked, **used_by(setup, "physics_step", "seed")}
    return Result(data, [*tables_of(setup, rows), f"kept in {place / FILE}"], used=used)


def find_all(
    setup: Setup,
    asked: list[tuple[str, str]],
    wheres: Mapping[str, str],
    duration: float,
    file: Path,
) -> dict[str, Any]:
    """Return what was found of engines and kinds, in this call and in earlier ones."""
    done = read_done(file, setup, duration)
    todo = [(e, k) for e, k in asked if f"{e} {k}" not in done]
    data = setup.scenario.data()
    calls = ((data, e, k, wheres[k], duration) for e, k in todo)
    with progress() as bar:
        task = bar.add_task("sensitivity", total=len(todo) + len(done), completed=len(done))

        def keep(found: Sensitivity) -> None:
            done[f"{found.engine} {found.kind}"] = asdict(found)
            write_done(file, setup, duration, done)
            bar.update(task, advance=1, description=f"{found.engine} {found.kind}")

        run_pieces(_find, calls, done=keep)
    return done


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
        kept = json.loads(read_text(path))
        same = (kept["scenario"], kept["duration"]) == (_plain(setup), duration)
        found = {key: asdict(Sensitivity(**row)) for key, row in kept["done"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise AccordError(f"cannot read {path}: it is no result of accord sensitivity") from None
    if not same:
        raise AccordError(
            f"{path} is of another scenario or duration; choose another --out, or --force"
        )
    return found


def write_done(path: Path, setup: Setup, duration: float, done: dict[str, Any]) -> None:
    """Write what was found, such that a call that is stopped leaves the old file or the new one."""
    kept = {
        "scenario": _plain(setup),
        "duration": duration,
        "versions": versions(setup),
        "done": done,
    }
    write_text(path, json.dumps(kept, indent=1))


def _plain(setup: Setup) -> Any:
    return json.loads(json.dumps(setup.scenario.data()))


def tables_of(setup: Setup, rows: list[dict[str, Any]]) -> list[RenderableType]:
    """Return the table, a row for each kind and engine, and what its columns are."""
    title = f"{setup.robot.name} {setup.scenario.name}: smallest error that is found"
    words = ("engine", "unit", "level", "named")
    table = make_table(
        "error of", "engine", "size", "unit", "level", "named", "from",
        title=title, words=words, text=["named"],
    )  # fmt: skip
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
    explained = (
        "level: the one that finds it; named: what the cross-check calls it; from: smallest size "
        "that gets this name"
    )
    return [table, Text(explained)]
