"""Filling of a grid from one cell outwards, each cell from a neighbour, on all cores.

The cells of a ring are computed side by side, from the values of the ring before. A ring is
finished before any of it is entered, so that the number of cores changes nothing.

The order of SIDES must stay: it decides which neighbour is tried first, and with another the maps
of `stability` and `design` may differ (test_stability_maps).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from monkeybot.gaits.landscape import Done
from roboaccord.run import run_pieces

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
        first: cell to begin at.
        value: of that cell.
        go: leads from a value and a neighbouring cell to the neighbour's; None if it leads
            nowhere. It is of a module, as what it is part of.
        done: called with the number of cells that a ring has added.
    """
    cells = {first: value}
    ring = [first]

    while ring:
        if done:
            done(len(ring))
        neighbours = _neighbours(ring, shape, cells)
        # The ring is finished before any of it is entered: `cells` stands still meanwhile.
        calls = ((go, cell, [cells[side] for side in sides]) for cell, sides in neighbours.items())
        values = run_pieces(_reach, calls, threads=True)
        ring = []
        for cell, reached in zip(neighbours, values, strict=True):
            if reached is not None:
                cells[cell] = reached
                ring.append(cell)
    return cells


def _reach(go: Callable[[T, Cell], T | None], cell: Cell, neighbours: list[T]) -> T | None:
    """Return the value of a cell, from the first of its neighbours' values that leads there."""
    tries = (go(value, cell) for value in neighbours)
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
