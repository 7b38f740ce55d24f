"""Stability of clocked gaits over period and torque.

Each pair of period and torque has a gait that repeats, but for its height: one that drops or rises
with every step. The horizontal gaits are the line on the sheet where the drop is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from monkeybot.gaits.landscape import Done
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import AccordError, Array, Quantity

from roboaccord_studies.monkeybot.clocked import Setting, Step, follow_to, shipped_step
from roboaccord_studies.monkeybot.flood import Cell, flood

CONTROL_STEPS = 0.004, 0.04  # s, N m: done at once, if all goes well


@dataclass(frozen=True)
class Best:
    """Hold the gait with the smallest spectral radius."""

    period: Annotated[float, Quantity("s", form=".5g")]
    torque: Annotated[float, Quantity("N m", form=".5g")]
    spectral_radius: Annotated[float, Quantity("1", "stable below 1", "radius", ".4f")]


@dataclass(frozen=True)
class StabilityMap:
    """Hold the clocked gaits over a grid; NaN where the sheet of the shipped one does not reach.

    Args:
        period: (n,) [s].
        torque: (m,) [N m].
        radius: size of the largest multiplier (n, m).
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
        """The gait with the smallest radius."""
        i, j = np.unravel_index(int(np.nanargmin(self.radius)), self.radius.shape)
        return Best(float(self.period[i]), float(self.torque[j]), float(self.radius[i, j]))


def stability_map(
    parameters: MonkeyBotParameters,
    period: Array,
    torque: Array,
    *,
    done: Done | None = None,
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
    go = partial(_follow, parameters, period, torque)
    first = shipped_step(parameters)
    cell = _nearest(first, period, torque)
    step = go(first, cell)
    if step is None:
        raise AccordError(
            f"the clocked gait at {first.period:g} s and {first.torque:.4g} N m cannot be followed "
            f"to {period[cell[0]]:g} s and {torque[cell[1]]:g} N m; choose a grid that is closer"
        )
    found = flood((len(period), len(torque)), cell, step, go, done=done)
    return _gathered(period, torque, found)


def _nearest(step: Step, period: Array, torque: Array) -> Cell:
    """Return the cell of a grid that is nearest to a gait."""
    return int(np.abs(period - step.period).argmin()), int(np.abs(torque - step.torque).argmin())


def _follow(
    parameters: MonkeyBotParameters, period: Array, torque: Array, step: Step, cell: Cell
) -> Step | None:
    """Return the gait of a cell of the grid, followed from another one."""
    end = Setting(parameters, float(period[cell[0]]), float(torque[cell[1]]))
    return follow_to(step, end, CONTROL_STEPS)


def _gathered(period: Array, torque: Array, found: dict[Cell, Step]) -> StabilityMap:
    shape = len(period), len(torque)
    radius, drop, stride = np.full((3, *shape), np.nan)
    start = np.full((*shape, 4), np.nan)
    for cell, step in found.items():
        radius[cell], drop[cell], stride[cell] = step.radius, step.drop, step.stride
        start[cell] = step.start
    return StabilityMap(period, torque, radius, drop, stride, start)
