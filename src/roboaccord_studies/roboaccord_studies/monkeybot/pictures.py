"""Pictures of stability: the radius as colours, its border of 1, and another line."""

from __future__ import annotations

from pathlib import Path

from roboaccord.report import AMBER, BLUE, INK, PAGE, RED, SQUARE, heat_map, legend, picture

from roboaccord_studies.drawing import contour
from roboaccord_studies.monkeybot.design import DesignMap, Robot
from roboaccord_studies.monkeybot.level import Level
from roboaccord_studies.monkeybot.stability import StabilityMap

LARGEST = 2.0  # radius in colours
GAIT_TITLES = ("period [s]", "torque [N m]")
SHAPE_TITLES = ("hand to centre of gravity, c [lengths]", "inertia, k [m L^2]")
CUTS = {
    "radius": (LARGEST, "smallest spectral radius"),
    "width": (0.06, "range of stable periods over their middle"),
}
BORDER = {"color": PAGE, "label": "border of stability"}
DOT = {"ls": "none", "marker": "o", "mec": INK, "ms": 7.0, "clip_on": False}


def write_stability(field: StabilityMap, level: Level, path: Path) -> None:
    """Write the map of a robot's clocked gaits as SVG, with its horizontal gaits."""
    x, y, best = field.period, field.torque, level.best
    stable = [(step.period, step.torque) for step in level.steps if step.radius < 1.0]
    with picture(path, SQUARE) as axes:
        heat_map(axes, x, y, field.radius, "spectral radius", cut=LARGEST)
        contour(axes, x, y, field.radius, 1.0, **BORDER)
        contour(axes, x, y, field.drop, 0.0, color=RED, label="horizontal")
        axes.plot(*zip(*stable, strict=True), color=AMBER, lw=3.0, label="and stable")
        axes.plot(best.period, best.torque, color=RED, label=f"the best, {best.radius:.4f}", **DOT)
        axes.set(xlabel=GAIT_TITLES[0], ylabel=GAIT_TITLES[1])
        legend(axes)


def write_design(field: DesignMap, margin: str, robot: Robot, better: Robot, path: Path) -> None:
    """Write the map of a margin over the shape of the links as SVG, with two robots on it."""
    x, y = field.centre, field.inertia
    cut, name = CUTS[margin]
    with picture(path, SQUARE) as axes:
        heat_map(axes, x, y, field.arrays[margin], name, cut=cut)
        contour(axes, x, y, field.arrays["radius"], 1.0, **BORDER)
        for one, colour, words in (
            (robot, BLUE, "this robot"), (better, RED, "the best by this"),
        ):  # fmt: skip
            axes.plot(one.shape.centre, one.shape.inertia, color=colour, label=words, **DOT)
        axes.set(xlabel=SHAPE_TITLES[0], ylabel=SHAPE_TITLES[1])
        legend(axes)
