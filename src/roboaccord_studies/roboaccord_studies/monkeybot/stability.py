"""Command `accord monkeybot stability`: gaits of constant torque over period and torque.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. For each pair of period and torque there is a gait that
repeats but for its height: it drops or rises by the same amount in every step. It is stable if its
spectral radius, the size of the largest Floquet multiplier, is below 1. Starting from the shipped
gait, the grid is filled outwards (`flood`), each gait followed from a neighbouring one. The
horizontal gaits, with a drop of 0, are a line in the map.

RADIUS_CUT, BORDER, DOT and CONTROL_STEPS may be changed. The fields of `StabilityMap` are the
arrays of stability.npz, those of `Stability` the keys of the JSON output; both stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.landscape import Done, save_map
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.cli import Force, Out, Result, counted, in_pieces, results
from roboaccord.contract import AccordError, Array, Quantity
from roboaccord.report import AMBER, INK, PAGE, RED, SQUARE, heat_map, legend, picture
from roboaccord.run import made_with

from roboaccord_studies.drawing import contour
from roboaccord_studies.monkeybot.clocked import Setting, Step, follow_to, shipped_step
from roboaccord_studies.monkeybot.flood import Cell, flood, nearest_cell
from roboaccord_studies.monkeybot.level import Level, shipped_level
from roboaccord_studies.monkeybot.options import MADE_WITH, Span, grid_of, grid_option

RADIUS_CUT = 2.0  # spectral radius at which the colour scale ends: twice that of the border, by eye
# Styles of the border of stability and of marked gaits, in the pictures of `design` as well.
BORDER = {"color": PAGE, "label": "border of stability"}
# A circle of 7 points for the best gait, in the pictures of `design` as well.
DOT = {"ls": "none", "marker": "o", "mec": INK, "ms": 7.0, "clip_on": False}
# s, N m: largest steps of period and torque when a gait is followed; they are halved where
# a gait is lost (clocked.HALVINGS), so that half and twice as long ones find the same gaits (139
# about the shipped one).
CONTROL_STEPS = 0.004, 0.04
PERIODS = (0.88, 1.0, 49)  # default grid of periods [s]: steps of 2.5 ms about the shipped 0.935 s
# Default grid of torques [N m]: steps of 25 mN m from none to more than the shipped 0.7.
TORQUES = (0.0, 1.0, 41)


@dataclass(frozen=True)
class Best:
    """The gait with the smallest spectral radius."""

    period: Annotated[float, Quantity("s", form=".5g")]
    torque: Annotated[float, Quantity("N m", form=".5g")]
    spectral_radius: Annotated[float, Quantity("1", "stable below 1", "radius", ".4f")]


class StabilityMap(NamedTuple):
    """The clocked gaits over a grid; NaN where the family of the shipped gait does not reach.

    Args:
        period: (n,) [s].
        torque: (m,) [N m].
        radius: spectral radius, the absolute value of the largest multiplier (n, m).
        drop: of a step [m] (n, m).
        stride: [m] (n, m).
        start: (th1, th2, w1, w2) right after the impact (n, m, 4).
    """

    period: Array
    torque: Array
    radius: Array
    drop: Array
    stride: Array
    start: Array

    @property
    def stable(self) -> int:
        """Number of stable gaits of the grid."""
        return int((self.radius < 1.0).sum())

    @property
    def best(self) -> Best:
        """The gait with the smallest spectral radius."""
        i, j = np.unravel_index(int(np.nanargmin(self.radius)), self.radius.shape)
        return Best(float(self.period[i]), float(self.torque[j]), float(self.radius[i, j]))


def stability_map(
    parameters: MonkeyBotParameters, period: Array, torque: Array, *, done: Done | None = None
) -> StabilityMap:
    """Follow the shipped clocked gait over a grid of periods and torques.

    The result does not depend on the number of cores.

    Args:
        parameters: of the robot.
        period: (n,) [s], rising.
        torque: (m,) [N m], rising.
        done: called with the number of gaits that were found.

    Raises:
        AccordError: if no gait of the grid can be reached.
    """

    def follow_to_cell(step: Step, cell: Cell) -> Step | None:
        """Return the gait of a cell of the grid, followed from another one."""
        end = Setting(parameters, float(period[cell[0]]), float(torque[cell[1]]))
        return follow_to(step, end, CONTROL_STEPS)

    first = shipped_step(parameters)
    cell = nearest_cell(period, torque, (first.period, first.torque))
    step = follow_to_cell(first, cell)
    if step is None:
        raise AccordError(
            f"the clocked gait at {first.period:g} s and {first.torque:.4g} N m cannot be followed "
            f"to {period[cell[0]]:g} s and {torque[cell[1]]:g} N m; choose a grid that is closer"
        )
    steps = flood((len(period), len(torque)), cell, step, follow_to_cell, done=done)
    return _as_map(period, torque, steps)


def _as_map(period: Array, torque: Array, steps: dict[Cell, Step]) -> StabilityMap:
    """Return the gaits by cell as arrays over the grid."""
    shape = len(period), len(torque)
    radius, drop, stride = np.full((3, *shape), np.nan)
    start = np.full((*shape, 4), np.nan)
    for cell, step in steps.items():
        radius[cell], drop[cell], stride[cell] = step.radius, step.drop, step.stride
        start[cell] = step.start
    return StabilityMap(period, torque, radius, drop, stride, start)


def write_stability(gaits: StabilityMap, level: Level, path: Path) -> None:
    """Write the map of a robot's clocked gaits as SVG, with its horizontal gaits."""
    x, y, best = gaits.period, gaits.torque, level.best
    stable = [(step.period, step.torque) for step in level.steps if step.radius < 1.0]
    with picture(path, SQUARE) as axes:
        heat_map(axes, x, y, gaits.radius, "spectral radius", cut=RADIUS_CUT)
        contour(axes, x, y, gaits.radius, 1.0, **BORDER)
        contour(axes, x, y, gaits.drop, 0.0, color=RED, label="horizontal")
        axes.plot(*zip(*stable, strict=True), color=AMBER, lw=3.0, label="and stable")
        axes.plot(best.period, best.torque, color=RED, label=f"the best, {best.radius:.4f}", **DOT)
        axes.set(xlabel="period [s]", ylabel="torque [N m]")
        legend(axes)


