"""Nodes: a few times of a window at which a function is evaluated, and interpolated between.

Derivatives of the equations along a recorded motion cost most of the time of a check, and change
slowly. They are therefore evaluated at the nodes of each window alone (response.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array


@dataclass(frozen=True)
class Nodes:
    """The m nodes of each of w windows, and the weights of the interpolation between them.

    Args:
        index: numbers of the nodes among the times of a window (m,).
        weights: of the values at the nodes, for each time of a window (w, times, m).
    """

    index: NDArray[np.intp]
    weights: Array

    @classmethod
    def of(cls, times: Array, count: int) -> Nodes:
        """Return Chebyshev points among the times of each window, which are denser at the ends.

        The interpolation is barycentric: f(t) = sum_j w_j f_j / (t - t_j) over
        sum_j w_j / (t - t_j), with w_j = 1 / prod_i (t_j - t_i) [Berrut and Trefethen 2004].

        Args:
            times: of each window (w, times) [s].
            count: number of nodes; all times if there are fewer.
        """
        last = times.shape[1] - 1
        positions = np.arange(last + 1.0)
        if count <= last:
            positions = 0.5 * last * (1.0 - np.cos(np.linspace(0.0, np.pi, count)))
        index = np.unique(np.round(positions)).astype(int)
        # Factors of the nodes; by a quarter of the span products neither over- nor underflow.
        node_times, identity = times[:, index], np.eye(len(index))
        between = node_times[:, :, None] - node_times[:, None, :] + identity
        span = 0.25 * np.ptp(times, axis=1)[:, None, None]
        factors = 1.0 / (np.where(identity, 1.0, between / span)).prod(axis=2)
        # Terms of the sums; at a node itself its value alone counts.
        distance = (times[:, :, None] - node_times[:, None, :]) / span
        is_node = distance == 0.0
        terms = factors[:, None] / np.where(is_node, 1.0, distance)
        terms = np.where(is_node.any(axis=2, keepdims=True), is_node, terms)
        return cls(index, terms / terms.sum(axis=2, keepdims=True))

    def interpolated(self, values: Array) -> Array:
        """Return values at nodes (w m, ...) interpolated at all times (w times, ...)."""
        w, times, m = self.weights.shape
        rows = self.weights @ values.reshape(w, m, -1)
        return np.asarray(rows.reshape(w * times, *values.shape[1:]))
