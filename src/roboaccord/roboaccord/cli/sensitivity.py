"""`accord sensitivity`: the smallest error of an engine that the cross-check detects."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import make_table, named
from roboaccord.cli.folder import results
from roboaccord.cli.options import (
    Changes,
    Engines,
    Faults,
    Force,
    RobotName,
    ScenarioName,
    choose_engines,
    listed,
    load_setup,
)
from roboaccord.cli.pieces import FILE, in_pieces, kept
from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.results import Json, Seconds, to_json
from roboaccord.falsify import KINDS, Sensitivity, find_all
from roboaccord.scenario.setup import Setup


@in_pieces(own=True, grows=("engines", "kinds"))
def sensitivity_command(
    robot: RobotName,
    scenario: ScenarioName,
    engines: Engines = "",
    kinds: Annotated[
        str, typer.Option(metavar="LIST", help="Kinds of error, separated by commas. Default: all.")
    ] = "",
    duration: Annotated[
        Seconds, typer.Option(min=1e-3, help="Duration of the runs of levels 2 and 3.")
    ] = 1.0,
    changes: Changes = None,
    faults: Faults = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder for the results, from which an interrupted study resumes; one with "
            "other content is refused. Default: in runs/.",
        ),
    ] = None,
    force: Force = False,
) -> Result:
    """Find the smallest error of each kind that the cross-check detects, by which level and name.

    Perturbs one link or joint of an engine as `accord crosscheck --perturb` does, and bisects over
    the size: levels 1 and 2 first, whole trajectories where these detect nothing. Finished results
    are kept in the folder, from which an interrupted command resumes.

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
    pairs = [(engine, kind) for kind in asked for engine in chosen]
    with (
        results(folder or Path("runs") / name, name, force=force) as place,
        kept(place),
        named(len(pairs), "sensitivity") as done,
    ):
        found = find_all(setup, pairs, duration, lambda each: done(f"{each.engine} {each.kind}"))
    data: dict[str, Json] = {
        "robot": setup.robot.name, "scenario": setup.scenario.name, "rows": to_json(found)
    }  # fmt: skip
    used = {"engines": chosen, "kinds": asked, **used_by(setup, "physics_step", "seed")}
    return Result(data, [*tables_of(setup, found), f"kept in {place / FILE}"], used=used)


def choose_kinds(names: str) -> list[str]:
    """Return the kinds named, or all.

    Raises:
        AccordError: for an unknown one.
    """
    chosen = listed(names)
    check_known("unknown kind ", chosen, KINDS)
    return chosen or [*KINDS]


def tables_of(setup: Setup, rows: list[Sensitivity]) -> list[RenderableType]:
    """Return the table, a row for each kind and engine, and what its columns are."""
    title = f"{setup.robot.name} {setup.scenario.name}: smallest error that is found"
    words = ("engine", "unit", "level", "named")
    table = make_table(
        "error of", "engine", "size", "unit", "level", "named", "from",
        title=title, words=words, text=["named"],
    )  # fmt: skip
    for row in rows:
        kind = KINDS[row.kind]
        size = "–" if row.size is None else f"{row.size:.1e}"
        named = " ".join((row.quantity, row.place)).strip()
        if not named:
            named = row.reason if row.size is None else "not distinguished"
        unit = "" if row.size is None else kind.unit
        level = row.level.replace("_", " ")
        first = "" if row.named_from is None else f"{row.named_from:.1e}"
        table.add_row(row.kind, row.engine, size, unit, level, named, first)
    explained = (
        "level: the one that finds it; named: what the cross-check calls it; from: smallest size "
        "that gets this name"
    )
    return [table, Text(explained)]
