"""Statics of dribbling: the friction that a motion needs, and the fastest turn and acceleration.

The carrier holds the ball between two rollers and rolls it over the ground. In the carrier's frame
the ball's centre is at rest, so forces and moments balance with the ball's acceleration a. With m,
I and r the ball's mass, moment of inertia and radius, p_i the unit vector from its centre to roller
i, N_i the roller's load, f_i its friction (tangential to the ball), and F and N the ground's
friction and normal force, Newton's and Euler's equations of a ball that rolls are

    m a = sum (f_i - N_i p_i) + F + (N - m g) z
    (I/r) z x a = sum r p_i x f_i - r z x F.

f_1 and f_2 have four tangential components, of which the equations fix three: one number remains
free. The share of grip is max |f_i| / (mu N_i), with the free number chosen such that it is as
small as possible. If it is above 1, no friction holds the ball, whatever the rollers do. Below 1
friction can hold it, but does not always: the friction of a slipping roller has the direction of
the slip.

dribble.py and dribblers.py use it. test_roller_dribble_map compares with the balance by hand for a
ball at rest and one that gains speed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from roboaccord.contract import Array
from roller_sphere.model.parameters import RollerSphereParameters

UP = np.array([0.0, 0.0, 1.0])  # unit vector z
# m/s^2 or rad/s; end of the search for a limit, beyond what any robot reaches, at ten times
# gravity.
LARGEST = 100.0
# N; smallest load on the ground, so that a lifting ball causes no division by 0; balls weigh
# newtons.
MIN_LOAD = 1e-9


def ball_acceleration(ahead: float, speed: float, turn_rate: float, gain: float = 0.0) -> Array:
    """Return the ball's acceleration (3,) [m/s^2] in the carrier's frame.

    Args:
        ahead: distance from the carrier's middle forward to the ball [m].
        speed: forward speed of the carrier [m/s].
        turn_rate: constant yaw rate of the carrier [rad/s].
        gain: rate of change of the speed [m/s^2].
    """
    # Forward: gain and centripetal part of the lever `ahead`; sideways: centripetal, omega x v.
    return np.array([gain - turn_rate**2 * ahead, turn_rate * speed, 0.0])


def grip_shares(
    parameters: RollerSphereParameters, mu: float, mu_ground: float, acceleration: Array
) -> tuple[float, float]:
    """Return which shares of the available friction rollers and ground need; above 1 is infeasible.

    Args:
        parameters: of the robot.
        mu, mu_ground: coefficients at the rollers and on the ground.
        acceleration: of the ball (3,) [m/s^2].
    """
    statics = Statics(parameters, mu, mu_ground, acceleration)
    free_number = statics.least(lambda number: statics.shares(number)[0])
    return statics.shares(free_number)


class Statics:
    """Balance of forces and moments on the ball; one number of the friction remains free.

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
        # Put F = sum - f_1 - f_2 into the equation of moments. It becomes a matrix (3, 4) times the
        # tangential components of f_1 and f_2; its solutions are the smallest one, plus any
        # multiple of the direction that the matrix maps to 0.
        tangents = self._tangents
        columns = r * np.cross(normals[:, None], tangents) + r * np.cross(UP, tangents)
        moment = p.ball_inertia / r * np.cross(UP, a) + r * np.cross(UP, self._sum)
        matrix = columns.reshape(4, 3).T
        self._smallest = np.linalg.lstsq(matrix, moment, rcond=None)[0]
        self._free_direction = np.linalg.svd(matrix)[2][-1]

    def shares(self, free_number: float) -> tuple[float, float]:
        """Return the shares of friction at rollers and ground for a free number [N]."""
        forces = (self._smallest + free_number * self._free_direction).reshape(2, 2)
        rollers = float((np.linalg.norm(forces, axis=1) / (self._mu * self.loads)).max())
        ground = self._sum - np.einsum("ij,ijd->d", forces, self._tangents) + self._weight
        limit = self._mu_ground * max(ground[2], MIN_LOAD)
        return rollers, float(np.hypot(*ground[:2]) / limit)

    def least(self, measure: Callable[[float], float]) -> float:
        """Return the free number [N] that minimizes a function of it, such as a share."""
        bound = 2.0 * float(np.abs(self.loads).max() + np.linalg.norm(self._smallest))
        bounds, options = (-bound, bound), {"xatol": 1e-10}
        minimum = scipy.optimize.minimize_scalar(measure, bounds=bounds, options=options)
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
    parameters: RollerSphereParameters,
    mu: float,
    mu_ground: float,
    acceleration: Callable[[float], Array],
) -> float:
    """Return the argument of `acceleration` at which the friction limit is reached.

    0 if friction does not even hold the ball at the argument 0; LARGEST if there is no limit below.
    """

    def excess(argument: float) -> float:
        """Return the larger share of friction, of rollers or ground, less 1: 0 at the limit."""
        return max(grip_shares(parameters, mu, mu_ground, acceleration(argument))) - 1.0

    if excess(0.0) >= 0.0:
        return 0.0
    return float(scipy.optimize.brentq(excess, 0.0, LARGEST)) if excess(LARGEST) > 0.0 else LARGEST
