"""A store of arrays that are expensive to compute, of limited size."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from roboaccord.contract.state import Array

STORED = 400e6  # bytes; columns of the regression of an arm with seven joints take 20e6


class Store:
    """Arrays by what they were computed from; those not asked for longest give room to new ones."""

    def __init__(self) -> None:
        self._arrays, self._bytes = dict[Hashable, Array](), 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._arrays

    def of(self, key: Hashable, make: Callable[[], Array]) -> Array:
        """Return the array of a key, which is made unless it is there."""
        array = self._arrays.pop(key, None)
        if array is None:
            array = make()
            self._bytes += array.nbytes
            while self._arrays and self._bytes > STORED:
                self._bytes -= self._arrays.pop(next(iter(self._arrays))).nbytes
        self._arrays[key] = array
        return array
