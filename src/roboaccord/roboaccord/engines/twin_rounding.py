"""Round-off of a twin: random roundings of its numbers, to measure what they do to a tick.

Nothing here may be tuned: ROUNDING is a property of double precision, and the order of draws is
part of the figures of the level scheme (test_scheme).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array
from roboaccord.description.dynamics import TreeDynamics

ROUNDING = 2.0**-52  # distance from 1 to the next double


class Roundings:
    """Draw roundings; without a seed there are none.

    Args:
        seed: of the draws; 0 for no roundings.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed) if seed else None

    def __bool__(self) -> bool:
        """Whether anything is rounded."""
        return self._rng is not None

    def shake(self, bodies: TreeDynamics) -> None:
        """Round all numbers of the bodies."""
        if self._rng:
            bodies.shake(self._rng, ROUNDING)

    def of(self, matrix: Array) -> Array:
        """Return what to add to a positive definite matrix (m, m); zeros without a seed."""
        if not self._rng:
            return np.zeros_like(matrix)
        size = np.sqrt(np.diag(matrix))
        error = ROUNDING * self._rng.uniform(-1.0, 1.0, matrix.shape)
        return np.asarray(error * np.outer(size, size))

    def solve_again(self, exact: Acceleration, mass: Array, axes: Sequence[int]) -> Acceleration:
        """Return the accelerations by the same forces under a rounded mass matrix.

        Args:
            exact: accelerations under the mass matrix as it is.
            mass: matrix (m, m).
            axes: components of the base's twist in which it moves.
        """
        error, moving = self.of(mass), list(axes)
        whole = np.concatenate([exact.base[moving], exact.joints])
        whole = whole - np.linalg.solve(mass, error @ whole)
        base = np.zeros(6)
        base[moving], joints = whole[: len(axes)], whole[len(axes) :]
        return Acceleration(base, joints)
