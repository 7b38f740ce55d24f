"""Denavit-Hartenberg tables of the arm, and of the arm with a frozen joint as one link less.

In the standard form [Denavit, Hartenberg 1955], a row is the transform from the frame before it to
its own, Rot_z(theta + q) Trans_z(d) Trans_x(a) Rot_x(alpha). There are two chains: to the pan of
the camera, and to the finger tips. They share the rows up to elbow 1.

The source report redefines an arm with a frozen joint as "a five-link manipulator, with the two
links connected by the frozen joint considered to be one link" (3.2). Any rigid transform is
Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha) Rot_z(beta) Trans_z(c), uniquely unless axes are
parallel. That is a DH row, and a screw about z, which commutes with the rotation of the next joint.
The row of a frozen joint is therefore multiplied into the transform before it; the result is split
into a new row and a screw, and the screw is multiplied into the next row.

Lengths come from config/parameters.yaml. test_packbot_kinematics compares the tables with the URDF,
test_packbot_faults reduced tables with whole ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract import Array, Quantity

from packbot.model.parameters import PackbotParameters

RIGHT = 0.5 * math.pi  # rad; a right angle
PARALLEL = 1e-12  # m, 1; axes are parallel if the sine of their angle is smaller, up to rounding


@dataclass(frozen=True)
class Row:
    """A row of a DH table: its joint, the offset of theta, d, a and alpha."""

    joint: Annotated[str, Quantity("")]
    theta: Annotated[float, Quantity("rad", form=".4f", shown="deg")]
    d: Annotated[float, Quantity("m", form=".4f")]
    a: Annotated[float, Quantity("m", form=".4f")]
    alpha: Annotated[float, Quantity("rad", form=".4f", shown="deg")]

    def frame(self, q: Array) -> Array:
        """Return the transforms (..., 4, 4) at joint angles (...) [rad]."""
        c, s = np.cos(q + self.theta), np.sin(q + self.theta)
        ca, sa = math.cos(self.alpha), math.sin(self.alpha)
        zeros, ones = np.zeros_like(c), np.ones_like(c)
        rows = [
            [c, -s * ca, s * sa, self.a * c],
            [s, c * ca, -c * sa, self.a * s],
            [zeros, sa * ones, ca * ones, self.d * ones],
            [zeros, zeros, zeros, ones],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True)
class Table:
    """A chain of frames from `base_link` to its end.

    Args:
        base: transform from `base_link` to the frame of the first row (4, 4) [m].
        rows: rows of the joints that turn.
        tool: transform from the frame of the last row to the end of the chain (4, 4) [m].
    """

    base: Array
    rows: tuple[Row, ...]
    tool: Array


def camera_table(p: PackbotParameters) -> Table:
    """Return the chain from the turret to the camera's pan.

    The tilt axis is `tilt_x` along link 3 and `tilt_z` above it. In polar form, the length is a of
    elbow 2, and the angle is its offset of theta, which the row of tilt turns back.
    """
    rise = math.atan2(p.tilt_z, p.tilt_x)
    rows = (
        *_trunk(p),
        Row("elbow2", rise, 0.0, math.hypot(p.tilt_x, p.tilt_z), 0.0),
        Row("tilt", math.pi - rise, 0.0, 0.0, RIGHT),
        Row("pan", math.pi, p.pan_d, 0.0, 0.0),
    )
    return Table(_base(p), rows, np.eye(4))


def hand_table(p: PackbotParameters) -> Table:
    """Return the chain from the turret to the finger tips, with z along the hand."""
    rows = (
        *_trunk(p),
        Row("elbow2", RIGHT, 0.0, 0.0, RIGHT),
        Row("wrist", 0.0, p.wrist_x + p.gripper_length, 0.0, 0.0),
    )
    return Table(_base(p), rows, np.eye(4))


def _base(p: PackbotParameters) -> Array:
    """Return the transform from `base_link` to the turret (4, 4)."""
    base = np.eye(4)
    base[:3, 3] = p.base_x, 0.0, p.base_z
    return base


def _trunk(p: PackbotParameters) -> tuple[Row, ...]:
    """Return the rows of turret, shoulder and elbow 1, which both chains share."""
    return (
        Row("turret", 0.0, p.turret_d, 0.0, RIGHT),
        Row("shoulder", 0.0, -p.shoulder_d, p.shoulder_a, 0.0),
        Row("elbow1", 0.0, p.elbow1_d, p.elbow1_a, 0.0),
    )


def reduce_table(table: Table, frozen: Mapping[str, float]) -> Table:
    """Return the table of a chain with joints frozen at angles [rad], by name."""
    # Transforms of the joints that turn, with the rows of frozen ones after them multiplied in.
    base, links = table.base, list[tuple[str, Array]]()
    for row in table.rows:
        if row.joint not in frozen:
            links.append((row.joint, row.frame(np.array(0.0))))
        elif links:
            joint, before = links.pop()
            links.append((joint, before @ row.frame(np.array(frozen[row.joint]))))
        else:
            base = base @ row.frame(np.array(frozen[row.joint]))
    # Each becomes a row and a screw, which goes to the next one.
    rows, screw = list[Row](), np.eye(4)
    for joint, link in links:
        row, screw = split(joint, screw @ link)
        rows.append(row)
    return Table(base, tuple(rows), screw @ table.tool)


def split(joint: str, link: Array) -> tuple[Row, Array]:
    """Split a transform (4, 4) into a DH row and a screw about z (4, 4) after it."""
    # The z axis after the transform gives theta and alpha.
    R, p = link[:3, :3], link[:3, 3]
    sine = math.hypot(R[0, 2], R[1, 2])
    if sine < PARALLEL:  # parallel z axes: the screw has no translation
        a, d, shift = math.hypot(p[0], p[1]), float(p[2]), 0.0
        theta = math.atan2(p[1], p[0]) if a > PARALLEL else math.atan2(R[1, 0], R[0, 0])
        alpha = 0.0 if R[2, 2] > 0.0 else math.pi
    else:
        theta, alpha = math.atan2(R[0, 2], -R[1, 2]), math.atan2(sine, R[2, 2])
        c, s = math.cos(theta), math.sin(theta)
        a, shift = float(c * p[0] + s * p[1]), float(s * p[0] - c * p[1]) / sine
        if a < -PARALLEL:
            theta, a, alpha = theta - math.copysign(math.pi, theta), -a, -alpha
        d = float(p[2] - shift * R[2, 2])
    row = Row(joint, theta, d, a, alpha)
    return row, np.asarray(np.linalg.solve(row.frame(np.array(0.0)), link))
