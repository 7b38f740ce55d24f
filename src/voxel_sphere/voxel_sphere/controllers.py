"""Controllers of the ball: angular velocities for the kinematic one, torques for the heavy one.

The law w = z x v / r is fixed; the bandwidth of 10 rad/s may be tuned, a key of the scenario like
all arguments. A controller of your own returns a Command with a `twist` for the kinematic ball or a
`wrench` for the heavy one (test_voxel_robot: each must refuse the other's), and is entered in
robot.py.

A wanted velocity v in the plane asks for the angular velocity w = z x v / r.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target, check_positive
from roboaccord.contract import results as si
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup

NO_EFFORT = np.zeros(0)
UP = np.array([0.0, 0.0, 1.0])


def spin_of(velocity: Array, radius: float) -> Array:
    """Return the angular velocity (3,) [rad/s] that rolls on a plane with a velocity (2,) [m/s]."""
    return np.cross(UP, [*velocity, 0.0]) / radius


class RollController:
    """Give the angular velocity of the kinematic ball, in the world: constant, or by a script.

    A target takes its place as soon as there is one: its linear x and y are a velocity.

    Args:
        setup: robot and scenario.
        wx, wy, wz: angular velocity.
        script: rows [duration [s], wx, wy, wz], one after the other; the last one is held.
    """

    def __init__(
        self,
        setup: Setup,
        wx: si.RadiansPerSecond = 0.0,
        wy: si.RadiansPerSecond = 0.0,
        wz: si.RadiansPerSecond = 0.0,
        script: Sequence[Sequence[float]] = (),
    ) -> None:
        rows = np.array(script or [[math.inf, wx, wy, wz]], dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 4 or not (rows[:, 0] > 0).all():
            raise ValueError("script is rows of a duration above 0 and three rates")
        if not np.isfinite(rows[:, 1:]).all():
            raise ValueError("angular velocities must be finite")
        self._ends, self._rates = np.cumsum(rows[:, 0]), rows[:, 1:]
        self._radius: float = setup.parameters.radius

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the angular velocity of the time, or of the target."""
        if target is not None:
            spin = spin_of(target.twist[:2], self._radius)
        else:
            # A round-off before the end of a row is its end.
            row = int(np.searchsorted(self._ends, state.time + 1e-9, side="right"))
            spin = self._rates[min(row, len(self._rates) - 1)]
        return Command(NO_EFFORT, twist=np.concatenate([np.zeros(3), spin]))


class DriveController:
    """Drive the heavy ball by a torque: a loop on its angular velocity.

    Args:
        setup: robot and scenario.
        vx, vy: velocity wanted while there is no target.
        bandwidth: of the loop, the ball's own inertia and its rolling mass taken together.
    """

    def __init__(
        self,
        setup: Setup,
        vx: si.MetresPerSecond = 0.0,
        vy: si.MetresPerSecond = 0.0,
        bandwidth: si.RadiansPerSecond = 10.0,
    ) -> None:
        p = setup.parameters
        check_positive({"bandwidth": bandwidth})
        self._wanted, self._radius = np.array([vx, vy]), p.radius
        # About the contact the ball has I + m r^2.
        self._gain = bandwidth * (p.inertia + p.mass * p.radius**2)
        self._limit = p.torque_limit

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque towards the angular velocity wanted, its size limited."""
        wanted = self._wanted if target is None else target.twist[:2]
        spin = quaternion_matrix(state.orientation) @ state.twist[3:]
        torque = self._gain * (spin_of(wanted, self._radius) - spin)
        size = float(np.linalg.norm(torque))
        if size > self._limit:
            torque *= self._limit / size
        return Command(NO_EFFORT, wrench=np.concatenate([np.zeros(3), torque]))
