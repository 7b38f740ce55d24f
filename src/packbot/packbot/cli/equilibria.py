"""`accord packbot equilibria`: where an arm with loose joints rests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import log
from roboaccord.cli.options import Changes, Faults, Seed, load_setup
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_target

from packbot.source.failure_figures import draw_equilibria


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
    from packbot.planning.equilibria import KINDS, find_equilibria
    from packbot.planning.failed_arm import FailedArm

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
