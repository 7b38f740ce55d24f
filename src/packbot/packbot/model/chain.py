"""Compiled forward kinematics of a chain of revolute joints, and point Jacobians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel


@dataclass(frozen=True)
class Chain:
    """Hold n revolute joints; body 0 is the world, body j is moved by joint j - 1.

    Args:
        parents: body on which each hangs (n + 1,).
        places: origin of each in its parent (n + 1, 3) [m].
        turns: rotation of each to its parent, its joint at 0 (n + 1, 3, 3).
        axes: of the joint, in the body (n + 1, 3).
        moved: 1 where a joint moves a body (n + 1, n).
    """

    parents: Index
    places: Array
    turns: Array
    axes: Array
    moved: Array

    @classmethod
    def of(cls, model: pin.Model) -> Chain:
        """Return the chain of pinocchio's model."""
        n = model.nv
        moved, axes = np.zeros((n + 1, n)), np.zeros((n + 1, 3))
        for j in range(1, n + 1):
            moved[j, [k - 1 for k in model.supports[j] if k > 0]] = 1.0
            data = model.joints[j].createData()
            model.joints[j].calc(data, np.zeros(n))
            axes[j] = np.asarray(data.S).reshape(6)[3:]
        return cls(
            np.array(list(model.parents), dtype=np.int64),
            np.array([place.translation for place in model.jointPlacements]),
            np.array([place.rotation for place in model.jointPlacements]),
            axes,
            moved,
        )

    @property
    def arrays(self) -> tuple[Array | Index, ...]:
        """Arguments of the kernels."""
        return self.parents, self.places, self.turns, self.axes, self.moved


@kernel
def place_bodies(chain, q, turn, place, axis):
    """Fill in rotations (n + 1, 3, 3), origins and joint axes (n + 1, 3) in the world."""
    parents, places, turns, axes, _ = chain
    for i in range(3):
        for k in range(3):
            turn[0, i, k] = 1.0 if i == k else 0.0
        place[0, i] = 0.0
    joint = np.empty((3, 3))
    for body in range(1, len(parents)):
        up = parents[body]
        x, y, z = axes[body]
        c, s = np.cos(q[body - 1]), np.sin(q[body - 1])
        joint[0, 0], joint[0, 1], joint[0, 2] = (
            c + x * x * (1 - c),
            x * y * (1 - c) - z * s,
            x * z * (1 - c) + y * s,
        )
        joint[1, 0], joint[1, 1], joint[1, 2] = (
            y * x * (1 - c) + z * s,
            c + y * y * (1 - c),
            y * z * (1 - c) - x * s,
        )
        joint[2, 0], joint[2, 1], joint[2, 2] = (
            z * x * (1 - c) - y * s,
            z * y * (1 - c) + x * s,
            c + z * z * (1 - c),
        )
        for i in range(3):
            place[body, i] = place[up, i]
            for k in range(3):
                place[body, i] += turn[up, i, k] * places[body, k]
                turn[body, i, k] = 0.0
                for a in range(3):
                    for b in range(3):
                        turn[body, i, k] += turn[up, i, a] * turns[body, a, b] * joint[b, k]
        for i in range(3):
            axis[body, i] = 0.0
            for k in range(3):
                axis[body, i] += turn[body, i, k] * axes[body, k]


@kernel
def to_world(turn, place, x, out):
    """Transform a point x (3,) from a body's frame to the world, into `out`."""
    for i in range(3):
        out[i] = place[i] + turn[i, 0] * x[0] + turn[i, 1] * x[1] + turn[i, 2] * x[2]


@kernel
def to_body(turn, place, x, out):
    """Transform a point x (3,) from the world to a body's frame, into `out`."""
    for i in range(3):
        out[i] = 0.0
        for k in range(3):
            out[i] += turn[k, i] * (x[k] - place[k])


@kernel
def add_row(chain, place, axis, body, x, direction, sign, row):
    """Add to `row` (n,) the Jacobian of a body's point x along a direction, times `sign`."""
    moved = chain[4]
    for j in range(len(row)):
        if moved[body, j] > 0.0:
            a = axis[j + 1]
            rx, ry, rz = x[0] - place[j + 1, 0], x[1] - place[j + 1, 1], x[2] - place[j + 1, 2]
            row[j] += sign * (
                direction[0] * (a[1] * rz - a[2] * ry)
                + direction[1] * (a[2] * rx - a[0] * rz)
                + direction[2] * (a[0] * ry - a[1] * rx)
            )
