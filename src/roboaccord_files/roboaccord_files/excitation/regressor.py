"""The regressor of a robot: its equations of motion as a matrix times its parameters.

The equations of motion are linear in masses, inertias and frictions: tau = Y(q, q', q'') phi, with
the efforts tau of the joints, the parameters phi and the regressor Y. Each link that moves has ten
parameters: mass m, first moment m c, and inertia about the origin of the link's frame, in that
frame [Gautier and Khalil 1992; Featherstone 2008, 2.9]. Then come viscous friction, dry friction
and rotor inertia of each joint. `parameters_of` names them, `values_of` has the values of a tree,
and `regressor` computes Y. The order is fixed: test_excitation.py compares all columns with
Pinocchio's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.inverse import FrameMotion, cross, link_motions, rotated
from roboaccord.description.tree import MOMENTS, Link, Tree

# rad/s or m/s; dry friction F at a velocity v is smoothed to F v / sqrt(v^2 + SLOW^2). It is 0.5 %
# of the usual velocity (command.DEFAULT_VELOCITY), so only reversals are smoothed.
SLOW = 0.01
# Quantities of each joint, by the attribute of `Tree`'s joints that has the value.
OF_DRIVES = {"damping": "damping", "friction": "dry friction", "armature": "armature"}
# Columns of a link's parameters, of which `mass` is the first.
FIRST_MOMENT, INERTIA = slice(1, 4), slice(4, 10)
Motion = Sequence[Array]  # positions, rates and accelerations (3, k, n)


class Parameter(NamedTuple):
    """A parameter: its quantity, its link or joint, and its component ("" for a scalar)."""

    quantity: str
    where: str
    component: str = ""

    def __str__(self) -> str:
        """Return it in words, such as `inertia xx of forearm`."""
        return f"{self.quantity} {self.component} of {self.where}".replace("  ", " ")


def moving_links(tree: Tree, joints: Sequence[str]) -> list[Link]:
    """Return the links that one of these joints moves, in the order of the tree.

    Those without mass, as between the degrees of freedom of a joint, have no parameters.
    """
    carried = {tree.links[0].name: False}
    for joint in tree.joints:
        carried[joint.child] = carried[joint.parent] or joint.name in joints
    return [link for link in tree.links if carried[link.name] and (link.mass or link.inertia.any())]


def parameters_of(tree: Tree, joints: Sequence[str], friction: bool = True) -> list[Parameter]:
    """Return the p parameters, in the order of the columns of the regressor."""
    of_link = [("mass", ""), *(("first moment", axis) for axis in "xyz")]
    of_link += [("inertia", moment[1:]) for moment in MOMENTS]
    names = [link.name for link in moving_links(tree, joints)]
    inertial = [Parameter(quantity, name, axis) for name in names for quantity, axis in of_link]
    drives = [Parameter(quantity, joint) for quantity in OF_DRIVES.values() for joint in joints]
    return [*inertial, *(drives if friction else ())]


def values_of(tree: Tree, joints: Sequence[str], friction: bool = True) -> Array:
    """Return the values (p,) of the parameters that a tree states, SI."""
    values = list[float]()
    upper = np.triu_indices(3)
    for link in moving_links(tree, joints):
        c = link.centre
        shifted = link.inertia + link.mass * (c @ c * np.eye(3) - np.outer(c, c))
        values += [link.mass, *(link.mass * c), *shifted[upper]]
    joint_of = {joint.name: joint for joint in tree.moving}
    for attribute in OF_DRIVES if friction else ():
        values += [getattr(joint_of[name], attribute) for name in joints]
    return np.array(values)


def regressor(
    tree: Tree, joints: Sequence[str], gravity: Array, motion: Motion, friction: bool = True
) -> Array:
    """Return the regressor Y (k, n, p) at k states.

    Args:
        tree: its first link does not move; joints that are not named stay at 0.
        joints: n of them.
        gravity: acceleration of free fall (3,) [m/s^2].
        motion: positions, rates and accelerations (3, k, n).
        friction: whether friction and rotors have columns, too.
    """
    q, qd, qdd = motion
    motions = link_motions(tree, joints, gravity, q, qd, qdd)
    links = moving_links(tree, joints)
    columns = np.zeros((*q.shape, 10 * len(links)))
    for i, link in enumerate(links):
        frame = motions[link.name]
        force, moment = unit_wrenches(frame)
        for carrier in frame.carriers:
            load = carrier.axis[:, None] @ (force if carrier.slides else moment)
            if not carrier.slides:  # z . (r x f) = (z x r) . f
                load = load + cross(carrier.axis, frame.origin - carrier.origin)[:, None] @ force
            columns[:, carrier.column, 10 * i : 10 * i + 10] = load[:, 0]
    if not friction:
        return columns
    drives = [qd, qd / np.hypot(qd, SLOW), qdd]
    # A joint's friction and rotor act on this joint alone.
    diagonal = [rates[:, :, None] * np.eye(len(joints)) for rates in drives]
    return np.concatenate([columns, *diagonal], axis=2)


def unit_wrenches(motion: FrameMotion) -> tuple[Array, Array]:
    """Return force and moment about the frame's origin (k, 3, 10) for a unit of each parameter.

    With acceleration a of the origin, angular velocity w and acceleration w', in the world, first
    moment h and inertia I [Featherstone 2008, 2.9]:
    f = m a + (w' x + w x w x) h, moment = h x a + I w' + w x I w.
    """
    turn, spin = motion.rotation, motion.omega
    force, moment = np.zeros((2, len(turn), 3, 10))
    spin_cross = skew(spin)
    force[:, :, 0] = motion.acceleration
    force[:, :, FIRST_MOMENT] = (skew(motion.alpha) + spin_cross @ spin_cross) @ turn
    moment[:, :, FIRST_MOMENT] = -skew(motion.acceleration) @ turn
    # I w' and I w: the inertia is in the frame of the link, and so the vectors are turned there.
    by_change = turn @ moment_matrices(rotated(turn, motion.alpha, True))
    by_spin = turn @ moment_matrices(rotated(turn, spin, True))
    moment[:, :, INERTIA] = by_change + spin_cross @ by_spin
    return force, moment


def skew(rows: Array) -> Array:
    """Return the matrices (k, 3, 3) of cross products with vectors (k, 3)."""
    return np.cross(rows[:, None], np.eye(3)).swapaxes(1, 2)


def moment_matrices(rows: Array) -> Array:
    """Return matrices B (k, 3, 6) with B i = I v, for vectors v (k, 3).

    I is an inertia (3, 3), and i its six moments: the upper triangle by rows.
    """
    matrix = np.zeros((len(rows), 3, 6))
    for i, (row, column) in enumerate(zip(*np.triu_indices(3))):
        matrix[:, row, i] = rows[:, column]
        matrix[:, column, i] = rows[:, row]
    return matrix
