"""What a reader makes of a URDF: links, joints, and the dynamics that follow from them.

A reader may be added in its engine's package: it derives from `Reading` and `Mechanism`, and
`reader` of its `EngineSpec` names it. A new property is an abstract method of `Mechanism` for all
engines to write. GRAVITY and STATES, and the order of draws in `draw_question`, are part of
published figures of parity and stay. The rest is fixed by test_parity, test_degrees and
test_free_motion.

Of joints with several degrees of freedom an engine's own coordinates x are functions of the
workspace's q (`description.degrees`), so that with rates x' = T q' accelerations are x'' = T q'' +
c, and efforts f = T' f_x.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import IDENTITY, NO_TWIST, ORIGIN, Array, RobotState
from roboaccord.description.checks import massless
from roboaccord.description.degrees import DEGREES, plane, single_degrees
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.mimic import MimicDynamics
from roboaccord.description.source import parse_lines
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import find_root
from roboaccord.description.xml_numbers import numbers
from roboaccord.engines.model import JointProperties, LinkProperties
from roboaccord.numerics import rotations

Chart = Callable[[Array, Array], tuple[Array, Array, Array]]
"""From q and q' (k,) to x (k,), T (k, k) and c (k,)."""
AXES = np.eye(3)
Base = Literal["fixed", "free"]
GRAVITY = 9.81
STATES = 100


def plane_chart(own: Array, ours: Array) -> Chart:
    """Return the chart of a planar joint; its own axes (3, 3) and ours in columns, normal last."""
    turn = own.T @ ours
    return lambda q, qd: (turn @ q, turn, np.zeros(3))


def planes(urdf: str) -> dict[str, Array]:
    """Return our axes (3, 3) of each planar joint of a URDF, in its parent's frame."""
    found = {}
    for joint in ET.fromstring(urdf).findall("joint[@type='planar']"):
        turn = rotations.rpy_matrix(*numbers(joint.find("origin"), "rpy").tolist())
        normal = numbers(joint.find("axis"), "xyz", "1 0 0")
        found[joint.get("name", "")] = turn @ plane(normal)
    return found


