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

from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array
from roboaccord.description.dynamics import TreeDynamics

ROUNDING = 2.0**-52  # relative: distance from 1 to the next number of double precision


class Roundings:
    """Draw roundings; without a seed there are none.

    Args:
        seed: seed of the random numbers; 0 for no roundings.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed) if seed else None

    def __bool__(self) -> bool:
        """Whether anything is rounded."""
        return self._rng is not None

    def round_bodies(self, bodies: TreeDynamics) -> None:
        """Change all numbers of the bodies by random roundings."""
        if self._rng:
            bodies.perturb(self._rng, ROUNDING)

    def draw(self, matrix: Array) -> Array:
        """Return random roundings of a positive definite matrix (m, m); zeros without a seed.

        Entry i, j is relative to the geometric mean of the diagonal entries i and j.
        """
        if not self._rng:
            return np.zeros_like(matrix)
        scale = np.sqrt(np.diag(matrix))
        rounding = ROUNDING * self._rng.uniform(-1.0, 1.0, matrix.shape)
        return np.asarray(rounding * np.outer(scale, scale))

    def perturbed(self, exact: Acceleration, mass: Array, axes: Sequence[int]) -> Acceleration:
        """Return the accelerations that the same forces cause under a rounded mass matrix.

        With a rounding E of the mass matrix M, accelerations a become a - M^-1 E a to first order.

        Args:
            exact: accelerations a under the mass matrix as it is.
            mass: matrix M (m, m): first the base's components that can change, then the joints.
            axes: components of the base's twist in which it moves.
        """
        rounding, moving = self.draw(mass), list(axes)
        components = np.concatenate([exact.base[moving], exact.joints])
        components = components - np.linalg.solve(mass, rounding @ components)
        base = np.zeros(6)
        base[moving] = components[: len(moving)]
        return Acceleration(base, components[len(moving) :])
