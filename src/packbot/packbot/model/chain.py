"""Compiled kinematics of a chain of revolute joints: frames of its bodies, Jacobians of points.

`chain_of` turns pinocchio's model into arrays, which the kernels of contact take as `chain`. Body 0
is the world, and body j is moved by joint j - 1.

The kinematics are fixed: test_packbot_kinematics and test_packbot_reference compare them with
pinocchio's and with differences.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel

Chain = tuple[Index, Array, Array, Array, Array]
MOVED = 4  # index of the last array of a chain: which joints move a body


def chain_of(model: pin.Model) -> Chain:
    """Return the n revolute joints of pinocchio's model, as kernels take them.

    Returns:
        by body, the index of its parent (n + 1,); its origin (n + 1, 3) [m] and its rotation
        (n + 1, 3, 3) in the parent with the joint at 0; the joint's axis in the body (n + 1, 3);
        and 1 where a joint moves the body (n + 1, n).
    """
    n, places = model.nv, model.jointPlacements
    moved, axes = np.zeros((n + 1, n)), np.zeros((n + 1, 3))
    for j in range(1, n + 1):
        moved[j, [k - 1 for k in model.supports[j] if k > 0]] = 1.0
        data = model.joints[j].createData()
        model.joints[j].calc(data, np.zeros(n))
        axes[j] = np.asarray(data.S).reshape(6)[3:]
    origins = np.array([place.translation for place in places])
    turns = np.array([place.rotation for place in places])
    return np.array(list(model.parents), dtype=np.int64), origins, turns, axes, moved


@kernel
def place_bodies(chain, q, turn, origin, axis):
    """Fill in rotations (n + 1, 3, 3), origins and joint axes (n + 1, 3) of bodies in the world.

    By Rodrigues' formula, with q the joint angles (n,) [rad].
    """
    parents, places, turns, axes, _ = chain
    for i in range(3):
        for k in range(3):
            turn[0, i, k] = 1.0 if i == k else 0.0
        origin[0, i] = 0.0
    joint = np.empty((3, 3))
    for body in range(1, len(parents)):
        up = parents[body]
        x, y, z = axes[body]
        c, s = np.cos(q[body - 1]), np.sin(q[body - 1])
        joint[0, 0], joint[1, 1] = c + x * x * (1 - c), c + y * y * (1 - c)
        joint[0, 1], joint[1, 0] = x * y * (1 - c) - z * s, y * x * (1 - c) + z * s
        joint[0, 2], joint[2, 0] = x * z * (1 - c) + y * s, z * x * (1 - c) - y * s
        joint[1, 2], joint[2, 1] = y * z * (1 - c) - x * s, z * y * (1 - c) + x * s
        joint[2, 2] = c + z * z * (1 - c)
        for i in range(3):
            origin[body, i] = origin[up, i]
            for k in range(3):
                origin[body, i] += turn[up, i, k] * places[body, k]
                turn[body, i, k] = 0.0
                for a in range(3):
                    for b in range(3):
                        turn[body, i, k] += turn[up, i, a] * turns[body, a, b] * joint[b, k]
        for i in range(3):
            axis[body, i] = 0.0
            for k in range(3):
                axis[body, i] += turn[body, i, k] * axes[body, k]


@kernel
def to_world(turn, origin, x, out):
    """Transform a point x (3,) from a body's frame to the world, into `out`."""
    for i in range(3):
        out[i] = origin[i] + turn[i, 0] * x[0] + turn[i, 1] * x[1] + turn[i, 2] * x[2]


@kernel
def to_body(turn, origin, x, out):
    """Transform a point x (3,) from the world to a body's frame, into `out`."""
    for i in range(3):
        out[i] = 0.0
        for k in range(3):
            out[i] += turn[k, i] * (x[k] - origin[k])


@kernel
def add_row(chain, origin, axis, body, x, direction, sign, row):
    """Add to `row` (n,) the Jacobian of a body's point x along a direction, times `sign`."""
    moved = chain[MOVED]
    for j in range(len(row)):
        if moved[body, j] > 0.0:
            a = axis[j + 1]
            rx, ry, rz = x[0] - origin[j + 1, 0], x[1] - origin[j + 1, 1], x[2] - origin[j + 1, 2]
            row[j] += sign * (
                direction[0] * (a[1] * rz - a[2] * ry)
                + direction[1] * (a[2] * rx - a[0] * rz)
                + direction[2] * (a[0] * ry - a[1] * rx)
            )
