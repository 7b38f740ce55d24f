"""Readers of robot files: the questions that all are asked, and the reference's answers.

`accord parity` compares what programs make of one file. A reader is a class derived from `Reading`:
it loads the file with its own library and answers a `Question`, which is a base, joints and states,
with masses, joint axes, accelerations, mass matrix and gravity forces. `TreeReading` answers from
our own tree of links and joints, and is what others are compared with.

A reader may be added in its engine's package; its answers come from a `Mechanism` (mechanism.py),
and `reader` of its `EngineSpec` names it. GRAVITY, STATES and the order of draws in `draw_question`
are part of published figures and stay.
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

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import IDENTITY, ORIGIN, Array, RobotState
from roboaccord.description.checks import massless
from roboaccord.description.degrees import single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.mimic import MimicDynamics
from roboaccord.description.source import parse_lines
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import find_root
from roboaccord.engines.charts import Charts
from roboaccord.engines.mechanism import Mechanism
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics import rotations

GRAVITY = 9.81  # m/s^2: standard gravity, under which every reader answers
Base = Literal["fixed", "free"]
# of a question: an error in 3 % of all states escapes with a probability of 5 % (rule of three)
STATES = 100
# rad or m: farther limits count as none, 16 turns or more than any slide; states are then within
# half a turn
UNBOUNDED = 100.0
# fractions of a joint's range between which states are drawn: 2 % of 1 rad is 200 times RELEASE,
# so that no stop acts
INSIDE = 0.02, 0.98


@dataclass(frozen=True)
class Hinge:
    """Axis of a joint in the root's frame at q = 0.

    Args:
        anchor: point on it (3,) [m].
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
        states: in which to answer, with efforts.
    """

    base: Base
    root: str
    joints: tuple[str, ...]
    states: tuple[RobotState, ...] = ()

    def of(self, joints: Sequence[str]) -> tuple[str, ...]:
        """Return those of the question's joints that a reading has, in the question's order."""
        return tuple(name for name in self.joints if name in joints)


class Reading(ABC):
    """A robot as one reader has loaded it.

    Args:
        text: of a URDF, or in the reader's other format (`form`).
        question: base and joints.
        settings: `default`, or `accord` for ours.
        packages: folders of ROS packages by name.
        file: with exactly this text, which is loaded itself; None where there is no such file.

    Attributes:
        mechanism: the model that the engine has loaded.
        has_settings: whether settings change what it reads.
        rounds: whether it writes the numbers to text, rounded, before it uses them.
        form: format that it reads besides URDF, by the first element; "" for none.
        holds_rotors: whether it reads rotors of a URDF's transmissions.
        keeps_root: whether a root that is fixed to the world stays among its links.
        joints: those that move, in the reader's order.
        mass: of the whole robot [kg].
        links: properties of the links that it keeps, by name.
        hinges: of the joints that move, by name.
        apart: properties of each joint, by name, that are compared separately and left out of the
            dynamics: damping, friction, effort limit, armature, and whether it mimics another.
        shapes: number of collision shapes of each kind, as URDF names them.
        charts: to its own coordinates, where it has joints of several degrees of freedom.
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
            state, turn, drift = self.charts.to_engine(state)
        answer = self.mechanism.acceleration_at(state, state.effort)
        joints = answer.joints
        if self.charts:
            joints = np.asarray(np.linalg.solve(turn, joints - drift), float)
        return np.concatenate([answer.base, joints][self.question.base == "fixed" :])

    def accelerations(self, states: Sequence[RobotState]) -> list[Array]:
        """Return the accelerations (m,) in each of many states, as `acceleration` does."""
        return [self.acceleration(state) for state in states]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,), in the order of `acceleration`."""
        if self.charts is None:
            return self.mechanism.statics_at(state)
        state, turn, _ = self.charts.to_engine(state)
        mass, gravity = self.mechanism.statics_at(state)
        whole, n = np.eye(len(mass)), len(turn)
        whole[-n:, -n:] = turn
        return whole.T @ mass @ whole, whole.T @ gravity

    @classmethod
    def beside(cls, text: str) -> Mapping[str, Sequence[str]]:
        """Return elements of a file that this reader obeys in addition to links and joints.

        By cause; none by default.
        """
        del text  # most readers ignore other elements
        return {}

    def linked(self, names: Iterable[str]) -> dict[str, LinkProperties]:
        """Return the properties of those named links that the engine has, by name."""
        links = {name: self.mechanism.link(name) for name in names}
        return {name: link for name, link in links.items() if link}


@dataclass
class TreeReading(Reading):
    """The reference: a robot as our own tree of links and joints has it.

    Args:
        tree: of the robot.
        question: base and joints.
        apart: as of `Reading`, without armature.
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
    def _dynamics(self) -> TreeDynamics:
        """Equations of motion of the tree under the question's base, with its springs."""
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
            for answer in self._dynamics.accelerations(motions)
        ]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
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
    """Return how the root moves by default: `fixed` if it is the world or has no mass."""
    root = tree.links[0].name
    return "fixed" if root == "world" or root in massless(tree, "free") else "free"


def draw_question(tree: Tree, base: Base, seed: int) -> Question:
    """Return a question with random states: q inside the limits, normally distributed velocities.

    A joint that mimics another is where the other puts it.
    """
    rng = np.random.default_rng(seed)
    joints = tuple(joint.name for joint in tree.moving)
    lower = np.array([_end(j.kind, j.lower, -np.pi) for j in tree.moving])
    upper = np.array([_end(j.kind, j.upper, np.pi) for j in tree.moving])
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    n, states = len(joints), []
    leads, offset = tree.independent(joints)
    independent = [not joint.mimic for joint in tree.moving]
    for _ in range(STATES):
        q = lower + (upper - lower) * rng.uniform(*INSIDE, n)
        motion = rng.normal(size=n), rng.uniform(-1.0, 1.0, n)
        # Joints that mimic others get the positions and rates that these prescribe.
        if not all(independent):
            q, motion = leads @ q[independent] + offset, (leads @ motion[0][independent], motion[1])
        # Pose and twist of the base; drawn for a fixed one, too, so that draws stay in step.
        turn = rng.normal(size=4)
        on_base = (rng.normal(size=3), turn / np.linalg.norm(turn), rng.normal(size=6))
        states.append(RobotState(0.0, q, *motion, *(on_base if base == "free" else ())))
    return Question(base, tree.links[0].name, joints, tuple(states))


def _end(kind: str, limit: float, turn: float) -> float:
    """Return the bound of a joint's drawn positions: its limit, or `turn` where it has none."""
    bounded = kind != "continuous" and np.isfinite(limit) and abs(limit) < UNBOUNDED
    return limit if bounded else turn
