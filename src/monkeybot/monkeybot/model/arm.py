"""Kinematics of hand B relative to hand A, and the plastic impact of a gripping hand.

Made for the engines, from dense matrices, and so independent of the reference's `dynamics`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from roboaccord.contract import Array

from monkeybot.model.coordinates import MAGNET_A, MAGNET_B

RANK = 1e-12  # of impulses: two hands that hold one direction leave a singular value below that
RATES = [6, 7, 2, 3]  # of (y, z, th1, th2) in a state u of `coordinates`


class Arm:
    """Follow hand B by the two angles, in the plane of the wall.

    Args:
        length_a, length_b: of the links [m].
    """

    def __init__(self, length_a: float, length_b: float) -> None:
        self._lengths = np.array([length_a, length_b])

    def reach(self, u: Array) -> Array:
        """Return the place of hand B from hand A (2,) [m]."""
        s, c = self._sines(u)
        return np.array([self._lengths @ s, -(self._lengths @ c)])

    def jacobian(self, u: Array) -> Array:
        """Return the derivative of `reach` by th1 and th2 (2, 2) [m]."""
        s, c = self._sines(u)
        a, b = (length * np.array([c[i], s[i]]) for i, length in enumerate(self._lengths))
        return np.column_stack([a + b, b])

    def turning(self, u: Array) -> Array:
        """Return the acceleration of hand B from hand A at constant rates (2,) [m/s^2]."""
        s, c = self._sines(u)
        pull = self._lengths * np.array([u[2], u[2] + u[3]]) ** 2
        return np.array([-(pull @ s), pull @ c])

    def grip(self, u: Array, mass: Array, held: Sequence[str]) -> tuple[Array, dict[str, float]]:
        """Bring the hands that hold to rest: w+ = (1 - M^-1 J' (J M^-1 J')^-1 J) w-.

        Args:
            u: state (8,).
            mass: M, of (y, z, th1, th2) with nothing held (4, 4).
            held: the magnets that hold after the impact.

        Returns:
            the state after it (8,), and the size of the impulse on each of the hands [N s].
        """
        rows = {
            MAGNET_A: np.eye(2, 4),
            MAGNET_B: np.column_stack([np.eye(2), self.jacobian(u)]),
        }
        J = np.concatenate([rows[name] for name in held])
        give = np.linalg.solve(mass, J.T)
        # A pseudo-inverse, since two hands on a straight arm hold one direction twice.
        impulse = -np.linalg.pinv(J @ give, RANK, hermitian=True) @ (J @ u[RATES])
        after = u.copy()
        after[RATES] += give @ impulse
        sizes = np.linalg.norm(impulse.reshape(-1, 2), axis=1)
        return after, dict(zip(held, sizes.tolist(), strict=True))

    def _sines(self, u: Array) -> tuple[Array, Array]:
        angles = np.array([u[0], u[0] + u[1]])
        return np.sin(angles), np.cos(angles)
