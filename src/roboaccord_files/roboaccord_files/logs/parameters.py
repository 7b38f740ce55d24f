"""What the equations of a robot's file know, and how an error of a hypothesis changes it.

A hypothesis may be added: a field of `DynamicParameters`, a case of `varied` and an entry of
`groups` in regression.py; its unit is in causes.py. SPEEDS may be tuned: dry friction is tried with
each. PROBE stays: it is the step of all numeric derivatives, here, in regression.py and in
windows.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.hypotheses import Hypothesis
from roboaccord.description.tree import Joint, Link, Tree
from roboaccord.numerics.rotations import axis_angle_matrix

from roboaccord_files.logs.inverse import inverse_dynamics

PROBE = 1e-5
SPEEDS = (0.003, 0.01, 0.03, 0.1)  # rad/s or m/s: below which dry friction falls to 0


@dataclass(frozen=True)
class DynamicParameters:
    """Hold what the equations know of a robot.

    Args:
        tree, joints: of a fixed base, and the names of the columns.
        gravity: acceleration of free fall (3,) [m/s^2].
        damping: of the joints (n,) [N m s/rad].
        dry: friction of the joints that falls to 0 below each of SPEEDS (s, n) [N m].
        armature: inertia of rotors (n,) [kg m^2].
        offset: of the efforts (n,) [N m].
        zero: of the recorded positions (n,) [rad].
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
    clock: float = 0.0

    def efforts(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts (k, n) that a motion needs, those of friction apart."""
        found = inverse_dynamics(self.tree, self.joints, self.gravity, q - self.zero, qd, qdd)
        return np.asarray(found + self.armature * qdd - self.offset)

    def friction(self, qd: Array) -> Array:
        """Return the efforts (k, n) that friction takes."""
        parts = (
            dry * qd / np.hypot(qd, speed) for dry, speed in zip(self.dry, SPEEDS) if dry.any()
        )
        return np.asarray(self.damping * qd + sum(parts))


OFFSET, TILT, DRY = "effort offset", "gravity direction", "dry friction"


def varied(body: DynamicParameters, sizes: Mapping[Hypothesis, float]) -> DynamicParameters:
    """Return a robot whose parameters are off."""
    for one, size in sizes.items():
        unit = np.array([size if joint == one.where else 0.0 for joint in body.joints])
        along = np.eye(3)[one.axis % 3]
        match one.quantity:
            case "damping":
                body = replace(body, damping=body.damping + unit)
            case "dry friction":
                dry = body.dry.copy()
                dry[one.axis] += unit
                body = replace(body, dry=dry)
            case "armature":
                body = replace(body, armature=body.armature + unit)
            case "effort offset":
                body = replace(body, offset=body.offset + unit)
            case "clock":
                body = replace(body, clock=body.clock + size)
            case "zero":
                body = replace(body, zero=body.zero + unit)
            case "gravity":
                body = replace(body, gravity=(1.0 + size) * body.gravity)
            case "gravity direction":
                pull = np.linalg.norm(body.gravity)
                body = replace(body, gravity=body.gravity + size * pull * along)
            case "origin" | "axis":
                joints = (
                    _moved(x, one, size) if x.name == one.where else x for x in body.tree.joints
                )
                body = replace(body, tree=replace(body.tree, joints=tuple(joints)))
            case "mass" | "centre" | "inertia":
                links = (
                    _heavier(x, one, size) if x.name == one.where else x for x in body.tree.links
                )
                body = replace(body, tree=replace(body.tree, links=tuple(links)))
    return body


def _moved(joint: Joint, one: Hypothesis, size: float) -> Joint:
    along = np.eye(3)[one.axis]
    if one.quantity == "origin":
        return replace(joint, position=joint.position + size * along)
    return replace(joint, axis=axis_angle_matrix(along, np.array(size)) @ joint.axis)


def _heavier(link: Link, one: Hypothesis, size: float) -> Link:
    """Return a link with a parameter off; as of `TreeDynamics.changed`, the inertia kept."""
    if one.quantity == "mass":
        return replace(link, mass=link.mass * (1.0 + size))
    if one.quantity == "centre":
        return replace(link, centre=link.centre + size * np.eye(3)[one.axis])
    i, j = (half[one.axis] for half in np.triu_indices(3))
    inertia = link.inertia.copy()
    part = size * np.sqrt(abs(link.inertia[i, i] * link.inertia[j, j]))
    inertia[i, j] = inertia[j, i] = inertia[i, j] + part
    return replace(link, inertia=inertia)


def body_of(
    tree: Tree, joints: tuple[str, ...], gravity: float, damping: float = 1.0, dry: float = 1.0
) -> DynamicParameters:
    """Return what the equations know of a robot.

    Args:
        tree, joints: as of `DynamicParameters`.
        gravity: downwards [m/s^2].
        damping, dry: factors on the friction of the file.
    """
    n, inner = len(joints), {joint.name: joint for joint in tree.moving}
    sliding, zero = np.zeros((len(SPEEDS), n)), np.zeros(n)
    sliding[0] = [dry * inner[name].friction for name in joints]
    viscous = damping * np.array([inner[name].damping for name in joints])
    return DynamicParameters(
        tree, joints, np.array([0.0, 0.0, -gravity]), viscous, sliding, zero, zero, zero
    )
