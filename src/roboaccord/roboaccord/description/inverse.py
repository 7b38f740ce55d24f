"""Inverse dynamics of a tree on a fixed base, for all samples of a motion at once.

`inverse_dynamics` returns the efforts that a recorded motion needs, for checks of logs and for the
cause of a deviation. It is the recursive algorithm of Newton and Euler in the axes of the world
(Featherstone, Rigid Body Dynamics Algorithms, 2008, section 5.3): `link_motions` goes outward from
the base, and `add_efforts` adds the forces that each link needs to the joints that carry it.

Every operation is one of NumPy over the k samples, so that thousands take milliseconds. Arrays
(k, 3) and (k, 3, 3) are views of arrays whose last axis is k, so that loops over the samples run
through neighbouring memory. In formulas, w is the angular velocity (`spin`), w' the angular
acceleration (`change`) and r a lever. test_dynamics compares it with the forward dynamics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.tree import Link, Tree, rotors_of


class Carrier(NamedTuple):
    """A joint that carries a link, at k samples.

    Args:
        column: index of the joint in q.
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
        origin: position of its origin (k, 3) [m].
        spin, change: angular velocity and angular acceleration (k, 3) [rad/s], [rad/s^2].
        acc: acceleration of its origin, less that of free fall (k, 3) [m/s^2].
        carriers: joints that move it, from the base to the link.
    """

    turn: Array
    origin: Array
    spin: Array
    change: Array
    acc: Array
    carriers: tuple[Carrier, ...] = ()


def inverse_dynamics(
    tree: Tree, joints: Sequence[str], gravity: Array, q: Array, qd: Array, qdd: Array
) -> Array:
    """Return the efforts (k, n) [N m or N] that a motion needs; arguments as of `link_motions`."""
    efforts = np.zeros(q.shape)
    add_efforts(efforts, tree.links, link_motions(tree, joints, gravity, q, qd, qdd))
    efforts += rotors_of(tree, joints) * qdd
    return efforts


def link_motions(
    tree: Tree,
    joints: Sequence[str],
    gravity: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    known: Mapping[str, FrameMotion] | None = None,
) -> dict[str, FrameMotion]:
    """Return the motions of all links by name.

    Args:
        tree: its first link does not move; joints that are not named stay at 0.
        joints: names, in the order of q.
        gravity: acceleration of free fall (3,) [m/s^2].
        q, qd, qdd: positions, rates and accelerations (k, n).
        known: motions of links that are not computed again.
    """
    zero, known = np.zeros((3, len(q))).T, known or {}
    unturned = np.moveaxis(np.tile(np.eye(3)[..., None], len(q)), -1, 0)
    motions = {tree.links[0].name: FrameMotion(unturned, zero, zero, zero, zero - gravity)}
    for joint in tree.joints:
        if joint.child in known:
            motions[joint.child] = known[joint.child]
            continue
        # The frame of the joint moves with its parent: a = a_p + w' x r + w x (w x r).
        turn, origin, spin, change, acc, carriers = motions[joint.parent]
        lever = rotations_times(turn, joint.position)
        turn = rotations_times(turn, joint.rotation)
        if carriers:
            acc = acc + cross(change, lever) + cross(spin, cross(spin, lever))
        origin = origin + lever
        if joint.name in joints:
            column, axis = joints.index(joint.name), rotations_times(turn, joint.axis)
            slides = joint.kind == "prismatic"
            position, rate, acceleration = (values[:, column, None] for values in (q, qd, qdd))
            # A slide shifts the frame, and adds its acceleration and Coriolis'; a hinge adds to
            # spin and change.
            if slides:
                shift = axis * position
                origin = origin + shift
                acc = acc + cross(change, shift) + cross(spin, cross(spin, shift))
                acc = acc + axis * acceleration + 2.0 * cross(spin, axis * rate)
            else:
                turn = turn_about(turn, joint.axis, position[:, 0])
                change = change + axis * acceleration + cross(spin, axis * rate)
                spin = spin + axis * rate
            carriers = (*carriers, Carrier(column, axis, origin, slides))
        motions[joint.child] = FrameMotion(turn, origin, spin, change, acc, carriers)
    return motions


def add_efforts(efforts: Array, links: Iterable[Link], motions: Mapping[str, FrameMotion]) -> None:
    """Add to efforts (k, n) those that the motion of some links needs.

    Force m a on the centre of mass, moment I w' + w x I w about it; each joint that carries the
    link bears the component along its axis.
    """
    for link in links:
        turn, frame_origin, spin, change, acc, carriers = motions[link.name]
        if not carriers or not (link.mass or link.inertia.any()):
            continue
        lever = rotations_times(turn, link.centre)
        force = link.mass * (acc + cross(change, lever) + cross(spin, cross(spin, lever)))
        # I w' and I w, in the world's axes.
        inertia_change, angular_momentum = (
            rotated(turn, rotated(turn, vectors, inverse=True) @ link.inertia)
            for vectors in (change, spin)
        )
        moment = inertia_change + cross(spin, angular_momentum)
        for column, axis, joint_origin, slides in carriers:
            borne = force if slides else moment + cross(frame_origin + lever - joint_origin, force)
            efforts[:, column] += np.einsum("ki,ki->k", axis, borne)


def rotations_times(turn: Array, factor: Array) -> Array:
    """Return the products (k, 3, ...) of rotations (k, 3, 3) and one factor (3, ...)."""
    rows = factor.T @ turn.transpose(1, 2, 0)
    return rows.T if factor.ndim == 1 else rows.transpose(2, 0, 1)


def turn_about(turn: Array, axis: Array, angle: Array) -> Array:
    """Return rotations (k, 3, 3) turned by angles (k,) [rad] about an axis (3,) of their frames.

    Rodrigues' formula: R (1 + sin(angle) K + (1 - cos(angle)) K K), with K v = axis x v.
    """
    # K', since the rows of R turn; R with the samples as its last axis.
    skew, rows = np.cross(axis, np.eye(3)), turn.transpose(1, 2, 0)
    rows = rows + np.sin(angle) * (skew @ rows) + (1.0 - np.cos(angle)) * (skew @ skew @ rows)
    return np.asarray(rows.transpose(2, 0, 1))


def cross(a: Array, b: Array) -> Array:
    """Return cross products (k, 3) of rows, several times as fast as `numpy.cross`."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]).T


def rotated(turn: Array, rows: Array, inverse: bool = False) -> Array:
    """Return vectors (k, 3) turned by rotations (k, 3, 3), or by the inverse rotations."""
    return np.asarray(np.einsum("kji,kj->ki" if inverse else "kij,kj->ki", turn, rows))