PERIOD = grid_option("period of a step: N values from A to B")
TORQUE = grid_option("torque on the elbow: N values from A to B")


@in_pieces()
def stability_command(
    period: Annotated[Span, Quantity("s"), PERIOD] = PERIODS,
    torque: Annotated[Span, Quantity("N m"), TORQUE] = TORQUES,
    folder: Out = None,
    force: Force = False,
    changes: Changes = None,
) -> Result:
    """Follow the gait of constant torque, hands changed by the clock, over a grid.

    Writes stability.npz and stability.svg: the spectral radius (stable below 1), drop and stride of
    each gait. On one line of the map the gaits keep their height, elsewhere they drop or rise. Grey
    in the picture and NaN in the data: the branch of these gaits does not extend that far.

    Examples:

      accord monkeybot stability --out stability

      accord monkeybot stability --period 0.92 0.95 31 --torque 0.4 0.8 41 --out near --json
    """
    periods, torques = grid_of(*period, "--period", above=0.0), grid_of(*torque, "--torque")
    parameters = robot_parameters(changes)
    with (
        results(folder, "monkeybot_stability", force=force) as out_folder,
        counted(len(periods) * len(torques), "following") as done,
    ):
        gaits = stability_map(parameters, periods, torques, done=done)
        level = shipped_level(parameters)
        files = [out_folder / "stability.npz", out_folder / "stability.svg"]
        save_map(gaits._asdict(), files[0], parameters, made_with(*MADE_WITH))
        write_stability(gaits, level, files[1])
    best = level.best
    stability = Stability(
        gaits=int(np.isfinite(gaits.radius).sum()),
        stable=gaits.stable,
        best=gaits.best,
        best_horizontal=Best(best.period, best.torque, best.radius),
        stable_periods=level.stable,
        files=files,
    )
    return Result(stability)


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How many gaits were found, how many of them are stable, and the best ones."""

    gaits: Annotated[int, Quantity("", "to which the shipped one was followed")]
    stable: Annotated[int, Quantity("")]
    best: Best
    best_horizontal: Best
    stable_periods: Annotated[tuple[float, float], Quantity("s", "of horizontal gaits", form=".5g")]
    files: list[Path]
