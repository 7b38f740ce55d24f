"""Orders by size in which round-off decides nothing: equal items stay in the given order.

LIKE may be tuned: any value far above round-off and far below all tolerances gives the same
reports; test_round_off perturbs last bits and expects the same names of errors, which must
stay. Use these functions instead of `sorted`, `argmax` or `argsort` wherever a report names the
largest of several figures.

Floating-point sums differ in their last bits from processor to processor, and so would an order by
size among equals: causes that symmetry makes alike, say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from roboaccord.numerics.arrays import Array

LIKE = 1e-6  # relative: far above round-off, far below all tolerances

Item = TypeVar("Item")


def ranked(
    items: Sequence[Item], size: Callable[[Item], float], slack: float = 0.0, like: float = LIKE
) -> list[Item]:
    """Return items by size, the smallest first; items of like size stay in the given order.

    Args:
        items: in a fixed order.
        size: of an item; may be infinite.
        slack, like: absolute and relative part of the difference up to which sizes are alike.
    """
    sizes = [size(item) for item in items]
    rank, most, ranks = 0, -np.inf, dict[int, int]()
    for i in sorted(range(len(items)), key=sizes.__getitem__):
        if sizes[i] > most:
            rank, most = rank + 1, sizes[i] + like * abs(sizes[i]) + slack
        ranks[i] = rank
    return [items[i] for i in sorted(range(len(items)), key=ranks.__getitem__)]


def descending(values: Array) -> list[int]:
    """Return the indices of values (k,), the largest first; like values stay in order."""
    return ranked(range(len(values)), (-values).tolist().__getitem__)


def first_largest(values: Array) -> int:
    """Return the first flat index of a largest or like value; that of NaN where there is one."""
    if np.isnan(values).any():
        return int(np.argmax(values))
    most = values.max()
    return int(np.argmax(values >= min(most * (1.0 - LIKE), most * (1.0 + LIKE))))
