"""Motion of a base in the plane from its coordinates."""

from __future__ import annotations

import math

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import yaw_quaternion


def planar_motion(
    pose: list[float], rates: list[float], height: float
) -> tuple[Array, Array, Array]:
    """Return position, orientation x y z w and twist in its own axes of a base in the plane.

    Args:
        pose: x, y [m] and yaw [rad].
        rates: of these.
        height: z [m].
    """
    x, y, yaw = pose
    vx, vy, rate = rates
    c, s = math.cos(yaw), math.sin(yaw)
    twist = np.array([c * vx + s * vy, c * vy - s * vx, 0.0, 0.0, 0.0, rate])
    return np.array([x, y, height]), yaw_quaternion(yaw), twist
