"""Rotations as matrices, quaternions and rotation vectors, and the cross product as a kernel.

Conventions are fixed: quaternions are x y z w, as in ROS; roll, pitch and yaw turn about fixed
axes, as in URDF; angles are in radians; matrices rotate column vectors. Names have the argument
first and the result last: `quaternion_matrix` returns the matrix of a quaternion, and
`turn_quaternion` the quaternion of a turn, which is a rotation vector (axis times angle). Formulas
are the usual ones [Shuster, A survey of attitude representations, 1993], unless a docstring names
another source.

Conversions may be added here. The order of operations stays: hashes of runs depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from roboaccord.numerics.arrays import Array
from roboaccord.numerics.jit import kernel

# Directions count as opposite if 1 plus the cosine of the angle between them is smaller: 1e-6 rad
# from opposite, where round-off changes the axis of the rotation by 1e-10.
OPPOSITE = 1e-12


def yaw_quaternion(yaw: float) -> Array:
    """Return the quaternion x y z w (4,) of a turn by `yaw` [rad] about z."""
    return np.array([0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)])


def rpy_quaternion(roll: float, pitch: float, yaw: float) -> Array:
    """Return the quaternion x y z w (4,) of URDF's fixed-axis roll, pitch, yaw [rad]."""
    cr, cp, cy = (math.cos(0.5 * angle) for angle in (roll, pitch, yaw))
    sr, sp, sy = (math.sin(0.5 * angle) for angle in (roll, pitch, yaw))
    x = sr * cp * cy - cr * sp * sy
    y = cr * sp * cy + sr * cp * sy
    z = cr * cp * sy - sr * sp * cy
    w = cr * cp * cy + sr * sp * sy
    return np.array([x, y, z, w])


def yaw_matrix(yaw: float) -> Array:
    """Return the rotation matrix (3, 3) of a turn by `yaw` [rad] about z."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def quaternion_yaw(q: Array) -> float:
    """Return the heading [rad] in (-pi, pi] of a quaternion x y z w (4,)."""
    x, y, z, w = q
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def quaternion_rpy(q: Array) -> tuple[float, float, float]:
    """Return URDF's fixed-axis roll, pitch, yaw [rad] of a quaternion x y z w (4,)."""
    return matrix_rpy(quaternion_matrix(q))


def quaternion_matrix(q: Array) -> Array:
    """Return the rotation matrices (..., 3, 3) of quaternions x y z w (..., 4)."""
    is_single = np.ndim(q) == 1  # then Python's numbers are ten times as fast as 0-d arrays
    x, y, z, w = q.tolist() if is_single else np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    entries = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    if is_single:
        return np.array(entries)
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)


def matrix_quaternion(rotation: Array) -> Array:
    """Return the quaternion x y z w (4,) of a rotation matrix (3, 3), with w >= 0.

    The largest of x^2, y^2, z^2 and w^2 is computed first, and the others from it, so that no small
    number is a divisor [Shepperd 1978].
    """
    r = rotation
    trace = float(r[0, 0] + r[1, 1] + r[2, 2])
    choice = int(np.argmax([r[0, 0], r[1, 1], r[2, 2], trace]))
    q = np.empty(4)
    if choice == 3:
        q[:] = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], 1.0 + trace
    else:
        i, j, k = choice, (choice + 1) % 3, (choice + 2) % 3
        q[i] = 1.0 - trace + 2.0 * r[i, i]
        q[j] = r[j, i] + r[i, j]
        q[k] = r[k, i] + r[i, k]
        q[3] = r[k, j] - r[j, k]
    q /= np.linalg.norm(q)
    return q if q[3] >= 0 else -q


def axis_angle_matrix(axis: Array, angle: Array) -> Array:
    """Return the rotation matrices (..., 3, 3) by `angle` (...) [rad] about a unit axis (3,).

    Rodrigues' formula: R = 1 + sin(angle) K + (1 - cos(angle)) K K, with K v = axis x v.
    """
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s = np.sin(angle)[..., None, None]
    c = np.cos(angle)[..., None, None]
    return np.asarray(np.eye(3) + s * cross + (1.0 - c) * (cross @ cross))


