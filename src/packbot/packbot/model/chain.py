"""Compiled kinematics of a chain of joints that turn or slide: frames and Jacobians of points.

The kernels of contact (contact/features.py, contact/friction.py) place hulls by it in each time
step. `chain_of` turns pinocchio's model of n joints into arrays, the argument `chain` of the
kernels here and of those of contact. Body 0 is the world, and body j is moved by joint j - 1.
`place_bodies` computes the frames of all bodies in the world, a tuple of rotations, origins and
joint axes; the other kernels transform points, and compute Jacobians of points, with these.

test_packbot_kinematics and test_packbot_reference compare the kinematics with those of pinocchio
and with finite differences.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel


class Chain(NamedTuple):
    """The n joints of an arm and its free bodies, and their n + 1 bodies, as kernels take them.

    Attributes:
        parents: index of the parent of each body (n + 1,).
        origins, rotations: of each body in the parent's frame at joint angle 0, (n + 1, 3) [m] and
            (n + 1, 3, 3).
        axes: axis of each body's joint, in its own frame (n + 1, 3).
        moved: 1 if a joint moves a body, else 0 (n + 1, n).
        slides: 1 if a body's joint slides along its axis, 0 if it turns about it (n + 1,).
    """

    parents: Index
    origins: Array
    rotations: Array
    axes: Array
    moved: Array
    slides: Array


def chain_of(model: pin.Model) -> Chain:
    """Return the joints of pinocchio's model, each of one degree, as arrays for kernels."""
    n, placements = model.nv, model.jointPlacements
    moved, axes, slides = np.zeros((n + 1, n)), np.zeros((n + 1, 3)), np.zeros(n + 1)
    for j in range(1, n + 1):
        moved[j, [k - 1 for k in model.supports[j] if k > 0]] = 1.0
        data = model.joints[j].createData()
        model.joints[j].calc(data, np.zeros(n))
        linear, angular = np.asarray(data.S).reshape(2, 3)
        slides[j], axes[j] = linear.any(), linear + angular
    origins = np.array([placement.translation for placement in placements])
    rotations = np.array([placement.rotation for placement in placements])
    parents = np.array(list(model.parents), dtype=np.int64)
    return Chain(parents, origins, rotations, axes, moved, slides)


@kernel
def new_frames(chain):
    """Return empty arrays for the frames of all bodies in the world, which `place_bodies` fills.

    These are rotations (n + 1, 3, 3), origins (n + 1, 3) [m], and axes of the joints (n + 1, 3).
    """
    bodies = len(chain.parents)
    return np.empty((bodies, 3, 3)), np.empty((bodies, 3)), np.empty((bodies, 3))


@kernel
def place_bodies(chain, q, frames):
    """Fill the frames of all bodies in the world, by `new_frames`, at joint positions q (n,)."""
    turn, origin, axis = frames  # in the world
    parents, offsets, rotations, axes, _, slides = chain  # in the frames of the bodies
    # Body 0, the world.
    turn[0, :, :] = np.eye(3)
    origin[0, :] = 0.0
    joint = np.empty((3, 3))
    for body in range(1, len(parents)):
        parent = parents[body]
        # Rotation of the joint about its axis (x, y, z), by Rodrigues' formula.
        x, y, z = axes[body]
        angle = 0.0 if slides[body] > 0.0 else q[body - 1]
        c, s = np.cos(angle), np.sin(angle)
        joint[0, 0], joint[1, 1] = c + x * x * (1 - c), c + y * y * (1 - c)
        joint[0, 1], joint[1, 0] = x * y * (1 - c) - z * s, y * x * (1 - c) + z * s
        joint[0, 2], joint[2, 0] = x * z * (1 - c) + y * s, z * x * (1 - c) - y * s
        joint[1, 2], joint[2, 1] = y * z * (1 - c) - x * s, z * y * (1 - c) + x * s
        joint[2, 2] = c + z * z * (1 - c)
        # Origin: that of the parent, plus the offset turned by the parent's rotation. Rotation:
        # that of the parent, times that at angle 0, times that of the joint.
        for i in range(3):
            origin[body, i] = origin[parent, i]
            for k in range(3):
                origin[body, i] += turn[parent, i, k] * offsets[body, k]
                turn[body, i, k] = 0.0
                for a in range(3):
                    for b in range(3):
                        turn[body, i, k] += turn[parent, i, a] * rotations[body, a, b] * joint[b, k]
        # Axis of the joint, turned into the world.
        for i in range(3):
            axis[body, i] = 0.0
            for k in range(3):
                axis[body, i] += turn[body, i, k] * axes[body, k]
        if slides[body] > 0.0:
            for i in range(3):
                origin[body, i] += q[body - 1] * axis[body, i]


@kernel
def to_world(turn, origin, x, out):
    """Write a point x (3,) [m] of a body's frame into `out`, transformed to the world.

    `turn` (3, 3) and `origin` (3,) [m] are those of the body in the world.
    """
    for i in range(3):
        out[i] = origin[i] + turn[i, 0] * x[0] + turn[i, 1] * x[1] + turn[i, 2] * x[2]


@kernel
def to_body(turn, origin, x, out):
    """Write a point x (3,) [m] of the world into `out`, transformed to a body's frame.

    `turn` (3, 3) and `origin` (3,) [m] are those of the body in the world.
    """
    for i in range(3):
        out[i] = 0.0
        for k in range(3):
            out[i] += turn[k, i] * (x[k] - origin[k])


@kernel
def add_jacobian(chain, frames, body, x, direction, sign, row):
    """Add to `row` the Jacobian of the velocity of a body's point along a direction.

    A joint with the axis a and the origin o moves the point x by a cross (x - o) per radian, or by
    a per metre.

    Args:
        chain: as `Chain`.
        frames: rotations, origins and joint axes of all bodies in the world, by `place_bodies`.
        body: index of the body that the point belongs to.
        x: the point in the world (3,) [m].
        direction: unit vector (3,).
        sign: factor on the Jacobian.
        row: to which the Jacobian is added (n,).
    """
    _, origin, axis = frames
    for j in range(len(row)):
        if chain.moved[body, j] > 0.0:
            # direction . (a x r), with r from the joint's origin to the point.
            a = axis[j + 1]
            if chain.slides[j + 1] > 0.0:
                row[j] += sign * (direction[0] * a[0] + direction[1] * a[1] + direction[2] * a[2])
                continue
            rx, ry, rz = x[0] - origin[j + 1, 0], x[1] - origin[j + 1, 1], x[2] - origin[j + 1, 2]
            row[j] += sign * (
                direction[0] * (a[1] * rz - a[2] * ry)
                + direction[1] * (a[2] * rx - a[0] * rz)
                + direction[2] * (a[0] * ry - a[1] * rx)
            )
