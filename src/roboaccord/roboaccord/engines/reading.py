"""What a reader makes of a URDF: links, joints, and the dynamics that follow from them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.checks import massless
from roboaccord.description.degrees import single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.mimic import MimicDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import find_root
from roboaccord.engines.degrees import Charts
from roboaccord.engines.mechanism import Mechanism
from roboaccord.engines.properties import LinkProperties
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist

Base = Literal["fixed", "free"]
GRAVITY = 9.81
STATES = 100
STATICS = 10  # of them, in which mass matrices and gravity forces are compared


@dataclass(frozen=True)
class Hinge:
    """Hold anchor (3,) and axis (3,) of a joint in the root's frame at q = 0, and its limits."""

    anchor: Array
    axis: Array
    lower: float
    upper: float


@dataclass(frozen=True)
class Question:
    """Hold what every reader is asked.

    Args:
        base: `fixed` or `free`.
        root: link that moves as the base.
        joints: names, in the order of the states.
        states: joints, base and efforts.
    """

    base: Base
    root: str
    joints: tuple[str, ...]
    states: tuple[RobotState, ...] = ()

    def of(self, joints: Sequence[str]) -> tuple[str, ...]:
        """Return those of its joints that a reading has."""
        return tuple(name for name in self.joints if name in joints)


def steiner(r: Array) -> Array:
    """Return the inertia (3, 3) of a unit mass at r (3,) about the origin."""
    return np.asarray(r @ r * np.eye(3) - np.outer(r, r))


class Reading(ABC):
    """A robot as one reader has it.

    Args:
        urdf: its text.
        question: base and joints.
        settings: `default`, or `accord` for ours.
        packages: folders of ROS packages by name.

    Attributes:
        mechanism: what the engine has loaded, which answers for it.
        has_settings: whether settings change what it reads.
        rounds: whether it prints the numbers, rounded, before it reads them.
        keeps_root: whether a root that is fixed to the world stays among its links.
        joints: that move, in the reader's order.
        mass: of the whole robot [kg].
        links: properties of the links that it keeps, by name.
        hinges: of the joints that move, by name.
        apart: what no comparison of dynamics holds: damping, friction, effort limit and armature
            of each joint by name, and the joints that mimic.
        shapes: how many collision shapes there are of each kind, as URDF names them.
        charts: of its own coordinates, where it has joints of several degrees of freedom.
    """

    has_settings: ClassVar[bool] = False
    rounds: ClassVar[bool] = False
    keeps_root: ClassVar[bool] = False
    question: Question
    mechanism: Mechanism
    joints: tuple[str, ...]
    mass: float
    links: Mapping[str, LinkProperties]
    hinges: Mapping[str, Hinge]
    apart: Mapping[str, Mapping[str, float]]
    shapes: Counter[str]
    charts: Charts | None = None

    @abstractmethod
    def __init__(
        self, urdf: str, question: Question, settings: str, packages: Mapping[str, Path]
    ) -> None: ...

    def acceleration(self, state: RobotState) -> Array:
        """Return accelerations (m,) in a state, damping and friction left out.

        Linear and angular in the world for a free base, then the joints that were asked for.
        """
        if self.charts is None:
            found = self.mechanism.acceleration_at(state, state.effort)
            joints = found.joints
        else:
            state, turn, drift = self.charts.own(state)
            found = self.mechanism.acceleration_at(state, state.effort)
            joints = np.asarray(np.linalg.solve(turn, found.joints - drift), float)
        return np.concatenate([found.base, joints][self.question.base == "fixed" :])

    def accelerations(self, states: Sequence[RobotState]) -> list[Array]:
        """Return what `acceleration` does, for many states."""
        return [self.acceleration(state) for state in states]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,), in the order of `acceleration`."""
        if self.charts is None:
            return self.mechanism.statics_at(state)
        state, turn, _ = self.charts.own(state)
        mass, gravity = self.mechanism.statics_at(state)
        whole = np.eye(len(mass))
        n = len(turn)
        whole[-n:, -n:] = turn
        return whole.T @ mass @ whole, whole.T @ gravity

    @classmethod
    def beside(cls, urdf: str) -> Mapping[str, Sequence[str]]:
        """Return what the reader makes of what is beside links and joints, by cause its places."""
        del urdf  # of which most readers take no notice
        return {}

    def linked(self, names: Iterable[str]) -> dict[str, LinkProperties]:
        """Return the properties of links that the engine has."""
        found = {name: self.mechanism.link(name) for name in names}
        return {name: link for name, link in found.items() if link}


@dataclass
class TreeReading(Reading):
    """The reference: a tree and the articulated-body algorithm.

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
        at_zero = np.zeros(len(self.joints)), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        origins, rotations = tree.forward(self.joints, *at_zero)
        index = {link.name: i for i, link in enumerate(tree.links)}
        self.hinges = {}
        for joint in tree.moving:
            i = index[joint.child]
            axis = rotations[i] @ joint.axis
            ends = joint.lower, joint.upper
            if joint.kind == "continuous":
                ends = -np.inf, np.inf
            self.hinges[joint.name] = Hinge(origins[i], axis, *ends)

    @cached_property
    def _law(self) -> TreeDynamics:
        mimics = any(joint.mimic for joint in self.tree.moving)
        law = MimicDynamics if mimics else TreeDynamics
        return law(self.tree, self.question.joints, self.question.base, GRAVITY)

    def acceleration(self, state: RobotState) -> Array:
        return self.accelerations([state])[0]

    def accelerations(self, states: Sequence[RobotState]) -> list[Array]:
        turns = [quaternion_matrix(state.orientation) for state in states]
        asked = [
            (s.q, s.qd, s.effort, s.position, turn, turn_twist(turn, s.twist))
            for s, turn in zip(states, turns, strict=True)
        ]
        return [
            np.concatenate([found.base, found.joints][self.question.base == "fixed" :])
            for found in self._law.accelerations(asked)
        ]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
        return self._law.statics(state.q, quaternion_matrix(state.orientation))


