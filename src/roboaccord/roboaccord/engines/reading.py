"""Readers of robot files, which `accord parity` compares with each other.

The same robot file may mean different robots to different programs. `accord parity` loads it with
several readers and asks all of them the same `Question`: how does this robot move, in these states?
A reader is a class derived from `Reading`. It loads the file with its own library, and returns
masses, joint axes, accelerations, mass matrix and gravity forces. `TreeReading` is the reference,
with which the others are compared: it answers from our own tree of links and joints.

A reader may be added in its engine's package; its answers come from a `Mechanism` (mechanism.py),
and `reader` of its `EngineSpec` names it. GRAVITY, STATE_COUNT and the order of draws in
`draw_question` are part of published figures and stay.
"""

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

from roboaccord.contract import IDENTITY, ORIGIN, AccordError, Array, RobotState
from roboaccord.description import Tree, find_root, parse_lines
from roboaccord.description.checks import massless
from roboaccord.description.degrees import single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.mimic import MimicDynamics
from roboaccord.engines.charts import Charts
from roboaccord.engines.mechanism import Mechanism
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics import rotations

GRAVITY = 9.81  # m/s^2: standard gravity, under which every reader answers
Base = Literal["fixed", "free"]
# Number of states in a question. An error that shows in 3 % of all states remains unnoticed with a
# probability of 5 % (rule of three).
STATE_COUNT = 100
# [rad or m] Limits of this size or more count as none: 16 turns, or farther than any slide. States
# are then drawn from -pi to pi.
SMALLEST_UNBOUNDED = 100.0
# Fractions of a joint's range between which states are drawn. No stop acts there: 2 % of 1 rad is
# 200 times RELEASE, the distance at which a stop may act (simulators/stop_watch.py).
INNER_RANGE = 0.02, 0.98


@dataclass(frozen=True)
class Hinge:
    """Axis of a joint at q = 0, in the frame of the robot's root.

    Args:
        anchor: point on the axis (3,) [m].
        axis: unit vector (3,).
        lower, upper: limits of the joint [rad or m].
    """

    anchor: Array
    axis: Array
    lower: float
    upper: float


@dataclass(frozen=True)
class Question:
    """The question that every reader is asked about a robot.

    Args:
        base: `fixed` or `free`.
        root: link that moves as the base.
        joints: names, in the order of the states.
        states: states, with efforts, in which readers answer.
    """

    base: Base
    root: str
    joints: tuple[str, ...]
    states: tuple[RobotState, ...] = ()

    def of(self, joints: Sequence[str]) -> tuple[str, ...]:
        """Return those of the question's joints that a reader has, in the question's order."""
        return tuple(name for name in self.joints if name in joints)


