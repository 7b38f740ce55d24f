"""A store of arrays that are expensive to compute, of limited size.

predicted.py and acting.py keep in it what the efforts and errors of a robot do to the positions of
a log. Keys are tuples of all that an array was computed from. When the store is full, the arrays
that were not asked for longest are removed; they are computed again when they are needed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from roboaccord.contract.state import Array

LARGEST_SIZE = 400e6  # bytes; columns of the regression of an arm with seven joints take 20e6


class Store(OrderedDict[Hashable, Array]):
    """Arrays by what they were computed from, those asked for last at the end."""

    def computed(self, key: Hashable, compute: Callable[[], Array]) -> Array:
        """Return the array of a key, which is computed unless it is there."""
        if key not in self:
            self[key] = compute()
        return self[key]

    def __getitem__(self, key: Hashable) -> Array:
        """Return the array of a key, which becomes the last."""
        self.move_to_end(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Hashable, array: Array) -> None:
        """Add an array, in place of the first ones if there is no room."""
        super().__setitem__(key, array)
        while len(self) > 1 and sum(stored.nbytes for stored in self.values()) > LARGEST_SIZE:
            self.popitem(last=False)
