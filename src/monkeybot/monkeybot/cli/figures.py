"""Command `accord monkeybot figures`: the report's figures 1 to 10, and its searches.

The drawing is that of source/figures.py, where a further figure is added to `draw_all`.

Options and the keys of FigureData stay. The defaults may be changed: 301 points, and 2 N m, which
follow from the report's times.
"""

from __future__ import annotations

from typing import Annotated

from roboaccord import cli
from roboaccord.contract import NewtonMetres
from typer import Option

from monkeybot.cli.options import TORQUE, Changes, robot_parameters
from monkeybot.source.figures import RANGES, draw_all


@cli.in_pieces()
def figures_command(
    folder: cli.Out = None,
    force: cli.Force = False,
    count: Annotated[
        int, Option("--points", min=3, max=2001, help="Grid points along each side of a landscape.")
    ] = 301,
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
        cli.results(folder, "monkeybot_figures", force=force) as place,
        cli.counted(len(RANGES) * count**2, "landscapes") as done,
    ):
        return cli.Result(draw_all(parameters, torque, count, place, done))
