"""`accord packbot recover`: how many targets a failed arm reaches, with recovery and without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Changes, Engine, Faults, Force, Out, Seed, load_setup
from roboaccord.cli.pieces import in_pieces, kept
from roboaccord.contract.files import check_target

from packbot.model import compiled
from packbot.source.failure_figures import draw_recovery

COUNTS = ("targets", "reachable", "recovered", "baseline", "disputed")


@in_pieces(own=True, grows=("targets",))
def recover_command(
    faults: Faults = None,
    targets: Annotated[int, typer.Option(min=1, help="Number of targets.")] = 200,
    engine: Engine = "reference",
    seed: Seed = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the counts, as .svg or .png.")
    ] = None,
    changes: Changes = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Reach for random targets with failed joints, and count.

    The targets are finger tips of random clear poses of the healthy arm; with a failed turret, in
    the plane that it leaves. Reachable are those to which there is a way: each is reached for in
    the engine, also by the controller that ignores failures (baseline). Without --fault all of a
    study: each joint loose and frozen at three angles, and five pairs. A study that was ended goes
    on in the same --out.

    Examples:

      accord packbot recover --fault elbow1=frozen:0.4 --targets 20

      accord packbot recover --fault elbow2=loose --targets 200 --engine mujoco --seed 1 --json

      accord packbot recover --targets 200 --engine dart --out study --plot study.svg
    """
    with compiled("accord packbot recover"):
        from packbot.source.recovery import all_cases, counts, study

    check_target(plot)
    setups = [load_setup("packbot", "reach", changes, faults)]
    if not faults:
        cases = all_cases(setups[0])
        setups = [load_setup("packbot", "reach", changes, [*case]) for case in cases]
    with results(folder, "packbot_recovery", force=force) as place, kept(place), progress() as bar:
        task = bar.add_task(f"targets in {engine}", total=targets * len(setups))
        done = study(setups, targets, engine, seed, lambda attempt: bar.advance(task))
    found = [
        {"faults": list(map(str, setup.faults)), **counts(attempts)}
        for setup, attempts in zip(setups, done, strict=True)
    ]
    if plot:
        draw_recovery(found, plot)
    data = found[0] if faults else {**_total(found), "cases": found}
    return Result(data, shown_of(found))


def _total(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    refused = sum((Counter(case["refused"]) for case in found), Counter[str]())
    return {key: sum(case[key] for case in found) for key in COUNTS} | {"refused": refused}


def shown_of(found: Sequence[dict[str, Any]]) -> list[RenderableType]:
    """Return the counts for people."""
    table = make_table("failed", *COUNTS, "refused", text=["refused"], title="targets reached")
    for case in found:
        refused = ", ".join(f"{number} {reason}" for reason, number in case["refused"].items())
        numbers = (str(case[key]) for key in COUNTS)
        table.add_row(", ".join(case["faults"]) or "none", *numbers, refused)
    return [table]
