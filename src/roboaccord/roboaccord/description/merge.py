"""Bodies of a tree: links that are fixed to each other are merged, for the kernels of dynamics.

dynamics.py calls `merge`, and writes the bodies as rows of numbers (`MergedBody.row`). It goes
through the tree from the root and adds each link to the body that carries it; a joint that moves
begins a new body. The frame of a body has its joint's axis along z, on which the kernels of
bodies.py rely.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.bodies import BODY_COLUMNS
from roboaccord.description.kinematics import PRISMATIC, REVOLUTE
from roboaccord.description.tree import Joint, Tree
from roboaccord.numerics.rotations import turn_between

UP = np.array([0.0, 0.0, 1.0])  # unit vector of the z axis
TRIANGLE = np.triu_indices(3)  # rows and columns of xx xy xz yy yz zz


class MergedBody:
    """Links that move as one body.

    Its frame is that of its first link, turned so that its joint's axis is along z.

    Args:
        name: of the first link.
        joint: that moves the body; None for the base.
        parent: number of the body that carries it, -1 for the base.
        position: of its frame in the parent's at q = 0 (3,) [m].
        rotation: from its axes to the parent's (3, 3).

    Attributes:
        kind: of its joint, as in kinematics.py.
        links: masses of its links by name [kg].
        mass: of all of them [kg].
        inertia: about the origin of its frame (3, 3) [kg m^2].
    """

    def __init__(
        self, name: str, joint: Joint | None, parent: int, position: Array, rotation: Array
    ) -> None:
        self.name, self.parent = name, parent
        self.joint = joint.name if joint else ""
        self.kind = PRISMATIC if joint and joint.kind == "prismatic" else REVOLUTE
        self.position, self.rotation = position, rotation
        self.links = dict[str, float]()
        self.mass, self.inertia = 0.0, np.zeros((3, 3))
        self._moment = np.zeros(3)  # first moment, mass times centre [kg m]

    def add(self, mass: float, centre: Array, inertia: Array) -> None:
        """Add a link.

        Args:
            mass: [kg].
            centre: of mass, in the body's frame (3,) [m].
            inertia: about the centre of mass, in the body's axes (3, 3) [kg m^2].
        """
        self.mass += mass
        self._moment = self._moment + mass * centre
        self.inertia = self.inertia + inertia + mass * point_inertia(centre)

    def row(self) -> Array:
        """Return the body's row for the kernels (BODY_COLUMNS,), in the columns of bodies.py.

        Filled are ORIGIN to INERTIA, the first ones; properties of the joint are added later.
        """
        centre = self._moment / self.mass if self.mass else np.zeros(3)
        axes, moments = self.rotation.ravel(), self.inertia[TRIANGLE]
        numbers = [*self.position, *axes, self.mass, *centre, *moments]
        return np.array([*numbers, *np.zeros(BODY_COLUMNS - len(numbers))])


def merge(tree: Tree, joints: Sequence[str]) -> list[MergedBody]:
    """Return the bodies of a tree, each after its parent, the base first."""
    links = {link.name: link for link in tree.links}
    root = tree.links[0].name
    merged = [MergedBody(root, None, -1, np.zeros(3), np.eye(3))]
    # By link: number of its body, and position and rotation of its frame in the body's.
    frames = {root: (0, np.zeros(3), np.eye(3))}
    for joint in tree.joints:
        if joint.parent not in frames:
            continue
        body, position, rotation = frames[joint.parent]
        position, rotation = position + rotation @ joint.position, rotation @ joint.rotation
        if joint.name in joints:
            align = _turn_to_axis(np.asarray(joint.axis, float).tobytes())
            merged.append(MergedBody(joint.child, joint, body, position, rotation @ align))
            body, position, rotation = len(merged) - 1, np.zeros(3), align.T
        frames[joint.child] = body, position, rotation
    for name, (body, position, rotation) in frames.items():
        link = links[name]
        centre = position + rotation @ link.centre
        merged[body].links[name] = link.mass
        merged[body].add(link.mass, centre, rotation @ link.inertia @ rotation.T)
    return merged


def point_inertia(centre: Array) -> Array:
    """Return the inertia (3, 3) [m^2] about the origin of a unit point mass at a point (3,)."""
    return np.asarray((centre @ centre) * np.eye(3) - np.outer(centre, centre))


@lru_cache(maxsize=256)  # searches for causes make hundreds of trees with the same axes
def _turn_to_axis(axis: bytes) -> Array:
    """Return a rotation (3, 3), read-only, that turns z to a unit axis, given as bytes.

    For an axis that points downwards it is the smallest turn from -z, after half a turn about x.
    """
    unit, half_turn = np.frombuffer(axis), np.diag([1.0, -1.0, -1.0])
    rotation = turn_between(UP, unit) if unit[2] >= 0.0 else turn_between(-UP, unit) @ half_turn
    rotation.flags.writeable = False
    return rotation
