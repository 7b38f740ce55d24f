"""Speeds of the rollers for a velocity of the ball, and the loops that bring the rollers to them.

A roller's peripheral speed nu is that of its surface. With two rollers a velocity of the ball
determines both speeds, and in most directions the rollers then slip on the ball. Equations (2) and
(22) are those of the paper, Kimura, Ogata and Ishii (2019) (test_roller_driving). BANDWIDTH may be
tuned.
"""

import numpy as np
from roboaccord.contract import Array, check_positive

from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.parameters import RollerSphereParameters
from roller_sphere.model.rig import Rig

BANDWIDTH = 40.0  # rad/s; of the speed loops, well below the 100 that motors of this size reach


def speeds_for(rig: Rig, *, compensation: bool) -> Array:
    """Return K (2, 2) of nu = K (V_x, V_y), the roller speeds for a velocity of the ball.

    With compensation it is the inverse map (22), which takes the slip into account. Without, it is
    nu_i = r <eta_i, w>, equation (2), for a ball that does not turn about z.
    """
    # Columns for (w_x, w_y) = (-V_y, V_x) / r.
    by_spin = Kinematics(rig).driving if compensation else rig.radius * rig.axes[:, :2]
    return np.column_stack([by_spin[:, 1], -by_spin[:, 0]]) / rig.radius


class SpeedLoops:
    """Speed loops of the rollers, proportional and integral.

    The gains place both poles of each loop at the bandwidth. The inertia is that of a roller plus
    that of the ball, which the roller turns.

    Args:
        parameters: of the robot.
        bandwidth: bandwidth of the loops [rad/s].
    """

    def __init__(self, parameters: RollerSphereParameters, bandwidth: float) -> None:
        p = parameters
        check_positive({"bandwidth": bandwidth})
        inertia = p.roller_inertia + p.ball_inertia * (p.roller_radius / p.radius) ** 2
        self._gain = 2.0 * inertia * bandwidth  # N m s/rad
        self._integral_gain = inertia * bandwidth**2  # N m/rad
        self._radius, self._limit = p.roller_radius, p.effort_limit  # m, N m
        self.reset()

    def reset(self) -> None:
        """Forget the run."""
        self._integral = np.zeros(2)  # integral of the error of each rate [rad]
        self._time = 0.0  # time of the last call [s]

    def efforts(self, time: float, rates: Array, nu: Array) -> Array:
        """Return the efforts (2,) [N m] at roller rates (2,) [rad/s] for speeds nu (2,) [m/s]."""
        error = nu / self._radius - rates
        step = time - self._time
        self._time = time
        efforts = self._gain * error + self._integral_gain * (self._integral + error * step)
        # At the effort limit the integral stops, so that it does not wind up.
        is_within = np.abs(efforts) < self._limit
        self._integral = self._integral + np.where(is_within, error * step, 0.0)
        return efforts