def free_motion(q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
    """Return where the chain of a floating joint leads, and how fast.

    Args:
        q, qd: three slides, then angles about x, y and z (6,).

    Returns:
        position (3,) and rotation (3, 3); Jacobian (6, 6) of the twist, angular first, along the
        turned axes; and what of its rate is due to velocities alone (6,).
    """
    first, second = (rotations.axis_angle_matrix(AXES[i], np.array(q[3 + i])) for i in range(2))
    third = rotations.axis_angle_matrix(AXES[2], np.array(q[5]))
    rotation = first @ second @ third
    spins = np.column_stack([AXES[0], first @ AXES[1], first @ second @ AXES[2]])
    # Each axis is turned by the hinges before it.
    before = np.cumsum(spins * qd[3:], axis=1) - spins * qd[3:]
    drift = np.cross(before.T, (spins * qd[3:]).T).sum(axis=0)
    jacobian = np.zeros((6, 6))
    jacobian[:3, 3:], jacobian[3:, :3] = rotation.T @ spins, rotation.T
    twist = jacobian @ qd
    linear = -np.cross(twist[:3], twist[3:])
    return q[:3], rotation, jacobian, np.concatenate([rotation.T @ drift, linear])


class Charts:
    """Take states of our chains to an engine's coordinates, and what it answers back.

    Args:
        joints: names of the columns of states.
        charts: by the name of the joint that has several degrees of freedom.
    """

    def __init__(self, joints: Sequence[str], charts: Mapping[str, Chart]) -> None:
        column = {name: i for i, name in enumerate(joints)}
        self._parts = [
            (np.array([column[f"{name}_{degree}"] for degree in degrees]), chart)
            for name, chart in charts.items()
            if (degrees := _degrees_of(name, column))
        ]
        self._whole = np.eye(len(column))

    def own(self, state: RobotState) -> tuple[RobotState, Array, Array]:
        """Return a state in the engine's coordinates, T (n, n) and c (n,)."""
        q, turn, drift = np.array(state.q), self._whole.copy(), np.zeros(len(state.q))
        for rows, chart in self._parts:
            q[rows], turn[np.ix_(rows, rows)], drift[rows] = chart(state.q[rows], state.qd[rows])
        effort = np.asarray(np.linalg.solve(turn.T, state.effort), float)
        return replace(state, q=q, qd=turn @ state.qd, effort=effort), turn, drift


def _degrees_of(name: str, joints: Collection[str]) -> tuple[str, ...]:
    """Return the degrees of freedom that a joint has among ours; none where it is not asked for."""
    kinds = sorted(DEGREES.values(), key=len, reverse=True)
    return next((k for k in kinds if all(f"{name}_{each}" in joints for each in k)), ())


class Mechanism(ABC):
    """Put an engine's own model in states, and ask for its equations and properties, in our units.

    `rotation` (3, 3) is that of the base in the present state.
    """

    @abstractmethod
    def place(self, state: RobotState) -> None:
        """Put it in a state."""

    @abstractmethod
    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        """Return the accelerations in the present state, without contact, friction or stops."""

    @abstractmethod
    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return matrix S, mass matrix M and gravity forces g of the engine's coordinates, at rest.

        S (m, m) gives the rates of the engine's coordinates by those of `mass_matrix`.
        """

    @abstractmethod
    def link(self, name: str) -> LinkProperties | None:
        """Return the properties of a link; None where the engine has none of that name."""

    @abstractmethod
    def joint(self, name: str) -> JointProperties:
        """Return the properties of a joint."""

    @abstractmethod
    def gravity(self) -> Array:
        """Return gravity in the world (3,) [m/s^2]."""

    def acceleration_at(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations in a state, without contact, friction or stops."""
        self.place(state)
        return self.accelerate(rotations.quaternion_matrix(state.orientation), effort)

    def statics_at(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,) [N, N m] in a state.

        Their order is linear and angular in the world for a free base, x, y and yaw for a planar
        one, nothing for a fixed one; then the joints.
        """
        self.place(replace(state, qd=np.zeros_like(state.qd), twist=NO_TWIST))
        turn, mass, gravity = self.statics(rotations.quaternion_matrix(state.orientation))
        return np.asarray(turn.T @ mass @ turn), np.asarray(turn.T @ gravity)


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


class Reading(ABC):
    """A robot as one reader has it.

    Args:
        text: of a URDF, or in the reader's other format (`form`).
        question: base and joints.
        settings: `default`, or `accord` for ours.
        packages: folders of ROS packages by name.
        file: with this very text, which is loaded as it is; None where there is none.

    Attributes:
        mechanism: what the engine has loaded, which answers for it.
        has_settings: whether settings change what it reads.
        rounds: whether it prints the numbers, rounded, before it reads them.
        form: format that it reads besides URDF, by the first element; "" for none.
        holds_rotors: whether it reads rotors of a URDF's transmissions.
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
        """Return whether a text is in the reader's other format, and no URDF."""
        return bool(cls.form) and parse_lines(text)[0].tag == cls.form

    def acceleration(self, state: RobotState) -> Array:
        """Return accelerations (m,) in a state, damping and friction left out.

        Linear and angular in the world for a free base, then the joints that were asked for.
        """
        if self.charts:
            state, turn, drift = self.charts.own(state)
        found = self.mechanism.acceleration_at(state, state.effort)
        joints = found.joints
        if self.charts:
            joints = np.asarray(np.linalg.solve(turn, joints - drift), float)
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
        whole, n = np.eye(len(mass)), len(turn)
        whole[-n:, -n:] = turn
        return whole.T @ mass @ whole, whole.T @ gravity

    @classmethod
    def beside(cls, text: str) -> Mapping[str, Sequence[str]]:
        """Return what the reader makes of what is beside links and joints, by cause its places."""
        del text  # of which most readers take no notice
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
        poses = tree.forward(self.joints, np.zeros(len(self.joints)), ORIGIN, IDENTITY)
        at = {link.name: pose for link, *pose in zip(tree.links, *poses, strict=True)}
        self.hinges = {
            j.name: Hinge(at[j.child][0], at[j.child][1] @ j.axis, *j.ends) for j in tree.moving
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
        asked = [
            (s.q, s.qd, s.effort, s.position, turn, rotations.turn_twist(turn, s.twist))
            for s, turn in zip(states, turns, strict=True)
        ]
        return [
            np.concatenate([found.base, found.joints][self.question.base == "fixed" :])
            for found in self._law.accelerations(asked)
        ]

    def statics(self, state: RobotState) -> tuple[Array, Array]:
        return self._law.statics(state.q, rotations.quaternion_matrix(state.orientation))


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
    """Return how the root moves by default: `fixed` if it is the world or has no mass."""
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
