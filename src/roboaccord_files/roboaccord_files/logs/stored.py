"""Keep arrays that the search for causes asks for again, such as columns of the regression."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from roboaccord.contract.state import Array

MOST = 400e6  # bytes that are kept; the columns of an arm with seven joints take 45 MB


@dataclass(frozen=True)
class Stored:
    """Arrays by a key that states what they were computed from.

    Where there is no room, those that were not asked for longest are given up.
    """

    arrays: dict[Hashable, Array] = field(default_factory=dict)

    def get(self, key: Hashable, make: Callable[[], Array]) -> Array:
        """Return the array of a key, made by a function if there is none; it is now the latest."""
        array = self.arrays.pop(key, None)
        if array is None:
            array = make()
            while sum(kept.nbytes for kept in self.arrays.values()) + array.nbytes > MOST:
                del self.arrays[next(iter(self.arrays))]
        self.arrays[key] = array
        return array
