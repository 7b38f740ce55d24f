"""Random roundings of a twin's numbers, which measure the effect of round-off on a tick.

A twin (our equations under an engine's scheme) agrees with its engine up to round-off. How much
that may be is measured by twins whose numbers are changed at random in their last digit. ROUNDING
and the order of the draws are part of the figures of the level scheme (test_scheme), and stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array
from roboaccord.description.dynamics import TreeDynamics

ROUNDING = 2.0**-52  # relative: distance from 1 to the next number of double precision


class Roundings:
    """Draw roundings; without a seed there are none.

    Args:
        seed: seed of the random numbers; 0 for no roundings.
        size: largest relative rounding.
    """

    def __init__(self, seed: int, size: float = ROUNDING) -> None:
        self._size = size
        self._rng = np.random.default_rng(seed) if seed else None

    def __bool__(self) -> bool:
        """Whether anything is rounded."""
        return self._rng is not None

    def shake(self, bodies: TreeDynamics) -> None:
        """Change all numbers of the bodies by random roundings."""
        if self._rng:
            bodies.shake(self._rng, self._size)

    def of_matrix(self, matrix: Array) -> Array:
        """Return random roundings of a positive definite matrix (m, m); zeros without a seed.

        Entry i, j is relative to the geometric mean of the diagonal entries i and j.
        """
        if not self._rng:
            return np.zeros_like(matrix)
        scale = np.sqrt(np.diag(matrix))
        error = self._size * self._rng.uniform(-1.0, 1.0, matrix.shape)
        return np.asarray(error * np.outer(scale, scale))

    def solve_again(
        self, exact: Acceleration, mass: Array, axes: Sequence[int], forces: Array | None = None
    ) -> Acceleration:
        """Return the accelerations that the same forces cause under a rounded mass matrix.

        With an error E of M and an error e of the forces, to first order: a - M^-1 (E a - e).

        Args:
            exact: accelerations under the mass matrix as it is.
            mass: matrix (m, m).
            axes: components of the base's twist in which it moves.
            forces: sizes of the forces that are rounded (m,); none by default.
        """
        error, moving = self.of_matrix(mass), list(axes)
        rates = np.concatenate([exact.base[moving], exact.joints])
        errors = error @ rates
        if forces is not None and self._rng:
            errors -= self._size * self._rng.uniform(-1.0, 1.0, forces.shape) * forces
        rates = rates - np.linalg.solve(mass, errors)
        base = np.zeros(6)
        base[moving], joints = rates[: len(axes)], rates[len(axes) :]
        return Acceleration(base, joints)
