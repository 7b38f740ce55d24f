"""Conversion between states of the workspace and coordinates in the plane of the wall.

The wall is the world's y-z plane; x points out of it, to the viewer. In the plane a state is
u = (th1, th2, w1, w2, y, z, vy, vz): the angle of link A from hanging straight down, positive
about x, the elbow's, their rates, and the place and velocity of hand A. It is never flipped,
whichever hand holds (the report's 3.3 flips). `Arm` follows hand B, and brings hands that grip to
rest by a plastic impact, for the engines.

Order and signs of u, the modes and MAGNETS must stay: controllers, engines, kernels, scenarios,
bags and topics use them alike. test_engines compares `Arm.grip` with dense equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

import numpy as np
from roboaccord.contract import Array, RobotState

MAGNET_A, MAGNET_B = "magnet_a", "magnet_b"
MAGNETS = (MAGNET_A, MAGNET_B)
RATES = [6, 7, 2, 3]  # where in a state u the rates of (y, z, th1, th2) are
RANK = 1e-12  # of impulses: two hands that hold one direction leave a singular value below that


class Mode(IntEnum):
    """Modes of the hybrid system: swing on either hand, free flight, or both hands fixed."""

    SWING_A = 0
    SWING_B = 1
    FLIGHT = 2
    FIXED = 3

    @property
    def switches(self) -> dict[str, bool]:
        """The state of the magnets."""
        both = self is Mode.FIXED
        return {MAGNET_A: both or self is Mode.SWING_A, MAGNET_B: both or self is Mode.SWING_B}


SWINGS = (Mode.SWING_A, Mode.SWING_B)
MOVING = (*SWINGS, Mode.FLIGHT)


def mode_of(switches: Mapping[str, bool]) -> Mode:
    """Return the mode that the magnets make."""
    a, b = switches[MAGNET_A], switches[MAGNET_B]
    if a and b:
        return Mode.FIXED
    return Mode.SWING_A if a else Mode.SWING_B if b else Mode.FLIGHT


def pack(state: RobotState) -> Array:
    """Return (th1, th2, w1, w2, y, z, vy, vz) of a state (8,) [rad, rad/s, m, m/s]."""
    x, _, _, w = state.orientation
    th1 = 2.0 * np.arctan2(x, w)
    c, s = np.cos(th1), np.sin(th1)
    _, vy, vz, w1, _, _ = state.twist
    return np.array([
        th1, state.q[0], w1, state.qd[0], *state.position[1:], c * vy - s * vz, s * vy + c * vz,
    ])  # fmt: skip


def unpack(u: Array, *, time: float, effort: Array, mode: Mode) -> RobotState:
    """Return the state of (th1, th2, w1, w2, y, z, vy, vz) (8,); the opposite of `pack`."""
    c, s = np.cos(u[0]), np.sin(u[0])
    return RobotState(
        time=time,
        q=u[1:2].copy(),
        qd=u[3:4].copy(),
        effort=effort,
        position=np.array([0.0, u[4], u[5]]),
        orientation=np.array([np.sin(0.5 * u[0]), 0.0, 0.0, np.cos(0.5 * u[0])]),
        twist=np.array([0.0, c * u[6] + s * u[7], c * u[7] - s * u[6], u[2], 0.0, 0.0]),
        switches=mode.switches,
    )


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
        rows = {MAGNET_A: np.eye(2, 4), MAGNET_B: np.column_stack([np.eye(2), self.jacobian(u)])}
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
