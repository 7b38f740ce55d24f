"""Controllers of the ball: angular velocities for the kinematic one, torques for the heavy one.

In each control step the loop of a run calls `update` with the state and, if an operator steers, a
target, and passes the returned Command to the simulator. To roll on a plane with a velocity v, a
ball of radius r needs the angular velocity w = z x v / r. RollController commands it, or a script
of angular velocities, to the kinematic ball. DriveController controls it by a torque on the heavy
ball.

Arguments are keys of a scenario. A controller of your own returns a Command with a `twist` for the
kinematic ball or a `wrench` for the heavy one, and is entered in robot.py; test_voxel_robot shows
that each ball refuses the other's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target, check_positive
from roboaccord.contract import results as si
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup

NO_EFFORT = np.zeros(0)  # the ball has no joints
# s; a time this close before the end of a row counts as its end: above round-off, 1e-14 s of times
# up to 100 s, and far below a control period
END_OF_ROW = 1e-9
# Types of arguments: a speed, an angular velocity, and rows of a duration and three rates.
Speed = si.MetresPerSecond
Rate = si.RadiansPerSecond
Script = Sequence[Sequence[float]]
UP = np.array([0.0, 0.0, 1.0])  # unit vector of the z axis


def spin_of(velocity: Array, radius: float) -> Array:
    """Return the angular velocity (3,) [rad/s] that rolls on a plane with a velocity (2,) [m/s]."""
    return np.cross(UP, [*velocity, 0.0]) / radius


class RollController:
    """Angular velocity of the kinematic ball in the world frame: constant, or by a script.

    A target replaces it: its linear x and y are the velocity to roll with.

    Args:
        setup: robot and scenario.
        wx, wy, wz: angular velocity.
        script: rows [duration [s], wx, wy, wz], one after the other; the last one stays.
    """

    def __init__(
        self, setup: Setup, wx: Rate = 0.0, wy: Rate = 0.0, wz: Rate = 0.0, script: Script = ()
    ) -> None:
        rows = np.array(script or [[math.inf, wx, wy, wz]], dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 4 or not (rows[:, 0] > 0).all():
            raise ValueError("script is rows of a duration above 0 and three rates")
        if not np.isfinite(rows[:, 1:]).all():
            raise ValueError("angular velocities must be finite")
        self._ends = np.cumsum(rows[:, 0])  # of the rows (k,) [s]
        self._rates = rows[:, 1:]  # (k, 3) [rad/s]
        self._radius: float = setup.parameters.radius

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the angular velocity of the target, or of the script at this time."""
        if target is not None:
            spin = spin_of(target.twist[:2], self._radius)
        else:
            row = int(np.searchsorted(self._ends, state.time + END_OF_ROW, side="right"))
            spin = self._rates[min(row, len(self._rates) - 1)]
        return Command(NO_EFFORT, twist=np.concatenate([np.zeros(3), spin]))


class DriveController:
    """Torque on the heavy ball: a proportional loop on its angular velocity.

    Args:
        setup: robot and scenario.
        vx, vy: velocity wanted while there is no target.
        bandwidth: bandwidth of the loop, by the inertia about the contact, I + m r^2.
    """

    def __init__(
        self, setup: Setup, vx: Speed = 0.0, vy: Speed = 0.0, bandwidth: Rate = 10.0
    ) -> None:
        p = setup.parameters
        check_positive({"bandwidth": bandwidth})
        self._velocity = np.array([vx, vy])  # without a target [m/s]
        self._radius = p.radius
        self._gain = bandwidth * (p.inertia + p.mass * p.radius**2)  # N m s
        self._limit = p.torque_limit

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque towards the wanted angular velocity, its size limited."""
        velocity = self._velocity if target is None else target.twist[:2]
        spin = quaternion_matrix(state.orientation) @ state.twist[3:]
        torque = self._gain * (spin_of(velocity, self._radius) - spin)
        size = float(np.linalg.norm(torque))
        if size > self._limit:
            torque *= self._limit / size
        return Command(NO_EFFORT, wrench=np.concatenate([np.zeros(3), torque]))
