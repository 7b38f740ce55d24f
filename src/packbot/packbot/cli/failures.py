"""`accord packbot recover` and `equilibria`: what an arm with failed joints can do, and rest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import log, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Changes, Engine, Faults, Force, Out, Seed, load_setup
from roboaccord.cli.pieces import in_pieces, kept
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_target
from roboaccord.contract.results import to_json

from packbot.model import compiled
from packbot.planning.equilibria import KINDS, find_equilibria
from packbot.planning.failed_arm import FailedArm
from packbot.source.failure_figures import draw_equilibria, draw_recovery

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
    found = [counts(setup.faults, tried) for setup, tried in zip(setups, done, strict=True)]
    if plot:
        draw_recovery(found, plot)
    table = tables_of(found, "faults", *COUNTS, "reasons", title="targets reached")
    if faults:
        return Result(found[0], table)
    refused = sum((Counter(case.refused) for case in found), Counter[str]())
    total = {key: sum(getattr(case, key) for case in found) for key in COUNTS}
    return Result({**total, "refused": refused, "cases": to_json(found)}, table)


def equilibria_command(
    faults: Faults = None,
    count: Annotated[int, typer.Option("--poses", min=1, help="Drawn.")] = 100,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw them, as .svg or .png.")
    ] = None,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Find equilibria of an arm with loose joints, and those that it can come to.

    Of poses drawn at random: in how many loose joints hang stably, in how many they would be
    balanced, and how many lean on something. Linked are those at rest to which the active joints
    lead from the start, slowly.

    Examples:

      accord packbot equilibria --fault elbow2=loose

      accord packbot equilibria --fault elbow1=loose --poses 50 --plot elbow1.svg
    """
    setup = load_setup("packbot", "reach", changes, faults)
    check_target(plot)
    arm = FailedArm(setup, setup.faults)
    if not len(arm.loose):
        raise AccordError("equilibria takes a --fault JOINT=loose")
    with log.status("looking for equilibria"):
        found = find_equilibria(arm, setup.initial.q, count, seed)
    if plot:
        draw_equilibria(arm, found, plot)
    data = {kind: len(getattr(found, kind)) for kind in KINDS} | {"linked": found.linked}
    words = ", ".join(f"{number} {kind}" for kind, number in data.items())
    return Result(data, [f"equilibria: {words}"])
