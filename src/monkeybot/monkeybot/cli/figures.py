"""Command `accord monkeybot figures`: the report's figures 1 to 10, and its searches.

The command reads the options and calls `draw_all` in source/figures.py, which draws each figure and
writes its data beside it as a file.

In the code `count` is the option `--points`. The names of the options and the keys that `--json`
prints stay. The default torque of 2 N m is the one with which the report's event times come out
(docs/monkeybot.md). The default of 301 grid points is our choice.
"""

from __future__ import annotations

from typing import Annotated

from roboaccord import cli
from roboaccord.contract import NewtonMetres
from typer import Option

from monkeybot.cli.options import TORQUE, Changes, robot_parameters
from monkeybot.source.figures import RANGES, draw_all

POINTS_HELP = "Grid points along each side of a landscape."


@cli.in_pieces()
def figures_command(
    folder: cli.Out = None,
    force: cli.Force = False,
    count: Annotated[int, Option("--points", min=3, max=2001, help=POINTS_HELP)] = 301,
    torque: Annotated[NewtonMetres, TORQUE] = 2.0,
    changes: Changes = None,
) -> cli.Result:
    """Draw the report's figures 1 to 10 from this code, with the data beside them.

    Also repeats its two searches by the report's methods: events on samples of 1 ms, and MATLAB's
    fminsearch with its usual tolerances.

    Examples:

      accord monkeybot figures --out monkeybot_figures

      accord monkeybot figures --points 101 --out monkeybot_figures --json
    """
    parameters = robot_parameters(changes)
    with (
        cli.results(folder, "monkeybot_figures", force=force) as output_folder,
        cli.counted(len(RANGES) * count**2, "landscapes") as progress,
    ):
        return cli.Result(draw_all(parameters, torque, count, output_folder, progress))