def read_tree(urdf: str, source: str = "URDF") -> Tree:
    """Return the tree of a URDF, from its own root, its joints as `single_degrees` has them.

    Raises:
        AccordError: if its links and joints form none, or two have one name.
    """
    top = ET.fromstring(urdf)
    for kind in ("link", "joint"):
        counts = Counter(element.get("name", "") for element in top.findall(kind))
        if counts and max(counts.values()) > 1:
            raise AccordError(f"two {kind}s have the name {counts.most_common(1)[0][0]}")
    urdf = single_degrees(urdf)
    return Tree.parse(urdf, source, root=find_root(ET.fromstring(urdf), source))


def base_of(tree: Tree) -> Base:
    """Return how the root moves where nobody says: `fixed` if it is the world or has no mass."""
    root = tree.links[0].name
    return "fixed" if root == "world" or root in massless(tree, "free") else "free"


def draw_question(tree: Tree, base: Base, seed: int) -> Question:
    """Return random states, alike for one seed: q inside the limits, normal velocities.

    A joint that mimics another is where that puts it.
    """
    rng = np.random.default_rng(seed)
    joints = tuple(joint.name for joint in tree.moving)
    lower = np.array([_end(j.kind, j.lower, -np.pi) for j in tree.moving])
    upper = np.array([_end(j.kind, j.upper, np.pi) for j in tree.moving])
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    n, states = len(joints), []
    leads, offset = tree.independent(joints)
    free = [not joint.mimic for joint in tree.moving]
    for _ in range(STATES):
        q = lower + (upper - lower) * rng.uniform(0.02, 0.98, n)
        motion = rng.normal(size=n), rng.uniform(-1.0, 1.0, n)
        if not all(free):
            q, motion = leads @ q[free] + offset, (leads @ motion[0][free], motion[1])
        turn = rng.normal(size=4)
        place = (rng.normal(size=3), turn / np.linalg.norm(turn), rng.normal(size=6))
        states.append(RobotState(0.0, q, *motion, *(place if base == "free" else ())))
    return Question(base, tree.links[0].name, joints, tuple(states))


def _end(kind: str, limit: float, turn: float) -> float:
    """Return where the states of a joint end: its limit, or half a turn where that is none."""
    bounded = kind != "continuous" and np.isfinite(limit) and abs(limit) < 100.0
    return limit if bounded else turn
