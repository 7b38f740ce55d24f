"""`accord monkeybot figures`: the report's figures 3 to 10, done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import counted
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.results import INLINE, NewtonMetres, Quantity
from roboaccord.contract.state import Array
from roboaccord.run.versions import made_with

from monkeybot.cli.options import Changes, Torque, robot_parameters
from monkeybot.gaits.gait import evaluate, horizontal
from monkeybot.gaits.landscape import Lowest
from monkeybot.source.figures import (
    FIRST,
    RANGES,
    SECOND,
    SampledGait,
    fminsearch,
    sampled_gait,
    write_diagrams,
    write_landscapes,
    write_repetitions,
)

GUESSES = (1.0, 12.0), (0.5, 11.75)  # rad/s: where the report's search began


@in_pieces()
def figures_command(
    folder: Out = None,
    force: Force = False,
    count: Annotated[
        int, typer.Option("--points", min=3, max=2001, help="Rates of each side of a landscape.")
    ] = 301,
    torque: Torque = 2.0,
    changes: Changes = None,
) -> Result:
    """Draw the report's figures 1 to 10 from this code, with the data beside them.

    Also repeats its two searches the way it did them: events on samples of 1 ms, and MATLAB's
    fminsearch with its usual tolerances.

    Examples:

      accord monkeybot figures --out monkeybot_figures

      accord monkeybot figures --points 101 --out monkeybot_figures --json
    """
    parameters, gait = robot_parameters(changes), horizontal(torque)
    with (
        results(folder, "monkeybot_figures", force=force) as place,
        counted(len(RANGES) * count**2, "landscapes") as done,
    ):
        evaluate(gait, parameters, np.array(FIRST))
        drawn = write_diagrams(parameters, torque, place)
        files, fields = write_landscapes(
            parameters, torque, count, place,
            versions=made_with("roboaccord-monkeybot", "numba"),
            done=done,
        )  # fmt: skip
        more = write_repetitions(parameters, torque, place)
        searches = [
            (np.array(guess), fminsearch(parameters, np.array(guess), torque)) for guess in GUESSES
        ]
    found = Figures(
        torque=torque,
        lowest={name: each.minimum for name, each in fields.items()},
        searches=[Search(guess, each) for guess, each in searches],
        printed=[sampled_gait(parameters, np.array(rates), torque) for rates in (FIRST, SECOND)],
        files=sorted([*drawn, *files, *more], key=_number),
        versions=made_with("roboaccord-monkeybot", "numba"),
    )
    return Result(found)


@dataclass(frozen=True)
class Search:
    """Hold where a search of the report's began, and where it stops."""

    guess: Annotated[Array, Quantity("rad/s")]
    found: SampledGait = field(metadata=INLINE)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Hold what the figures show, and their files."""

    torque: NewtonMetres
    lowest: Annotated[Mapping[str, Lowest], Quantity("", "lowest error of each landscape")]
    searches: Annotated[list[Search], Quantity("", "where the report's searches stop")]
    printed: Annotated[list[SampledGait], Quantity("", "what the report prints, on its samples")]
    files: list[Path]
    versions: Mapping[str, str]


def _number(file: Path) -> tuple[int, str]:
    """Return the number of the (first) figure that a file belongs to, and its name."""
    return int(file.stem.split("_")[1]), file.name
