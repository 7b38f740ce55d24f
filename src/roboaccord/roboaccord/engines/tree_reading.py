"""The reference among readers: our own tree, and the articulated-body algorithm.

It must not ask any engine: the others are compared with it (test_parity, test_free_motion).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import IDENTITY, ORIGIN, Array, RobotState
from roboaccord.description.degrees import single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.mimic import MimicDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import find_root
from roboaccord.engines.model import LinkProperties
from roboaccord.engines.question import Question
from roboaccord.engines.reading import GRAVITY, Hinge, Reading
from roboaccord.numerics import rotations


@dataclass
class TreeReading(Reading):
    """The reference reader.

    Args:
        tree: of the robot.
        question: base and joints.
        apart: as of a `Reading`.
    """

    tree: Tree
    question: Question
    apart: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tree = self.tree
        self.joints = tuple(joint.name for joint in tree.moving)
        self.mass, self.shapes = float(sum(link.mass for link in tree.links)), Counter()
        self.links = {k.name: LinkProperties(k.mass, k.centre, k.inertia) for k in tree.links}
        poses = tree.forward(self.joints, np.zeros(len(self.joints)), ORIGIN, IDENTITY)
        frames = {link.name: pose for link, *pose in zip(tree.links, *poses, strict=True)}
        self.hinges = {
            j.name: Hinge(frames[j.child][0], frames[j.child][1] @ j.axis, *j.ends)
            for j in tree.moving
        }
        rotors = {j.name: j.armature for j in tree.moving}
        self.apart = {"armature": rotors, **self.apart}

    @cached_property
    def _law(self) -> TreeDynamics:
        mimics = any(joint.mimic for joint in self.tree.moving)
        law = MimicDynamics if mimics else TreeDynamics
        joints, springs = self.question.joints, {j.name: j.spring for j in self.tree.moving}
        stiffness, slack = np.array([springs[name] for name in joints]).reshape(-1, 2).T
        spring = (stiffness, slack) if stiffness.any() else None
        return law(self.tree, joints, self.question.base, GRAVITY, spring=spring)

    def acceleration(self, state: RobotState) -> Array:
        return self.accelerations([state])[0]

    def accelerations(self, states: Sequence[RobotState]) -> list[Array]:
        turns = [rotations.quaternion_matrix(state.orientation) for state in states]
        motions = [
            (s.q, s.qd, s.effort, s.position, turn, rotations.turn_twist(turn, s.twist))
            for s, turn in zip(states, turns, strict=True)
        ]
        return [
            np.concatenate([answer.base, answer.joints][self.question.base == "fixed" :])
            for answer in self._law.accelerations(motions)
        ]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
        return self._law.statics(state.q, rotations.quaternion_matrix(state.orientation))


def read_tree(urdf: str, source: str = "URDF") -> Tree:
    """Return the tree of a URDF, from its own root, with joints of one degree of freedom each.

    Raises:
        AccordError: if its links and joints form no tree, or two have the same name.
    """
    top = ET.fromstring(urdf)
    for kind in ("link", "joint"):
        counts = Counter(element.get("name", "") for element in top.findall(kind))
        if counts and max(counts.values()) > 1:
            raise AccordError(f"two {kind}s have the name {counts.most_common(1)[0][0]}")
    urdf = single_degrees(urdf)
    return Tree.parse(urdf, source, root=find_root(ET.fromstring(urdf), source))
