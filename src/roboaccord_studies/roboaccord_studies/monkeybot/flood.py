"""Flood fill of a grid: from one cell outwards, each cell computed from a neighbouring one.

The maps of gaits use it, since a gait is found from a gait near by. A ring is the set of cells that
were reached last. All cells next to it are computed in parallel from the values of the ring. Only
when all are finished are they entered in the grid, so that the result does not depend on the number
of cores. The order of SIDES must stay, for it decides which neighbour is tried first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from monkeybot.gaits.landscape import Done
from roboaccord.contract import Array
from roboaccord.run import run_pieces

# Steps from a cell to its four neighbours, in the order in which they are tried.
SIDES = ((-1, 0), (1, 0), (0, -1), (0, 1))

Cell = tuple[int, int]
T = TypeVar("T")
Compute = Callable[[T, Cell], T | None]  # of the value of a cell from that of a neighbouring one


def nearest_cell(x: Array, y: Array, point: tuple[float, float]) -> Cell:
    """Return the cell of a grid with axes (n,), (m,) that is nearest to a point."""
    return int(np.abs(x - point[0]).argmin()), int(np.abs(y - point[1]).argmin())


def flood(
    shape: Cell, first: Cell, value: T, compute: Compute[T], *, done: Done | None = None
) -> dict[Cell, T]:
    """Fill a grid from its first cell outwards; return the values of the cells that were reached.

    A cell is tried from each of its neighbours in the last ring, in a fixed order, until one
    succeeds.

    Args:
        shape: of the grid.
        first: cell to begin at.
        value: of that cell.
        compute: function of a value and a neighbouring cell that returns the value of that cell,
            or None if it cannot be reached.
        done: called after each ring with its number of cells.
    """
    cells = {first: value}
    ring = [first]

    while ring:
        if done:
            done(len(ring))
        neighbours = _neighbours(ring, shape, cells)
        # `cells` does not change while the new ring is computed.
        sets = neighbours.items()
        calls = ((compute, cell, [cells[side] for side in sides]) for cell, sides in sets)
        values = run_pieces(_first_reached, calls, threads=True)
        ring = []
        for cell, reached in zip(neighbours, values, strict=True):
            if reached is not None:
                cells[cell] = reached
                ring.append(cell)
    return cells


def _first_reached(compute: Compute[T], cell: Cell, neighbours: list[T]) -> T | None:
    """Return the value of a cell, from the first of the neighbours' values that reaches it."""
    tries = (compute(value, cell) for value in neighbours)
    return next((reached for reached in tries if reached is not None), None)


def _neighbours(ring: list[Cell], shape: Cell, cells: dict[Cell, T]) -> dict[Cell, list[Cell]]:
    """Return the cells next to a ring that are still empty, with their neighbours in the ring."""
    neighbours: dict[Cell, list[Cell]] = {}
    for i, j in ring:
        for a, b in SIDES:
            cell = i + a, j + b
            if 0 <= cell[0] < shape[0] and 0 <= cell[1] < shape[1] and cell not in cells:
                neighbours.setdefault(cell, []).append((i, j))
    return neighbours
