"""Search tree of RRT-Connect."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Array


class SearchTree:
    """Hold nodes (n, 7) [rad] and their parents."""

    def __init__(self, root: Array) -> None:
        self._nodes = np.tile(root, (64, 1))
        self._parents = [-1]

    def __getitem__(self, i: int) -> Array:
        return np.asarray(self._nodes[i])

    @property
    def nodes(self) -> Array:
        """All nodes (n, 7) [rad]."""
        return self._nodes[: len(self._parents)]

    def add(self, q: Array, parent: int) -> int:
        count = len(self._parents)
        if count == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
        self._nodes[count] = q
        self._parents.append(parent)
        return count

    def nearest(self, q: Array, weights: Array) -> int:
        """Return the node nearest to q."""
        return int((np.abs(self.nodes - q) @ weights).argmin())

    def parent(self, i: int) -> int:
        """Return the node from which node `i` was come to; -1 of the root."""
        return self._parents[i]

    def way(self, i: int) -> list[Array]:
        """Return the path from the root to node `i`."""
        back = []
        while i >= 0:
            back.append(self[i])
            i = self._parents[i]
        return back[::-1]
