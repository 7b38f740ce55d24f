"""Command `accord monkeybot design`: the shape of the links with the most stable gait.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. The shape of a link is its mass distribution: the
position of the centre of gravity and the inertia. The command follows the clocked gait over a grid
of shapes (../design.py), and searches from the best of the grid for the robots with the smallest
spectral radius (the size of the largest Floquet multiplier, below 1 for a stable gait) and with the
widest range of stable periods. It writes the data and a picture for each of these two measures.

CUTS must have an entry for each of `design.MARGINS`. The names in `robots` are keys of the JSON
output, and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.landscape import save_map
from rich.text import Text
from roboaccord import cli
from roboaccord.contract import Quantity, Ratio
from roboaccord.report import BLUE, RED, SQUARE, heat_map, legend, picture
from roboaccord.run import made_with

from roboaccord_studies.drawing import contour
from roboaccord_studies.monkeybot import design
from roboaccord_studies.monkeybot.design import MARGINS, DesignMap, Robot
from roboaccord_studies.monkeybot.options import MADE_WITH, Span, grid_of, grid_option
from roboaccord_studies.monkeybot.stability import BORDER, DOT, RADIUS_CUT

# Columns of the printed table: fields of Robot.
GAIT_COLUMNS = ("level.best.radius", "level.best.period", "level.best.torque")
COLUMNS = ("shape.centre", "shape.inertia", *GAIT_COLUMNS, "level.stable", "level.width")
# Default grid [m L^2]: up to 1/12 = 0.083, that of a uniform rod, in steps of 0.003.
INERTIAS = (0.004, 0.076, 25)
# Value at which the colour scale of a map ends, and its label, by measure; the widest range in
# docs/monkeybot_gaits.md is 0.051.
CUTS = {
    "radius": (RADIUS_CUT, "smallest spectral radius"),
    "width": (0.06, "range of stable periods over their middle"),
}
# Options of the command.
CENTRE = grid_option("distance from hand to centre of gravity; L: length of a link")
INERTIA = grid_option("inertia about the centre of gravity")
LARGEST_RADIUS = typer.Option(
    "--largest-radius",
    min=0.0,
    max=1.0,
    help="Largest spectral radius of a gait that counts as stable, for the ranges of periods.",
)


@cli.in_pieces()
def design_command(
    centre: Annotated[Span, Quantity("L"), CENTRE] = (0.72, 0.96, 25),
    inertia: Annotated[Span, Quantity("m L^2"), INERTIA] = INERTIAS,
    largest: Annotated[Ratio, LARGEST_RADIUS] = 0.98,
    folder: cli.Out = None,
    force: cli.Force = False,
    changes: Changes = None,
) -> cli.Result:
    """Map how stable the horizontal clocked gait is over the shape of the links, both alike.

    The multipliers do not depend on mass, length or gravity, only on the position of the centre of
    gravity and on the inertia. Then finds, within the grid, the robots with the smallest spectral
    radius and with the widest range of stable periods. Writes design.npz, radius.svg and
    width.svg. Grey: no body inside the link has these values, or the gait could not be followed
    that far.

    Examples:

      accord monkeybot design --out design

      accord monkeybot design --centre 0.85 0.95 11 --inertia 0.02 0.06 9 --out near --json
    """
    centres, inertias = grid_of(*centre, "--centre"), grid_of(*inertia, "--inertia")
    parameters = robot_parameters(changes)
    with (
        cli.results(folder, "monkeybot_design", force=force) as out_folder,
        cli.counted(len(centres) * len(inertias), "following") as done,
    ):
        designs = design.design_map(parameters, centres, inertias, largest=largest, done=done)
        robots = {"this robot": design.shipped_robot(parameters, largest)}
        robots |= {f"best {margin}": design.better_robot(designs, margin) for margin in MARGINS}
        files = [out_folder / "design.npz"]
        save_map(designs.arrays, files[0], parameters, made_with(*MADE_WITH))
        for margin in MARGINS:
            files.append(out_folder / f"{margin}.svg")
            write_design(designs, margin, robots["this robot"], robots[f"best {margin}"], files[-1])
    followed = designs.robots.values()
    stable = sum(robot.level.best.radius < 1.0 for robot in followed)
    result = Design(len(followed), stable, robots, files)
    table = cli.tables_of([*robots.values()], *COLUMNS, labels=robots)
    explained = Text("L, m: length and mass of a link")
    return cli.Result(result, [*cli.lines_of(result), *table, explained, cli.file_line(files)])


@dataclass(frozen=True)
class Design:
    """How many robots were found, how many of them are stable, and the best by name."""

    robots_followed: Annotated[int, Quantity("")]
    robots_stable: Annotated[int, Quantity("", "at some period")]
    robots: Mapping[str, Robot]
    files: list[Path]


def write_design(designs: DesignMap, margin: str, robot: Robot, better: Robot, path: Path) -> None:
    """Write the map of a margin, one of MARGINS, over the shape as SVG, with two robots on it."""
    x, y, arrays = designs.centre, designs.inertia, designs.arrays
    cut, unit = CUTS[margin]
    with picture(path, SQUARE) as axes:
        heat_map(axes, x, y, arrays[margin], unit, cut=cut)
        contour(axes, x, y, arrays["radius"], 1.0, **BORDER)
        marks = (robot.shape, BLUE, "this robot"), (better.shape, RED, "the best by this")
        for shape, colour, label in marks:
            axes.plot(shape.centre, shape.inertia, color=colour, label=label, **DOT)
        axes.set(xlabel="hand to centre of gravity, c [lengths]", ylabel="inertia, k [m L^2]")
        legend(axes)
