"""Conversion between states of the workspace and coordinates in the plane of the wall.

The robot moves in the world's y-z plane, in front of the wall; x points out of the wall, to the
viewer, and z upwards. In this plane a state is u = (th1, th2, w1, w2, y, z, vy, vz):

    th1       angle of link A from hanging straight down, positive about x [rad]
    th2       angle of the elbow: that of link B relative to link A [rad]
    w1, w2    rates of the two angles [rad/s]
    y, z      position of hand A in the world [m], and vy, vz its velocity in the world [m/s]

A state of the workspace (`RobotState`) has the pose of link A instead, whose origin is hand A, and
its twist in the frame of link A. Here u always starts from hand A, whichever hand holds; the
kernels of `dynamics` start from the hand that holds. `Arm` computes the motion of hand B, and the
plastic impact that brings gripping hands to rest in a physics engine.

The order and signs of u, the modes and MAGNETS must stay: scenarios, bags and topics use them.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

import numpy as np
from roboaccord.contract import Array, RobotState

MAGNET_A, MAGNET_B = "magnet_a", "magnet_b"
MAGNETS = (MAGNET_A, MAGNET_B)
RATES = [6, 7, 2, 3]  # indices in u of the rates of (y, z, th1, th2), the order of `mass_matrix`
# Ratio to the largest singular value below which one counts as 0. Two hands on a straight arm
# constrain its length twice, which leaves one at round-off, about 1e-16.
RANK_TOLERANCE = 1e-12


class Mode(IntEnum):
    """Modes of the hybrid system: swing on either hand, free flight, or both hands fixed."""

    SWING_A = 0
    SWING_B = 1
    FLIGHT = 2
    FIXED = 3

    @property
    def switches(self) -> dict[str, bool]:
        """Which magnets are on, by name."""
        both = self is Mode.FIXED
        return {MAGNET_A: both or self is Mode.SWING_A, MAGNET_B: both or self is Mode.SWING_B}


SWINGS = (Mode.SWING_A, Mode.SWING_B)
MOVING = (*SWINGS, Mode.FLIGHT)


def mode_of(switches: Mapping[str, bool]) -> Mode:
    """Return the mode of the robot for the magnets that are on."""
    a_holds, b_holds = switches[MAGNET_A], switches[MAGNET_B]
    if a_holds:
        return Mode.FIXED if b_holds else Mode.SWING_A
    return Mode.SWING_B if b_holds else Mode.FLIGHT


def pack(state: RobotState) -> Array:
    """Return u of a state: (th1, th2, w1, w2, y, z, vy, vz) (8,) [rad, rad/s, m, m/s].

    The twist's linear part, in the frame of link A, is turned into the world by th1.
    """
    x, _, _, w = state.orientation
    th1 = 2.0 * np.arctan2(x, w)
    c, s = np.cos(th1), np.sin(th1)
    _, vy, vz, w1, _, _ = state.twist
    velocity = c * vy - s * vz, s * vy + c * vz
    return np.array([th1, state.q[0], w1, state.qd[0], *state.position[1:], *velocity])


def unpack(u: Array, *, time: float, effort: Array, mode: Mode) -> RobotState:
    """Return the state of the workspace for u (8,); the inverse of `pack`."""
    c, s = np.cos(u[0]), np.sin(u[0])
    q, qd = u[1:2].copy(), u[3:4].copy()
    position = np.array([0.0, u[4], u[5]])
    orientation = np.array([np.sin(0.5 * u[0]), 0.0, 0.0, np.cos(0.5 * u[0])])
    twist = np.array([0.0, c * u[6] + s * u[7], c * u[7] - s * u[6], u[2], 0.0, 0.0])
    return RobotState(time, q, qd, effort, position, orientation, twist, mode.switches)


class Arm:
    """Compute position, velocity and impacts of hand B from the two angles.

    For states in the frame of hand B, links and hands change places.

    Args:
        length_a, length_b: of the links [m].
    """

    def __init__(self, length_a: float, length_b: float) -> None:
        self._lengths = np.array([length_a, length_b])

    def reach(self, u: Array) -> Array:
        """Return the position (y, z) of hand B relative to hand A (2,) [m]."""
        s, c = self._sines(u)
        return np.array([self._lengths @ s, -(self._lengths @ c)])

    def jacobian(self, u: Array) -> Array:
        """Return the Jacobian of `reach` with respect to (th1, th2) (2, 2) [m]."""
        s, c = self._sines(u)
        # Derivatives of either link's vector by its own angle; th1 turns both links, th2 link B.
        by_a, by_b = self._lengths[:, None] * np.column_stack([c, s])
        return np.column_stack([by_a + by_b, by_b])

    def centripetal(self, u: Array) -> Array:
        """Return the centripetal part of hand B's acceleration relative to hand A (2,) [m/s^2].

        It is the acceleration at constant rates: -l1 w1^2 e1 - l2 (w1 + w2)^2 e2, where e1 and e2
        point along the links, away from hand A.
        """
        s, c = self._sines(u)
        centripetal = self._lengths * np.array([u[2], u[2] + u[3]]) ** 2
        return np.array([-(centripetal @ s), centripetal @ c])

    def grip(self, u: Array, mass: Array, held: Sequence[str]) -> tuple[Array, dict[str, float]]:
        """Bring the held hands to rest by a plastic impact: w+ = (1 - M^-1 J' (J M^-1 J')^-1 J) w-.

        J maps the rates w of (y, z, th1, th2) to the velocities of the held hands.

        Args:
            u: state before the impact (8,).
            mass: M, mass matrix of (y, z, th1, th2) with no hand held (4, 4).
            held: the magnets that hold after the impact.

        Returns:
            the state after the impact (8,), and the size of the impulse on each held hand [N s].
        """
        rows = {MAGNET_A: np.eye(2, 4), MAGNET_B: np.column_stack([np.eye(2), self.jacobian(u)])}
        J = np.concatenate([rows[name] for name in held])
        response = np.linalg.solve(mass, J.T)
        # A pseudo-inverse, because J has dependent rows where both hands hold a straight arm.
        impulse = -np.linalg.pinv(J @ response, RANK_TOLERANCE, hermitian=True) @ (J @ u[RATES])
        after = u.copy()
        after[RATES] += response @ impulse
        sizes = np.linalg.norm(impulse.reshape(-1, 2), axis=1)
        return after, dict(zip(held, sizes.tolist(), strict=True))

    def _sines(self, u: Array) -> tuple[Array, Array]:
        """Return sines and cosines of the links' angles from hanging down, A and B, each (2,)."""
        angles = np.array([u[0], u[0] + u[1]])
        return np.sin(angles), np.cos(angles)
