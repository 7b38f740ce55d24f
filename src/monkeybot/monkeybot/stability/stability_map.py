"""Stability of the clocked gaits over period and torque.

Each pair of period and torque has a gait that repeats, but for its height: one that drops or rises
with every step. The horizontal gaits are the line on the sheet where the drop is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, TypeVar

import numpy as np
from roboaccord.contract import AccordError, Array, Quantity
from roboaccord.run import run_pieces

from monkeybot.gaits.clocked import Setting, Step, follow_to, shipped_step
from monkeybot.gaits.landscape import Done
from monkeybot.model.parameters import MonkeyBotParameters

SIDES = ((-1, 0), (1, 0), (0, -1), (0, 1))

Cell = tuple[int, int]
T = TypeVar("T")


def flood(
    shape: Cell,
    first: Cell,
    value: T,
    go: Callable[[T, Cell], T | None],
    *,
    done: Done | None = None,
) -> dict[Cell, T]:
    """Fill a grid from its first cell outwards; return the cells that were reached.

    A cell is tried from every neighbour that a ring has added, in a fixed order, until one leads
    there. So the result does not depend on the number of cores.

    Args:
        shape: of the grid.
        first: cell that is known.
        value: what is there.
        go: leads from a value and a neighbouring cell to the neighbour's; None if it leads
            nowhere. It is of a module, as what it is part of.
        done: called with the number of cells that a ring has added.
    """
    found = {first: value}
    ring = [first]

    while ring:
        if done:
            done(len(ring))
        ways = _ways(ring, shape, found)
        # The ring is finished before any of it is entered: `found` stands still meanwhile.
        calls = ((go, cell, [found[way] for way in sides]) for cell, sides in ways.items())
        values = run_pieces(_reach, calls, threads=True)
        ring = []
        for cell, reached in zip(ways, values, strict=True):
            if reached is not None:
                found[cell] = reached
                ring.append(cell)
    return found


def _reach(go: Callable[[T, Cell], T | None], cell: Cell, beside: list[T]) -> T | None:
    """Return the value of a cell, from the first of the values beside it that leads there."""
    tries = (go(value, cell) for value in beside)
    return next((reached for reached in tries if reached is not None), None)


def _ways(ring: list[Cell], shape: Cell, found: dict[Cell, T]) -> dict[Cell, list[Cell]]:
    """Return the cells next to a ring that are not known, with those of the ring beside them."""
    ways: dict[Cell, list[Cell]] = {}
    for i, j in ring:
        for a, b in SIDES:
            cell = i + a, j + b
            if 0 <= cell[0] < shape[0] and 0 <= cell[1] < shape[1] and cell not in found:
                ways.setdefault(cell, []).append((i, j))
    return ways


LONGEST = 0.004, 0.04  # s, N m: done at once, if all goes well


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
    return follow_to(step, end, LONGEST)


def _gathered(period: Array, torque: Array, found: dict[Cell, Step]) -> StabilityMap:
    shape = len(period), len(torque)
    radius, drop, stride = np.full((3, *shape), np.nan)
    start = np.full((*shape, 4), np.nan)
    for cell, step in found.items():
        radius[cell], drop[cell], stride[cell] = step.radius, step.drop, step.stride
        start[cell] = step.start
    return StabilityMap(period, torque, radius, drop, stride, start)
