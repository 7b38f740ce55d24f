"""A base that floats, as six more joints of a log that nothing drives.

The pose of the root link becomes three slides along the world's axes and three hinges, so that the
windows need no equations of their own: six rows say that no force acts on the robot from outside.
flight.py finds where that holds. STEEPEST may be any angle well below a right one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Link, Tree

PLACE, TURN = ("base/x", "base/y", "base/z"), ("base/qx", "base/qy", "base/qz", "base/qw")
MOVES = 0.01  # m, and of a quaternion: what a fixed base may seem to move
ORDERS = ("XYZ", "YZX", "ZXY")  # axes of the hinges: the one that turns least is in the middle
STEEPEST = 1.2  # rad of the middle hinge: at pi/2 the others turn about one axis
WORLD = "world of the log"


def continuous(pose: Mapping[str, Array]) -> dict[str, Array]:
    """Return a pose by `base/x` and so on (k,), each quaternion the nearer to the one before."""
    aligned = dict(pose)
    if not {*TURN} <= {*pose}:
        return aligned
    rows = np.array([pose[part] for part in TURN])
    there = np.flatnonzero(np.isfinite(rows).all(axis=0))
    signs = np.sign((rows[:, there[1:]] * rows[:, there[:-1]]).sum(axis=0))
    rows[:, there[1:]] *= np.cumprod(np.where(signs, signs, 1.0))
    return aligned | dict(zip(TURN, rows))


@dataclass(frozen=True)
class FloatingBase:
    """The base of a log as joints, from the world to the root link.

    Args:
        turn: rotation (3, 3) of the root link at the first sample, from which the hinges count.
        joints: names of the six, which end with their axes.
    """

    turn: Array
    joints: tuple[str, ...]

    @classmethod
    def of(cls, columns: Mapping[str, Array]) -> tuple[FloatingBase | None, Array]:
        """Return the base of a log with its coordinates (k, 6); None and (k, 0) where it stays.

        Args:
            columns: of samples (k,), those of a pose as far as it is recorded [m, quaternion].

        Raises:
            AccordError: if it moves and some of that is not recorded.
        """
        from scipy.spatial.transform import Rotation

        position = np.array([columns[name] for name in PLACE if name in columns])
        there = position[:, np.isfinite(position).all(axis=0)] if len(position) else position
        far = np.linalg.norm(there - there[:, :1], axis=0).max(initial=0.0) if there.size else 0.0
        parts = [np.abs(columns[name]) for name in TURN if name in columns]
        turned = max((float(np.nanmax(x) - np.nanmin(x)) for x in parts), default=0.0)
        if far <= MOVES and turned <= MOVES:
            return None, np.zeros((len(next(iter(columns.values()))), 0))
        if lacking := [name for name in (*PLACE, *TURN) if name not in columns]:
            moves = f"the base moves {far:.3g} m" if far > MOVES else "the base turns"
            raise AccordError(f"{moves}, and {', '.join(lacking)} are not recorded")
        quaternion = np.array([columns[name] for name in TURN]).T
        recorded = np.linalg.norm(quaternion, axis=1) > 0.0
        turns = Rotation.from_quat(quaternion[recorded])
        angles = {order: (turns[0].inv() * turns).as_euler(order) for order in ORDERS}
        order = min(ORDERS, key=lambda each: float((np.abs(angles[each][:, 1]) > STEEPEST).mean()))
        hinges = np.full((len(quaternion), 3), np.nan)
        hinges[recorded] = np.unwrap(angles[order], axis=0)
        names = [*(f"base_T{axis}" for axis in "XYZ"), *(f"base_R{axis}" for axis in order)]
        return cls(turns[0].as_matrix(), tuple(names)), np.column_stack([position.T, hinges])

    def carrying(self, tree: Tree) -> Tree:
        """Return a tree whose root link moves by these joints."""
        none, axes = np.zeros(3), dict(zip("XYZ", np.eye(3)))
        empty = [Link(name, 0.0, none, np.zeros((3, 3)), ()) for name in (WORLD, *self.joints[:-1])]
        names = [*(link.name for link in empty), tree.links[0].name]
        kinds = [("prismatic", np.eye(3))] * 3 + [("continuous", self.turn)]
        kinds += [("continuous", np.eye(3))] * 2
        chain = [
            Joint(name, kind, parent, child, none, turn, axes[name[-1]], -np.inf, np.inf)
            for name, (kind, turn), parent, child in zip(self.joints, kinds, names, names[1:])
        ]
        return replace(tree, links=(*empty, *tree.links), joints=(*chain, *tree.joints))
