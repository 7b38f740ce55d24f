"""Represent a floating base by six joints without a motor: three slides and three hinges.

The recorded pose of the root link becomes positions of these joints, which stand before the robot's
own in the log and in its tree. The equations then have no special case for the base: its six rows,
whose effort is 0, state that no outer force acts on the robot. flight.py finds the samples for
which that is true.

Three hinges lose a degree of freedom where the middle one is at a right angle. Of three orders of
axes the one is taken whose middle angle is large least often, and flight.py leaves out samples
beyond STEEPEST.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.description.tree import Joint, Link, Tree

POSITION, QUATERNION = ("base/x", "base/y", "base/z"), ("base/qx", "base/qy", "base/qz", "base/qw")
# m, and change of a quaternion's component; a base that moves less is fixed. Poses of a fixed base
# scatter by mm; a robot that moves does so by its own size.
MOVES = 0.01
ORDERS = ("XYZ", "YZX", "ZXY")  # orders of the hinges' axes: each axis is once in the middle
# rad; largest angle of the middle hinge: at pi/2 the others turn about one axis. Here they have 1 /
# cos = 2.8 times the noise.
STEEPEST = 1.2
WORLD = "world of the log"  # name of the link to which the slides are attached


def continuous(pose: Mapping[str, Array]) -> dict[str, Array]:
    """Return a pose by `base/x` and so on (k,), its quaternions without jumps of the sign.

    A quaternion and its negative are the same rotation; each takes the sign that is nearer to the
    one before.
    """
    aligned = dict(pose)
    if not {*QUATERNION} <= {*pose}:
        return aligned
    rows = np.array([pose[component] for component in QUATERNION])
    recorded = np.flatnonzero(np.isfinite(rows).all(axis=0))
    signs = np.sign((rows[:, recorded[1:]] * rows[:, recorded[:-1]]).sum(axis=0))
    rows[:, recorded[1:]] *= np.cumprod(np.where(signs, signs, 1.0))
    return aligned | dict(zip(QUATERNION, rows))


@dataclass(frozen=True)
class FloatingBase:
    """The joints that stand for a floating base, from the world to the root link.

    Args:
        turn: rotation (3, 3) of the root link at the first sample, where the hinges are at 0.
        joints: names of the six joints; the last letter of each is its axis.
    """

    turn: Array
    joints: tuple[str, ...]

    @classmethod
    def of(cls, columns: Mapping[str, Array]) -> tuple[FloatingBase | None, Array]:
        """Return the base of a log with its coordinates (k, 6), or None and (k, 0) if it is fixed.

        Args:
            columns: of samples (k,); those of the pose as far as it was recorded [m, quaternion].

        Raises:
            AccordError: if the base moves, and its pose was not recorded completely.
        """
        # How far the base moves and turns, by what was recorded.
        position = np.array([columns[name] for name in POSITION if name in columns])
        distance = 0.0
        if len(position):
            recorded = position[:, np.isfinite(position).all(axis=0)]
            distance = np.linalg.norm(recorded - recorded[:, :1], axis=0).max(initial=0.0)
        components = [np.abs(columns[name]) for name in QUATERNION if name in columns]
        turned = max((float(np.nanmax(x) - np.nanmin(x)) for x in components), default=0.0)
        if distance <= MOVES and turned <= MOVES:
            return None, np.zeros((len(next(iter(columns.values()))), 0))
        if lacking := [name for name in (*POSITION, *QUATERNION) if name not in columns]:
            moves = f"the base moves {distance:.3g} m" if distance > MOVES else "the base turns"
            raise AccordError(f"{moves}, and {', '.join(lacking)} are not recorded")
        from scipy.spatial.transform import Rotation

        # Angles of the hinges, relative to the first rotation, in the best order of axes.
        quaternion = np.array([columns[name] for name in QUATERNION]).T
        recorded = np.linalg.norm(quaternion, axis=1) > 0.0
        turns = Rotation.from_quat(quaternion[recorded])
        angles = {order: (turns[0].inv() * turns).as_euler(order) for order in ORDERS}
        order = min(ORDERS, key=lambda axes: float((np.abs(angles[axes][:, 1]) > STEEPEST).mean()))
        hinges = np.full((len(quaternion), 3), np.nan)
        hinges[recorded] = np.unwrap(angles[order], axis=0)
        names = [*(f"base_T{axis}" for axis in "XYZ"), *(f"base_R{axis}" for axis in order)]
        return cls(turns[0].as_matrix(), tuple(names)), np.column_stack([position.T, hinges])

    def carrying(self, tree: Tree) -> Tree:
        """Return the tree with these joints before its root link.

        Between them are links without mass, each with the name of the joint that moves it.
        """
        zero, axes = np.zeros(3), dict(zip("XYZ", np.eye(3)))
        massless = [Link(name, 0.0, zero, np.zeros((3, 3))) for name in (WORLD, *self.joints[:-1])]
        names = [*(link.name for link in massless), tree.links[0].name]
        kinds = [("prismatic", np.eye(3))] * 3 + [("continuous", self.turn)]
        kinds += [("continuous", np.eye(3))] * 2
        chain = [
            Joint(name, kind, parent, child, zero, turn, axes[name[-1]], -np.inf, np.inf)
            for name, (kind, turn), parent, child in zip(self.joints, kinds, names, names[1:])
        ]
        return replace(tree, links=(*massless, *tree.links), joints=(*chain, *tree.joints))
