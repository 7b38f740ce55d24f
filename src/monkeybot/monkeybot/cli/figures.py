"""`accord monkeybot figures`: the report's figures 3 to 10, done again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, file_line, make_table, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out
from roboaccord.cli.pieces import in_pieces
from roboaccord.run.versions import made_with

from monkeybot.cli.options import Changes, Torque, robot_parameters
from monkeybot.gaits.gait import evaluate, horizontal
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
    with results(folder, "monkeybot_figures", force=force) as place, progress() as bar:
        task = bar.add_task(COMPILING, total=len(RANGES) * count**2)
        evaluate(gait, parameters, np.array(FIRST))
        drawn = write_diagrams(parameters, torque, place)
        bar.update(task, description="landscapes")
        files, fields = write_landscapes(
            parameters, torque, count, place,
            versions=made_with("roboaccord-monkeybot", "numba"),
            done=lambda n: bar.advance(task, n),
        )  # fmt: skip
        more, _ = write_repetitions(parameters, torque, place)
        bar.update(task, description="searches of the report")
        searches = [
            (np.array(guess), fminsearch(parameters, np.array(guess), torque)) for guess in GUESSES
        ]
    data = {
        "torque": torque,
        "lowest": {
            name: {"rates": field.lowest[:2], "error": field.lowest[2]}
            for name, field in fields.items()
        },
        "searches": [{"guess": guess, **_figures(found)} for guess, found in searches],
        "printed": [
            _figures(sampled_gait(parameters, np.array(rates), torque)) for rates in (FIRST, SECOND)
        ],
        "files": [str(file) for file in sorted([*drawn, *files, *more], key=_number)],
        "versions": made_with("roboaccord-monkeybot", "numba"),
    }
    return Result(data, shown_of(data))


def shown_of(data: dict[str, Any]) -> list[RenderableType]:
    """Return the result for people."""
    table = make_table("landscape", "lowest error", "at w1, w2 [rad/s]")
    for name, lowest in data["lowest"].items():
        w1, w2 = lowest["rates"]
        table.add_row(name, f"{lowest['error']:.3g}", f"{w1:g}, {w2:g}")
    say = []
    for search in data["searches"]:
        (a, b), (w1, w2) = search["guess"], search["rates"]
        say.append(
            f"the report's search from ({a:g}, {b:g}) stops at ({w1:.4f}, {w2:.4f}), "
            f"error {search['error']:.3g}"
        )
    return [table, *map(Text, say), file_line(data["files"])]


def _number(file: Path) -> tuple[int, str]:
    """Return the number of the (first) figure that a file belongs to, and its name."""
    return int(file.stem.split("_")[1]), file.name


def _figures(found: SampledGait) -> dict[str, Any]:
    return {
        "rates": found.rates,
        "error": found.error,
        "switch_time": found.switch_time,
        "motor_time": found.motor_time,
    }
