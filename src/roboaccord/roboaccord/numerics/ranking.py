"""Sorting by size that does not depend on round-off: nearly equal items stay in the given order.

Floating-point sums differ in their last bits between processors, and so would an order by size of
items that are equal but for round-off, such as causes that symmetry makes alike. Reports that name
the largest of several figures therefore use `ranked`, `descending` and `first_largest` instead of
`sorted`, `argsort` and `argmax` (test_round_off perturbs last bits, and expects the same names).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from roboaccord.numerics.arrays import Array

# Relative difference up to which sizes count as equal: far above round-off, far below all
# tolerances. Other values between these lead to the same reports.
LIKE = 1e-6

Item = TypeVar("Item")


def ranked(
    items: Sequence[Item], size: Callable[[Item], float], slack: float = 0.0, like: float = LIKE
) -> list[Item]:
    """Return items by size, the smallest first; items of nearly equal size stay in their order.

    Args:
        items: in a fixed order.
        size: returns the size of an item, which may be infinite.
        slack, like: absolute and relative difference up to which sizes count as equal.
    """
    sizes = [size(item) for item in items]
    # A size begins a new rank if it exceeds the first size of the current rank by more than that.
    rank, end_of_rank, ranks = 0, -np.inf, dict[int, int]()
    for i in sorted(range(len(items)), key=sizes.__getitem__):
        if sizes[i] > end_of_rank:
            rank, end_of_rank = rank + 1, sizes[i] + like * abs(sizes[i]) + slack
        ranks[i] = rank
    return [items[i] for i in sorted(range(len(items)), key=ranks.__getitem__)]


def descending(values: Array) -> list[int]:
    """Return the indices of values (k,), the largest first; nearly equal ones stay in order."""
    return ranked(range(len(values)), (-values).tolist().__getitem__)


def first_largest(values: Array) -> int:
    """Return the first flat index of a value that is nearly the largest, or of NaN if any is."""
    if np.isnan(values).any():
        return int(np.argmax(values))
    largest = values.max()
    return int(np.argmax(values >= min(largest * (1.0 - LIKE), largest * (1.0 + LIKE))))
