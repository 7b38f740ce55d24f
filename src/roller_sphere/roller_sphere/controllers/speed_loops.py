"""Speeds of the rollers for a velocity of the ball, and the loops that bring them to these speeds.

Equations (2) and (22) are the paper's (test_roller_driving). BANDWIDTH may be tuned.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, check_positive

from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.parameters import RollerSphereParameters
from roller_sphere.model.rig import Rig

BANDWIDTH = 40.0  # rad/s of the speed loops, well below the 100 that motors of this size reach


def speeds_for(rig: Rig, *, compensation: bool) -> Array:
    """Return K of nu = K (V_x, V_y), the roller speeds for a velocity of the ball (2, 2).

    With compensation it is the inverse map (22), which knows the slip. Without, it is
    (2) nu_i = r <eta_i, w> for a ball that does not turn about z.
    """
    # By (w_x, w_y), which is (-V_y, V_x) / r.
    by_spin = Kinematics(rig).driving if compensation else rig.radius * rig.axes[:, :2]
    return np.column_stack([by_spin[:, 1], -by_spin[:, 0]]) / rig.radius


class SpeedLoops:
    """Speed loops of the rollers, proportional and integral.

    The gains place both poles at the bandwidth, for the inertia of a roller with that of the ball
    which it turns.

    Args:
        parameters: of the robot.
        bandwidth: [rad/s].
    """

    def __init__(self, parameters: RollerSphereParameters, bandwidth: float) -> None:
        p = parameters
        check_positive({"bandwidth": bandwidth})
        inertia = p.roller_inertia + p.ball_inertia * (p.roller_radius / p.radius) ** 2
        self._gain, self._integral_gain = 2.0 * inertia * bandwidth, inertia * bandwidth**2
        self._radius, self._limit = p.roller_radius, p.effort_limit
        self.reset()

    def reset(self) -> None:
        """Forget the run."""
        self._integral = np.zeros(2)  # of the error of each rate [rad]
        self._time = 0.0  # of the last call [s]

    def efforts(self, time: float, rates: Array, nu: Array) -> Array:
        """Return the efforts (2,) [N m] at roller rates (2,) [rad/s] for speeds nu (2,) [m/s]."""
        error = nu / self._radius - rates
        step, self._time = time - self._time, time
        efforts = self._gain * error + self._integral_gain * (self._integral + error * step)
        free = np.abs(efforts) < self._limit  # at the limit the integral does not wind up
        self._integral = self._integral + np.where(free, error * step, 0.0)
        return efforts
