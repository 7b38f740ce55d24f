"""Questions that every reader of a robot file is asked: base, joints and random states.

STATES and the order of draws in `draw_question` are part of published figures of parity and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from roboaccord.contract.state import RobotState
from roboaccord.description.checks import massless
from roboaccord.description.tree import Tree

Base = Literal["fixed", "free"]
STATES = 100
UNBOUNDED = 100.0  # rad or m: a limit this far away counts as none; half a turn bounds the states
INSIDE = 0.02, 0.98  # fractions of a joint's range between which states are: clear of its stops


@dataclass(frozen=True)
class Question:
    """What every reader is asked.

    Args:
        base: `fixed` or `free`.
        root: link that moves as the base.
        joints: names, in the order of the states.
        states: to answer in, with efforts.
    """

    base: Base
    root: str
    joints: tuple[str, ...]
    states: tuple[RobotState, ...] = ()

    def of(self, joints: Sequence[str]) -> tuple[str, ...]:
        """Return the question's joints that are among those of a reading."""
        return tuple(name for name in self.joints if name in joints)


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
    free = [not joint.mimic for joint in tree.moving]
    for _ in range(STATES):
        q = lower + (upper - lower) * rng.uniform(*INSIDE, n)
        motion = rng.normal(size=n), rng.uniform(-1.0, 1.0, n)
        if not all(free):
            q, motion = leads @ q[free] + offset, (leads @ motion[0][free], motion[1])
        turn = rng.normal(size=4)
        on_base = (rng.normal(size=3), turn / np.linalg.norm(turn), rng.normal(size=6))
        states.append(RobotState(0.0, q, *motion, *(on_base if base == "free" else ())))
    return Question(base, tree.links[0].name, joints, tuple(states))


def _end(kind: str, limit: float, turn: float) -> float:
    """Return where the states of a joint end: its limit, or `turn` where it has none."""
    bounded = kind != "continuous" and np.isfinite(limit) and abs(limit) < UNBOUNDED
    return limit if bounded else turn
