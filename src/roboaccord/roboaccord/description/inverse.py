"""Inverse dynamics of a tree on a fixed base, at all samples of a motion at once.

Only speed may be changed: the equations are fixed, the recursive ones of Newton and Euler in the
world's axes [Featherstone 2008, 5.3], and test_dynamics compares them with the forward dynamics.
Every operation is one of NumPy over the samples, so that thousands take milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.tree import Link, Tree, rotors_of
from roboaccord.numerics.rotations import axis_angle_matrix


class Carrier(NamedTuple):
    """A joint that carries a link.

    Args:
        column: of the joint in q.
        axis: unit vector in the world (k, 3).
        origin: of the joint in the world (k, 3) [m].
        slides: whether it is prismatic.
    """

    column: int
    axis: Array
    origin: Array
    slides: bool


class FrameMotion(NamedTuple):
    """Motion of a link's frame at k samples, in the world's axes.

    Args:
        turn: rotation (k, 3, 3).
        origin: of its origin (k, 3).
        spin, change: angular velocity and acceleration (k, 3).
        acc: of its origin, less that of free fall (k, 3).
        carriers: joints that move it.
    """

    turn: Array
    origin: Array
    spin: Array
    change: Array
    acc: Array
    carriers: tuple[Carrier, ...] = ()


def link_motions(
    tree: Tree, joints: Sequence[str], gravity: Array, q: Array, qd: Array, qdd: Array
) -> dict[str, FrameMotion]:
    """Return the motions of all links by name.

    Args:
        tree: its first link does not move; joints that are not named stay at 0.
        joints: names, in the order of q.
        gravity: acceleration of free fall (3,) [m/s^2].
        q, qd, qdd: positions, rates and accelerations (k, n).
    """
    zero = np.zeros((len(q), 3))
    start = FrameMotion(np.tile(np.eye(3), (len(q), 1, 1)), zero, zero, zero, zero - gravity)
    motions = {tree.links[0].name: start}
    for joint in tree.joints:
        turn, origin, spin, change, acc, carriers = motions[joint.parent]
        arm = turn @ joint.position
        turn = turn @ joint.rotation
        if carriers:
            acc = acc + cross(change, arm) + cross(spin, cross(spin, arm))
        origin = origin + arm
        if joint.name in joints:
            column, axis = joints.index(joint.name), turn @ joint.axis
            slides = joint.kind == "prismatic"
            at, rate, more = (x[:, column, None] for x in (q, qd, qdd))
            if slides:
                out = axis * at
                origin = origin + out
                acc = acc + cross(change, out) + cross(spin, cross(spin, out))
                acc = acc + axis * more + 2.0 * cross(spin, axis * rate)
            else:
                turn = turn @ axis_angle_matrix(joint.axis, at[:, 0])
                change = change + axis * more + cross(spin, axis * rate)
                spin = spin + axis * rate
            carriers = (*carriers, Carrier(column, axis, origin, slides))
        motions[joint.child] = FrameMotion(turn, origin, spin, change, acc, carriers)
    return motions


def add_efforts(efforts: Array, links: Iterable[Link], motions: Mapping[str, FrameMotion]) -> None:
    """Add the efforts that the motion of links needs to efforts (k, n)."""
    for link in links:
        turn, frame, spin, change, acc, carriers = motions[link.name]
        if not carriers or not (link.mass or link.inertia.any()):
            continue
        lever = turn @ link.centre
        force = link.mass * (acc + cross(change, lever) + cross(spin, cross(spin, lever)))
        rate, spun = (rotated(turn, rotated(turn, x, True) @ link.inertia) for x in (change, spin))
        moment = rate + cross(spin, spun)
        for column, axis, origin, slides in carriers:
            load = force if slides else moment + cross(frame + lever - origin, force)
            efforts[:, column] += np.einsum("ki,ki->k", axis, load)


def inverse_dynamics(
    tree: Tree, joints: Sequence[str], gravity: Array, q: Array, qd: Array, qdd: Array
) -> Array:
    """Return the efforts (k, n) that a motion needs; arguments as of `link_motions`."""
    efforts = np.zeros(q.shape)
    add_efforts(efforts, tree.links, link_motions(tree, joints, gravity, q, qd, qdd))
    efforts += rotors_of(tree, joints) * qdd
    return efforts


def cross(a: Array, b: Array) -> Array:
    """Return cross products (k, 3) of rows, several times as fast as `numpy.cross`."""
    (x, y, z), (u, v, w) = a.T, b.T
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u]).T


def rotated(turn: Array, rows: Array, inverse: bool = False) -> Array:
    """Return vectors (k, 3) turned by rotations (k, 3, 3), or by their inverses."""
    return np.asarray(np.einsum("kji,kj->ki" if inverse else "kij,kj->ki", turn, rows))
