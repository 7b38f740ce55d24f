"""What the equations of a robot's file know, and the same robot with something otherwise.

A hypothesis may be added: a field of `LogBody` with a case of `varied`, or one of the core's
(engines/deviations.py), and an entry of `groups_of` in tried.py. SPEEDS may be tuned: dry friction
is tried with each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.hypotheses import PAYLOAD, SPRING, Hypothesis
from roboaccord.description.inverse import inverse_dynamics
from roboaccord.description.tree import Tree
from roboaccord.engines.deviations import ModelChange, deviating_tree, loaded

SPEEDS = (0.003, 0.01, 0.03, 0.1)  # rad/s or m/s: below which dry friction falls to 0
OFFSET, TILT, DRY = "effort offset", "gravity direction", "dry friction"
BY_JOINT = {name: name for name in ("damping", "armature", "zero", SPRING)} | {OFFSET: "offset"}


@dataclass(frozen=True)
class LogBody:
    """What the equations know of a robot.

    Args:
        tree, joints: of a fixed base, and the names of the columns.
        gravity: acceleration of free fall (3,) [m/s^2].
        damping: of the joints (n,) [N m s/rad].
        dry: friction of the joints that falls to 0 below each of SPEEDS (s, n) [N m].
        armature: inertia of rotors that the file does not have (n,) [kg m^2].
        offset: of the efforts (n,) [N m].
        zero: of the recorded positions (n,) [rad].
        spring: of the joints, slack at 0, that the file does not have (n,) [N m/rad].
        clock: part by which the log's clock is fast.
    """

    tree: Tree
    joints: tuple[str, ...]
    gravity: Array
    damping: Array
    dry: Array
    armature: Array
    offset: Array
    zero: Array
    spring: Array
    clock: float = 0.0

    @classmethod
    def of(
        cls,
        tree: Tree,
        joints: tuple[str, ...],
        gravity: float,
        damping: float = 1.0,
        dry: float = 1.0,
    ) -> LogBody:
        """Return what the equations know of a robot.

        Args:
            tree, joints: as above.
            gravity: downwards [m/s^2].
            damping, dry: factors on the friction of the file.
        """
        inner, none = {joint.name: joint for joint in tree.moving}, np.zeros(len(joints))
        sliding = np.zeros((len(SPEEDS), len(joints)))
        sliding[0] = [dry * inner[name].friction for name in joints]
        viscous = damping * np.array([inner[name].damping for name in joints])
        pull = np.array([0.0, 0.0, -gravity])
        return cls(tree, joints, pull, viscous, sliding, none, none, none, none)

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts (k, n) that a motion needs, those of friction apart."""
        found = inverse_dynamics(self.tree, self.joints, self.gravity, q - self.zero, qd, qdd)
        return np.asarray(found + self.armature * qdd - self.offset + self.pull(q))

    def pull(self, q: Array) -> Array:
        """Return the efforts (k, n) that strain the springs of the file."""
        springs = {joint.name: joint.spring for joint in self.tree.moving}
        stiffness, slack = np.array([springs[name] for name in self.joints]).reshape(-1, 2).T
        return np.asarray(stiffness * (q - self.zero - slack) + self.spring * (q - self.zero))

    def friction(self, qd: Array) -> Array:
        """Return the efforts (k, n) that friction takes."""
        parts = (
            dry * qd / np.hypot(qd, speed) for dry, speed in zip(self.dry, SPEEDS) if dry.any()
        )
        return np.asarray(self.damping * qd + sum(parts))

    def varied(self, sizes: Mapping[Hypothesis, float]) -> LogBody:
        """Return a robot whose parameters are otherwise."""
        body = self
        for one, size in sizes.items():
            change = np.array([size if joint == one.where else 0.0 for joint in self.joints])
            if field := BY_JOINT.get(one.quantity):
                body = replace(body, **{field: getattr(body, field) + change})
            elif one.quantity == DRY:
                rows = np.arange(len(SPEEDS))[:, None] == one.axis
                body = replace(body, dry=body.dry + change * rows)
            elif one.quantity == "clock":
                body = replace(body, clock=body.clock + size)
            elif one.quantity == "gravity":
                body = replace(body, gravity=(1.0 + size) * body.gravity)
            elif one.quantity == TILT:
                pull = size * float(np.linalg.norm(body.gravity))
                body = replace(body, gravity=body.gravity + pull * np.eye(3)[one.axis])
            elif one.quantity == PAYLOAD and not one.axis:
                place = np.array([sizes.get(one._replace(axis=i), 0.0) for i in (1, 2, 3)])
                links = [
                    loaded(x, size, x.centre + place) if x.name == one.where else x
                    for x in body.tree.links
                ]
                body = replace(body, tree=replace(body.tree, links=tuple(links)))
            elif size and one.quantity != PAYLOAD:
                body = replace(body, tree=deviating_tree(body.tree, ModelChange(*one, size)))
        return body
