"""Random roundings of a twin's numbers, which measure the effect of round-off on a control tick.

A twin (our equations under an engine's scheme) agrees with its engine up to round-off. How much
that may be is measured by twins whose numbers are changed at random in their last digit: those of
the bodies once (`round_bodies`), those of the mass matrix in each step (`perturbed`).
ROUNDING and the order of the draws are part of the figures of the level `scheme`, and stay
(test_scheme).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract import Acceleration, Array
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

    def round_bodies(self, bodies: TreeDynamics) -> None:
        """Change all numbers of the bodies by random roundings."""
        if self._rng:
            bodies.perturb(self._rng, self._size)

    def draw(self, matrix: Array) -> Array:
        """Return random roundings of a positive definite matrix (m, m); zeros without a seed.

        Entry i, j is relative to the geometric mean of the diagonal entries i and j.
        """
        if not self._rng:
            return np.zeros_like(matrix)
        scale = np.sqrt(np.diag(matrix))
        rounding = self._size * self._rng.uniform(-1.0, 1.0, matrix.shape)
        return np.asarray(rounding * np.outer(scale, scale))

    def perturbed(
        self, exact: Acceleration, mass: Array, axes: Sequence[int], forces: Array | None = None
    ) -> Acceleration:
        """Return the accelerations that the same forces cause under a rounded mass matrix.

        With roundings E of the mass matrix M and e of the forces, accelerations a become
        a - M^-1 (E a + e) to first order.

        Args:
            exact: accelerations a under the mass matrix as it is.
            mass: matrix M (m, m): first the base's components that can change, then the joints.
            axes: components of the base's twist in which it moves.
            forces: sizes of forces that are rounded, too (m,); none by default.
        """
        rounding, moving = self.draw(mass), list(axes)
        components = np.concatenate([exact.base[moving], exact.joints])
        error = rounding @ components
        if forces is not None and self._rng:
            error += self._size * self._rng.uniform(-1.0, 1.0, forces.shape) * forces
        components = components - np.linalg.solve(mass, error)
        base = np.zeros(6)
        base[moving] = components[: len(moving)]
        return Acceleration(base, components[len(moving) :])