class Reading(ABC):
    """A robot that one reader has loaded.

    Args:
        text: a URDF, or a text in the reader's other format (`form`).
        question: base and joints.
        settings: `default`, the library's own; or `accord`, those of our simulations.
        packages: folders of ROS packages by name.
        file: with exactly this text, to be loaded instead of it; None if there is no such file.

    Attributes:
        mechanism: the model that the engine has loaded.
        has_settings: whether settings change what the reader reads.
        rounds: whether the reader writes numbers to text, rounded, before it uses them.
        form: format that it reads besides URDF, by the first element; "" for none.
        holds_rotors: whether it reads rotors of a URDF's transmissions.
        keeps_root: whether a root that is fixed to the world remains among its links.
        joints: names of those that move, in the reader's order.
        mass: total mass of the robot [kg].
        links: properties by name; readers may merge links that are fixed to each other.
        hinges: axes of the joints that move, by name.
        apart: by name, and then by joint, properties that are compared separately and do not act in
            the dynamics: damping, friction, effort limit, armature, mimic (1 for a joint that
            mimics another).
        shapes: number of collision shapes of each kind, by URDF's name of the kind.
        charts: conversion to its own coordinates, for joints with several degrees of freedom.
    """

    has_settings: ClassVar[bool] = False
    rounds: ClassVar[bool] = False
    form: ClassVar[str] = ""
    holds_rotors: ClassVar[bool] = False
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
        self,
        text: str,
        question: Question,
        settings: str,
        packages: Mapping[str, Path],
        file: Path | None = None,
    ) -> None: ...

    @classmethod
    def is_own(cls, text: str) -> bool:
        """Return whether a text is in the reader's other format, and not a URDF."""
        return bool(cls.form) and parse_lines(text)[0].tag == cls.form

    def acceleration(self, state: RobotState) -> Array:
        """Return accelerations (m,) in a state, without damping and friction.

        They are linear and angular in the world for a free base, then those of the joints.
        """
        if self.charts:
            state, T, c = self.charts.to_engine(state)
        answer = self.mechanism.acceleration_at(state, state.effort)
        joints = answer.joints
        if self.charts:
            joints = np.asarray(np.linalg.solve(T, joints - c), float)
        return self._joined(answer.base, joints)

    def _joined(self, base: Array, joints: Array) -> Array:
        """Return accelerations of base (6,) and joints (n,) in one array; no fixed base's."""
        return joints if self.question.base == "fixed" else np.concatenate([base, joints])

    def accelerations(self, states: Sequence[RobotState]) -> list[Array]:
        """Return the accelerations (m,) in each of many states, as `acceleration` does."""
        return [self.acceleration(state) for state in states]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,), in the order of `acceleration`."""
        if self.charts is None:
            return self.mechanism.statics_at(state)
        state, T, _ = self.charts.to_engine(state)
        mass, gravity = self.mechanism.statics_at(state)
        rates_to_engine, n = np.eye(len(mass)), len(T)  # the base's rates are the same
        rates_to_engine[-n:, -n:] = T
        return rates_to_engine.T @ mass @ rates_to_engine, rates_to_engine.T @ gravity

    @classmethod
    def beside(cls, text: str) -> Mapping[str, Sequence[str]]:
        """Return elements of a file that this reader obeys in addition to links and joints.

        They are listed by the cause of a difference that they explain; by default none.
        """
        del text  # most readers ignore other elements
        return {}

    def properties_of(self, names: Iterable[str]) -> dict[str, LinkProperties]:
        """Return the properties, by name, of those of the given links that the engine has."""
        links = {name: self.mechanism.link(name) for name in names}
        return {name: link for name, link in links.items() if link}


@dataclass
class TreeReading(Reading):
    """The reference: a robot that is our own tree of links and joints.

    Args:
        tree: links and joints of the robot.
        question: base and joints.
        apart: as of `Reading`, without armature.
    """

    tree: Tree
    question: Question
    apart: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Fill the attributes of `Reading` from the tree."""
        tree = self.tree
        self.joints = tuple(joint.name for joint in tree.moving)
        self.mass = float(sum(link.mass for link in tree.links))
        self.shapes = Counter()
        self.links = {k.name: LinkProperties(k.mass, k.centre, k.inertia) for k in tree.links}
        # Axes of the joints where all joints are at 0. The origin of a link is on its joint.
        origins, turns = tree.forward(self.joints, np.zeros(len(self.joints)), ORIGIN, IDENTITY)
        rows = {link.name: i for i, link in enumerate(tree.links)}
        self.hinges = dict[str, Hinge]()
        for joint in tree.moving:
            row = rows[joint.child]
            self.hinges[joint.name] = Hinge(origins[row], turns[row] @ joint.axis, *joint.ends)
        rotors = {joint.name: joint.armature for joint in tree.moving}
        self.apart = {"armature": rotors, **self.apart}

    @cached_property
    def _dynamics(self) -> TreeDynamics:
        """Equations of motion of the tree under the question's base, with its springs."""
        has_mimics = any(joint.mimic for joint in self.tree.moving)
        equations = MimicDynamics if has_mimics else TreeDynamics
        joints, springs = self.question.joints, {j.name: j.spring for j in self.tree.moving}
        stiffness, slack = np.array([springs[name] for name in joints]).reshape(-1, 2).T
        spring = (stiffness, slack) if stiffness.any() else None
        return equations(self.tree, joints, self.question.base, GRAVITY, spring=spring)

    def acceleration(self, state: RobotState) -> Array:
        """Return accelerations (m,) in a state, by our equations of motion."""
        return self.accelerations([state])[0]

    def accelerations(self, states: Sequence[RobotState]) -> list[Array]:
        """Return the accelerations (m,) in each of many states."""
        turns = [rotations.quaternion_matrix(state.orientation) for state in states]
        motions = [
            (s.q, s.qd, s.effort, s.position, turn, rotations.turn_twist(turn, s.twist))
            for s, turn in zip(states, turns, strict=True)
        ]
        answers = self._dynamics.accelerations(motions)
        return [self._joined(answer.base, answer.joints) for answer in answers]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,)."""
        return self.all_statics([state])[0]

    def all_statics(self, states: Sequence[RobotState]) -> list[tuple[Array, Array]]:
        """Return mass matrix (m, m) and gravity forces (m,) in each state."""
        turns = [rotations.quaternion_matrix(state.orientation) for state in states]
        return self._dynamics.all_statics([(s.q, r) for s, r in zip(states, turns, strict=True)])


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


def base_of(tree: Tree) -> Base:
    """Return the default base of a tree: `fixed` if its root is the world or has no mass."""
    root = tree.links[0].name
    return "fixed" if root == "world" or root in massless(tree, "free") else "free"


def draw_question(tree: Tree, base: Base, seed: int) -> Question:
    """Return a question with random states, reproducible by the seed.

    Positions q are uniform within the limits, velocities normal and efforts uniform, in SI units.
    Joints that mimic others follow them.
    """
    rng = np.random.default_rng(seed)
    joints = tuple(joint.name for joint in tree.moving)
    lower = np.array([_bound(j.kind, j.lower, -np.pi) for j in tree.moving])
    upper = np.array([_bound(j.kind, j.upper, np.pi) for j in tree.moving])
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    n, states = len(joints), []
    # q = mimic_matrix @ q_independent + offset
    mimic_matrix, offset = tree.independent(joints)
    independent = [not joint.mimic for joint in tree.moving]
    for _ in range(STATE_COUNT):
        q = lower + (upper - lower) * rng.uniform(*INNER_RANGE, n)
        qd, effort = rng.normal(size=n), rng.uniform(-1.0, 1.0, n)
        if not all(independent):
            q, qd = mimic_matrix @ q[independent] + offset, mimic_matrix @ qd[independent]
        # Pose and twist of the base; drawn for a fixed one, too, so that all draws are the same.
        quaternion = rng.normal(size=4)
        position, twist = rng.normal(size=3), rng.normal(size=6)
        state = RobotState(0.0, q, qd, effort)
        if base == "free":
            orientation = quaternion / np.linalg.norm(quaternion)
            state = RobotState(0.0, q, qd, effort, position, orientation, twist)
        states.append(state)
    return Question(base, tree.links[0].name, joints, tuple(states))


def _bound(kind: str, limit: float, default: float) -> float:
    """Return the bound of a joint's drawn positions: its limit, or the default if it has none."""
    has_limit = kind != "continuous" and np.isfinite(limit) and abs(limit) < SMALLEST_UNBOUNDED
    return limit if has_limit else default
