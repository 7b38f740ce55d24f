"""Statics of dribbling: the friction that a motion needs, and limits of turn rate and acceleration.

In the carrier's frame the ball is at rest. With an acceleration a of the ball, its rolling, the
loads N_i of the rollers and forces f_i tangential to the ball,

    m a = sum (f_i - N_i p_i) + F + (N - m g) z
    (I/r) z x a = sum r p_i x f_i - r z x F

F and N being the ground's. That leaves one of the four numbers of f_1 and f_2 free. The share of
grip is the least possible max |f_i| / (mu N_i): above 1 no friction holds the ball, whatever the
rollers do. Below it something may: rollers that slip have their friction along the slip alone.

dribble.py and dribblers.py use it. test_roller_dribble_map tests the balance by hand for a ball at
rest and one that gains speed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from roboaccord.contract import Array
from roller_sphere.model.parameters import RollerSphereParameters

UP = np.array([0.0, 0.0, 1.0])
LARGEST = 100.0  # m/s^2 or rad/s, beyond any dribbler: ends the search for a limit
NO_LOAD = 1e-9  # N, so that a ball that lifts off is no division by 0


def ball_acceleration(ahead: float, speed: float, turn_rate: float, gain: float = 0.0) -> Array:
    """Return the ball's acceleration (3,) [m/s^2] in the carrier's frame.

    Args:
        ahead: from the carrier's middle to the ball [m].
        speed: of the carrier, forward [m/s].
        turn_rate: [rad/s], constant.
        gain: of speed [m/s^2].
    """
    return np.array([gain - turn_rate**2 * ahead, turn_rate * speed, 0.0])


def grip_shares(
    parameters: RollerSphereParameters, mu: float, mu_ground: float, acceleration: Array
) -> tuple[float, float]:
    """Return the shares of friction that are needed at rollers and ground; above 1 is infeasible.

    Args:
        parameters: of the robot.
        mu, mu_ground: coefficients at the rollers and on the ground.
        acceleration: of the ball (3,) [m/s^2].
    """
    statics = Statics(parameters, mu, mu_ground, acceleration)
    amount = statics.least(lambda amount: statics.shares(amount)[0])
    return statics.shares(amount)


class Statics:
    """Forces and moments of a ball at rest in the carrier; one number of the friction is free.

    Args:
        parameters: of the robot.
        mu, mu_ground: coefficients at the rollers and on the ground.
        acceleration: of the ball (3,) [m/s^2].

    Attributes:
        loads: of both rollers (2,) [N].
    """

    def __init__(
        self, parameters: RollerSphereParameters, mu: float, mu_ground: float, acceleration: Array
    ) -> None:
        p, a = parameters, acceleration
        normals, r = p.rig.normals, p.radius
        pressed_mass = p.roller_mass + p.holder_mass
        self.loads = p.press_force + pressed_mass * (normals @ (a + p.gravity * UP))
        self._mu, self._mu_ground = mu, mu_ground
        self._weight = p.ball_mass * p.gravity * UP
        self._tangents = np.stack([p.rig.across, p.rig.along], axis=1)  # (2, 2, 3)
        # Sum of f_1, f_2, F and (N - m g) z (3,) [N].
        self._sum = p.ball_mass * a + self.loads @ normals
        # Moments with F = sum - f_1 - f_2 in the plane: a matrix (3, 4) times the tangential parts
        # of f_1 and f_2. Of their four numbers the least solution and one free direction remain.
        columns = [
            r * np.cross(normals[i], t) + r * np.cross(UP, t)
            for i in (0, 1)
            for t in self._tangents[i]
        ]
        moment = p.ball_inertia / r * np.cross(UP, a) + r * np.cross(UP, self._sum)
        matrix = np.column_stack(columns)
        self._smallest = np.linalg.lstsq(matrix, moment, rcond=None)[0]
        self._free_direction = np.linalg.svd(matrix)[2][-1]

    def shares(self, amount: float) -> tuple[float, float]:
        """Return the shares of friction at rollers and ground, by the free number [N]."""
        forces = (self._smallest + amount * self._free_direction).reshape(2, 2)
        rollers = float((np.linalg.norm(forces, axis=1) / (self._mu * self.loads)).max())
        ground = self._sum - np.einsum("ij,ijd->d", forces, self._tangents) + self._weight
        limit = self._mu_ground * max(ground[2], NO_LOAD)
        return rollers, float(np.hypot(*ground[:2]) / limit)

    def least(self, measure: Callable[[float], float]) -> float:
        """Return the free number [N] at which a measure of the shares is least."""
        bound = float(np.abs(self.loads).max() + np.linalg.norm(self._smallest))
        minimum = scipy.optimize.minimize_scalar(
            measure, bounds=(-2 * bound, 2 * bound), options={"xatol": 1e-10}
        )
        return float(minimum.x)


def largest_turn_rate(
    parameters: RollerSphereParameters, mu: float, mu_ground: float, speed: float
) -> float:
    """Return the turn rate at which the friction limit is reached at a speed [rad/s]."""
    ahead = parameters.ball_ahead
    return _limit(parameters, mu, mu_ground, lambda rate: ball_acceleration(ahead, speed, rate))


def largest_gain(
    parameters: RollerSphereParameters, mu: float, mu_ground: float, sign: float = 1.0
) -> float:
    """Return the acceleration ahead at the friction limit, or with sign -1 the braking [m/s^2]."""
    ahead = parameters.ball_ahead
    return _limit(
        parameters, mu, mu_ground, lambda gain: ball_acceleration(ahead, 0.0, 0.0, sign * gain)
    )


def _limit(
    parameters: RollerSphereParameters, mu: float, mu_ground: float,
    acceleration: Callable[[float], Array],
) -> float:  # fmt: skip
    """Return the argument at which an acceleration reaches the friction limit, or 0 beyond it."""

    def excess(argument: float) -> float:
        """Return the share of the rollers or the ground, the larger one, less 1."""
        return max(grip_shares(parameters, mu, mu_ground, acceleration(argument))) - 1.0

    if excess(0.0) >= 0.0:
        return 0.0
    return float(scipy.optimize.brentq(excess, 0.0, LARGEST)) if excess(LARGEST) > 0.0 else LARGEST
