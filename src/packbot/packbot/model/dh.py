"""Denavit-Hartenberg tables of the arm, and forward kinematics from them.

Standard form [Denavit, Hartenberg 1955]: a row takes the frame before it to its own by
Rot_z(theta + q) Trans_z(d) Trans_x(a) Rot_x(alpha). The chain ends at the camera's pan. The hand is
a branch: it leaves after elbow 1, with a row for elbow 2 of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array

from packbot.model.parameters import JOINTS, PackbotParameters

RIGHT = 0.5 * math.pi
CAMERA = ("turret", "shoulder", "elbow1", "elbow2", "tilt", "pan")
HAND = ("turret", "shoulder", "elbow1", "elbow2", "wrist")


@dataclass(frozen=True)
class Row:
    """Hold a row of a DH table: its joint, and theta offset, d, a, alpha."""

    joint: Annotated[str, Quantity("")]
    theta: Annotated[float, Quantity("rad", form=".4f", shown="deg")]
    d: Annotated[float, Quantity("m", form=".4f")]
    a: Annotated[float, Quantity("m", form=".4f")]
    alpha: Annotated[float, Quantity("rad", form=".4f", shown="deg")]

    def frame(self, q: Array) -> Array:
        """Return the transforms (..., 4, 4) at joint angles (...) [rad]."""
        c, s = np.cos(q + self.theta), np.sin(q + self.theta)
        ca, sa = math.cos(self.alpha), math.sin(self.alpha)
        zero, one = np.zeros_like(c), np.ones_like(c)
        rows = [
            [c, -s * ca, s * sa, self.a * c],
            [s, c * ca, -c * sa, self.a * s],
            [zero, sa * one, ca * one, self.d * one],
            [zero, zero, zero, one],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True)
class Table:
    """Hold a chain: where it begins in `base_link` (3,) [m], and its rows."""

    base: Array
    rows: tuple[Row, ...]

    def frames(self, q: Array) -> Array:
        """Return the frame behind each row, in `base_link`.

        Args:
            q: angles of all the arm's joints (..., 7) [rad].

        Returns:
            transforms (..., rows, 4, 4) [m].
        """
        place = np.eye(4)
        place[:3, 3] = self.base
        frames = []
        for row in self.rows:
            place = place @ row.frame(q[..., JOINTS.index(row.joint)])
            frames.append(place)
        return np.stack(frames, axis=-3)


def camera_table(p: PackbotParameters) -> Table:
    """Return the chain from the turret to the camera's pan.

    The tilt axis is `tilt_x` along link 3 and `tilt_z` above it: that is a of elbow 2 as length and
    its theta offset as angle, which the row of tilt turns back.
    """
    rise = math.atan2(p.tilt_z, p.tilt_x)
    rows = (
        *_trunk(p),
        Row("elbow2", rise, 0.0, math.hypot(p.tilt_x, p.tilt_z), 0.0),
        Row("tilt", math.pi - rise, 0.0, 0.0, RIGHT),
        Row("pan", math.pi, p.pan_d, 0.0, 0.0),
    )
    return Table(_base(p), rows)


def hand_table(p: PackbotParameters) -> Table:
    """Return the chain from the turret to the finger tips, with z along the hand."""
    rows = (
        *_trunk(p),
        Row("elbow2", RIGHT, 0.0, 0.0, RIGHT),
        Row("wrist", 0.0, p.wrist_x + p.gripper_length, 0.0, 0.0),
    )
    return Table(_base(p), rows)


def _base(p: PackbotParameters) -> Array:
    return np.array([p.base_x, 0.0, p.base_z])


def _trunk(p: PackbotParameters) -> tuple[Row, ...]:
    return (
        Row("turret", 0.0, p.turret_d, 0.0, RIGHT),
        Row("shoulder", 0.0, -p.shoulder_d, p.shoulder_a, 0.0),
        Row("elbow1", 0.0, p.elbow1_d, p.elbow1_a, 0.0),
    )
