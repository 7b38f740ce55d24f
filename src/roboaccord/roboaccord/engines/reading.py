"""What a reader makes of a robot file: links, joints, and the dynamics that follow from them.

A reader may be added in its engine's package: it derives from `Reading`, its answers come from a
`Mechanism` (mechanism.py), and `reader` of its `EngineSpec` names it. GRAVITY is part of published
figures of parity and stays. The rest is fixed by test_parity and test_degrees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.description.source import parse_lines
from roboaccord.engines.charts import Charts
from roboaccord.engines.mechanism import Mechanism
from roboaccord.engines.model import LinkProperties
from roboaccord.engines.question import Question

GRAVITY = 9.81  # m/s^2, in which every reader answers


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


class Reading(ABC):
    """A robot as one reader has it.

    Args:
        text: a URDF, or in the reader's other format (`form`).
        question: base and joints.
        settings: `default`, or `accord` for ours.
        packages: folders of ROS packages by name.
        file: contains exactly this text and is loaded itself; None where there is none.

    Attributes:
        mechanism: what the engine has loaded.
        has_settings: whether settings change what it reads.
        rounds: whether it prints the numbers, rounded, before it reads them.
        form: format that it reads besides URDF, by the first element; "" for none.
        holds_rotors: whether it reads rotors of a URDF's transmissions.
        keeps_root: whether a root that is fixed to the world stays among its links.
        joints: those that move, in the reader's order.
        mass: of the whole robot [kg].
        links: properties of the links that it keeps, by name.
        hinges: of the joints that move, by name.
        apart: what the dynamics are compared without: damping, friction, effort limit and armature
            of each joint by name, and the joints that mimic others.
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

        Linear and angular in the world for a free base, then those of the question's joints.
        """
        if self.charts:
            state, turn, drift = self.charts.own(state)
        answer = self.mechanism.acceleration_at(state, state.effort)
        joints = answer.joints
        if self.charts:
            joints = np.asarray(np.linalg.solve(turn, joints - drift), float)
        return np.concatenate([answer.base, joints][self.question.base == "fixed" :])

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
        """Return where the reader takes notice of more than links and joints, by cause."""
        del text  # most readers take no notice
        return {}

    def linked(self, names: Iterable[str]) -> dict[str, LinkProperties]:
        """Return the properties of links that the engine has."""
        links = {name: self.mechanism.link(name) for name in names}
        return {name: link for name, link in links.items() if link}
