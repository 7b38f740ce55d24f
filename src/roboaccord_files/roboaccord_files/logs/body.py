"""The robot whose equations are compared with a log, and variants of it with changed parameters.

`LogBody` has the links and joints of the file, and further parameters that a file or a log may have
wrong: offsets of the efforts, zeros of the encoders, rotors, springs, the speed of the clock.
`LogBody.varied` returns the robot with given errors, such as a mass 10 % larger, so that the search
for causes can see what each of them would do.

A cause that can be tried is a field of `LogBody` with a case of `varied`, or a change of the core's
(roboaccord.engines.deviations), and an entry of `groups_of` in tried.py.
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

# rad/s or m/s; rates v0 at which smoothed dry friction F v / sqrt(v^2 + v0^2) reaches 0.71 F. The
# smoothing of a simulator or robot is unknown, so each is tried. A factor of 1.8 apart, so that one
# is within a factor of 1.4 of any from 2 to 140 mrad/s.
DRY_SPEEDS = (0.003, 0.0055, 0.01, 0.017, 0.03, 0.055, 0.1)
OFFSET, TILT, DRY = "effort offset", "gravity direction", "dry friction"  # names of quantities
Names = tuple[str, ...]
# The field of LogBody for each quantity that is a number by joint.
BY_JOINT = {name: name for name in ("damping", "armature", "zero", SPRING)} | {OFFSET: "offset"}


@dataclass(frozen=True)
class LogBody:
    """The parameters of a robot with n joints, in SI units; sliding joints have N and m.

    Args:
        tree: links and joints, with a base that is fixed to the world.
        joints: names of the joints, in the order of the columns.
        gravity: acceleration of free fall (3,) [m/s^2].
        damping: viscous friction of the joints (n,) [N m s/rad].
        dry: dry friction of the joints, a row for each of DRY_SPEEDS (s, n) [N m].
        armature: inertia of rotors beyond those of the file (n,) [kg m^2].
        offset: constant that recorded efforts lack: the true ones are larger by it (n,) [N m].
        zero: recorded position at the joint's true zero (n,) [rad].
        spring: stiffness of springs beyond those of the file, relaxed at 0 (n,) [N m/rad].
        clock: relative error of the log's clock; above 0 the clock is fast.
    """

    tree: Tree
    joints: Names
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
        cls, tree: Tree, joints: Names, gravity: float, damping: float = 1.0, dry: float = 1.0
    ) -> LogBody:
        """Return the robot as its file has it.

        Args:
            tree, joints: as above.
            gravity: downwards [m/s^2].
            damping, dry: factors of the viscous and dry friction of the file.
        """
        by_name, zeros = {joint.name: joint for joint in tree.moving}, np.zeros(len(joints))
        dry_friction = np.zeros((len(DRY_SPEEDS), len(joints)))
        dry_friction[0] = [dry * by_name[name].friction for name in joints]
        viscous = damping * np.array([by_name[name].damping for name in joints])
        free_fall = np.array([0.0, 0.0, -gravity])
        return cls(tree, joints, free_fall, viscous, dry_friction, zeros, zeros, zeros, zeros)

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts (k, n) that a motion needs, without friction: inverse dynamics."""
        inertial = inverse_dynamics(self.tree, self.joints, self.gravity, q - self.zero, qd, qdd)
        return np.asarray(inertial + self.armature * qdd - self.offset + self.pull(q))

    def pull(self, q: Array) -> Array:
        """Return the efforts (k, n) that hold the springs at positions q (k, n)."""
        springs = {joint.name: joint.spring for joint in self.tree.moving}  # (stiffness, slack)
        stiffness, slack = np.array([springs[name] for name in self.joints]).reshape(-1, 2).T
        return np.asarray(stiffness * (q - self.zero - slack) + self.spring * (q - self.zero))

    def friction(self, qd: Array) -> Array:
        """Return the efforts (k, n) that overcome viscous and dry friction at rates qd (k, n)."""
        rows = zip(self.dry, DRY_SPEEDS)
        dry_efforts = (dry * qd / np.hypot(qd, speed) for dry, speed in rows if dry.any())
        return np.asarray(self.damping * qd + sum(dry_efforts))

    def varied(self, sizes: Mapping[Hypothesis, float]) -> LogBody:
        """Return the robot with errors of given sizes.

        A hypothesis names the quantity that is wrong, where (joint or link), and an axis: of a
        vector, or the row of DRY_SPEEDS for dry friction. Without a joint that is the share of the
        file's friction which is smoothed at that speed. A payload has its mass in axis 0, and its
        position relative to the link's centre of mass in axes 1 to 3.
        """
        body = self
        for error, size in sizes.items():
            change = np.array([size if joint == error.where else 0.0 for joint in self.joints])
            if field := BY_JOINT.get(error.quantity):
                body = replace(body, **{field: getattr(body, field) + change})
            elif error.quantity == DRY:
                row, first = np.eye(len(DRY_SPEEDS))[[error.axis, 0]]
                moved = 0.0 if error.where else size * self.dry[0]
                dry = body.dry + np.outer(row, change + moved) - np.outer(first, moved)
                body = replace(body, dry=dry)
            elif error.quantity == "clock":
                body = replace(body, clock=body.clock + size)
            elif error.quantity == "gravity":
                body = replace(body, gravity=(1.0 + size) * body.gravity)
            elif error.quantity == TILT:
                horizontal = size * float(np.linalg.norm(body.gravity))
                body = replace(body, gravity=body.gravity + horizontal * np.eye(3)[error.axis])
            elif error.quantity == PAYLOAD and not error.axis:
                offset = np.array([sizes.get(error._replace(axis=i), 0.0) for i in (1, 2, 3)])
                links = [
                    loaded(link, size, link.centre + offset) if link.name == error.where else link
                    for link in body.tree.links
                ]
                body = replace(body, tree=replace(body.tree, links=tuple(links)))
            elif size and error.quantity != PAYLOAD:  # errors of the core: mass, inertia, axis, ...
                body = replace(body, tree=deviating_tree(body.tree, ModelChange(*error, size)))
        return body