def rpy_matrix(roll: float, pitch: float, yaw: float) -> Array:
    """Return the rotation matrix (3, 3) of URDF's fixed-axis roll, pitch, yaw [rad]."""
    x_axis, y_axis, z_axis = np.eye(3)
    about_x = axis_angle_matrix(x_axis, np.array(roll))
    about_y = axis_angle_matrix(y_axis, np.array(pitch))
    return np.asarray(axis_angle_matrix(z_axis, np.array(yaw)) @ about_y @ about_x)


def matrix_rpy(rotation: Array) -> tuple[float, float, float]:
    """Return URDF's fixed-axis roll, pitch, yaw [rad] of a rotation matrix (3, 3).

    Roll is taken from the matrix after yaw is undone, so that all three together are exact even at
    a pitch of 90 degrees, where yaw is arbitrary. (There `rpy` of description/tree_text.py, for
    converted robots, sets yaw to 0.)
    """
    r = rotation
    yaw = math.atan2(r[1, 0], r[0, 0])
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * r[0, 2] - c * r[1, 2], c * r[1, 1] - s * r[0, 1])
    return roll, pitch, yaw


def turn_twist(rotation: Array, twist: Array) -> Array:
    """Return a twist (6,), linear then angular, with both vectors rotated by a matrix (3, 3)."""
    return np.concatenate([rotation @ twist[:3], rotation @ twist[3:]])


def turn_between(start: Array, end: Array) -> Array:
    """Return the smallest rotation (3, 3) from the direction of one vector (3,) to another's.

    With unit vectors a and b, v = a x b and K w = v x w: R = 1 + K + K K / (1 + a . b).

    Raises:
        ValueError: for a vector of length 0, or opposite vectors, which many rotations connect.
    """
    lengths = np.linalg.norm(start), np.linalg.norm(end)
    if not min(lengths) > 0:
        raise ValueError("a direction needs a vector with a length")
    a, b = start / lengths[0], end / lengths[1]
    cosine, v = float(a @ b), np.cross(a, b)
    if cosine < -1.0 + OPPOSITE:
        raise ValueError("between opposite directions there are many turns")
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + cosine))


def quaternion_product(a: Array | Sequence[float], b: Array | Sequence[float]) -> Array:
    """Return the quaternion x y z w (4,) of a turn by b followed by a turn by a.

    Both may be (4, k): k quaternions as columns.
    """
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    w = aw * bw - ax * bx - ay * by - az * bz
    return np.array([x, y, z, w])


def turn_quaternion(turn: Array) -> Array:
    """Return the quaternion x y z w (4,) of a rotation vector (3,) [rad]."""
    angle = float(np.linalg.norm(turn))
    # sin(angle / 2) / angle, whose limit at 0 is 1 / 2.
    factor = 0.5 * np.sinc(0.5 * angle / np.pi)
    return np.array([*(factor * turn), math.cos(0.5 * angle)])


def quaternion_vector(q: Array) -> Array:
    """Return the smallest rotation vectors (..., 3) [rad] of quaternions of any length (..., 4).

    Simulations use `rotation_vector` instead: numpy's arctangent may round differently on another
    machine.
    """
    size = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, np.abs(q[..., 3:]))
    angle_per_size = angle / np.where(size > 0.0, size, 1.0)
    return np.asarray(q[..., :3] * np.copysign(angle_per_size, q[..., 3:]))


def orientation_difference(one: Array, other: Array) -> Array:
    """Return the smallest rotations from `one` to `other`: rotation vectors (..., 3) [rad].

    Args:
        one, other: orientations, unit quaternions x y z w (..., 4); the vectors are in the axes in
            which these are given.
    """
    inverse = one * np.array([-1.0, -1.0, -1.0, 1.0])
    return quaternion_vector(quaternion_product(other.T, inverse.T).T)


def rotation_vector(rotation: Array) -> Array:
    """Return the smallest rotation vector (3,) [rad] of a rotation matrix (3, 3)."""
    x, y, z, w = matrix_quaternion(rotation)
    size = math.sqrt(x * x + y * y + z * z)
    if size == 0.0:
        return np.zeros(3)
    angle = 2.0 * math.atan2(size, abs(w))
    return np.array([x, y, z]) * math.copysign(angle / size, w)


@kernel
def cross(a, b, out):
    """Fill `out` (3,) with a x b; numba's own cross product takes seconds to compile."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
