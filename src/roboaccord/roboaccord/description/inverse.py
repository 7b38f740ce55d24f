"""Inverse dynamics of a tree on a fixed base, for all samples of a motion at once.

`inverse_dynamics` returns the efforts that a recorded motion needs, for checks of logs and for the
cause of a deviation. It is the recursive algorithm of Newton and Euler in the axes of the world
(Featherstone, Rigid Body Dynamics Algorithms, 2008, section 5.3): `link_motions` goes outward from
the base, and `add_efforts` adds the forces that each link needs to the joints that carry it.

Every operation is one of NumPy over the k samples, so that thousands take milliseconds. Arrays
(k, 3) and (k, 3, 3) are views of arrays whose last axis is k, so that loops over the samples run
through neighbouring memory. In formulas, w is the angular velocity (`omega`), w' the angular
acceleration (`alpha`), and r the lever from a frame's origin to a point. test_dynamics compares
with the forward dynamics.
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
        rotation: from its axes to the world's (k, 3, 3).
        origin: position of its origin (k, 3) [m].
        omega, alpha: angular velocity and angular acceleration (k, 3) [rad/s], [rad/s^2].
        acceleration: acceleration of its origin, less that of free fall (k, 3) [m/s^2].
        carriers: joints that move it, from the base to the link.
    """

    rotation: Array
    origin: Array
    omega: Array
    alpha: Array
    acceleration: Array
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
    known = known or {}
    # Of the base; the samples are the last axis in memory.
    zero = np.zeros((3, len(q))).T
    unturned = np.moveaxis(np.tile(np.eye(3)[..., None], len(q)), -1, 0)
    motions = {tree.links[0].name: FrameMotion(unturned, zero, zero, zero, zero - gravity)}
    for joint in tree.joints:
        if joint.child in known:
            motions[joint.child] = known[joint.child]
            continue
        # The frame of the joint moves with its parent: a = a_p + w' x r + w x (w x r).
        rotation, origin, omega, alpha, acceleration, carriers = motions[joint.parent]
        lever = rotations_times(rotation, joint.position)
        rotation = rotations_times(rotation, joint.rotation)
        if carriers:
            acceleration = point_acceleration(acceleration, alpha, omega, lever)
        origin = origin + lever
        if joint.name in joints:
            column = joints.index(joint.name)
            axis = rotations_times(rotation, joint.axis)
            slides = joint.kind == "prismatic"
            joint_q, joint_qd, joint_qdd = (values[:, column, None] for values in (q, qd, qdd))
            # A slide shifts the frame, and adds its acceleration and Coriolis'; a hinge adds to
            # omega and alpha.
            if slides:
                shift = axis * joint_q
                origin = origin + shift
                acceleration = point_acceleration(acceleration, alpha, omega, shift)
                acceleration = acceleration + axis * joint_qdd + 2.0 * cross(omega, axis * joint_qd)
            else:
                rotation = turn_about(rotation, joint.axis, joint_q[:, 0])
                alpha = alpha + axis * joint_qdd + cross(omega, axis * joint_qd)
                omega = omega + axis * joint_qd
            carriers = (*carriers, Carrier(column, axis, origin, slides))
        motions[joint.child] = FrameMotion(rotation, origin, omega, alpha, acceleration, carriers)
    return motions


def add_efforts(efforts: Array, links: Iterable[Link], motions: Mapping[str, FrameMotion]) -> None:
    """Add to efforts (k, n) those that the motion of some links needs.

    Force m a on the centre of mass, moment I w' + w x I w about it; each joint that carries the
    link bears the component along its axis.
    """
    for link in links:
        rotation, frame_origin, omega, alpha, acceleration, carriers = motions[link.name]
        if not carriers or not (link.mass or link.inertia.any()):
            continue
        lever = rotations_times(rotation, link.centre)
        force = link.mass * point_acceleration(acceleration, alpha, omega, lever)
        momentum = in_world(rotation, link.inertia, omega)  # I w
        moment = in_world(rotation, link.inertia, alpha) + cross(omega, momentum)
        for column, axis, joint_origin, slides in carriers:
            borne = force if slides else moment + cross(frame_origin + lever - joint_origin, force)
            efforts[:, column] += np.einsum("ki,ki->k", axis, borne)


def point_acceleration(acceleration: Array, alpha: Array, omega: Array, lever: Array) -> Array:
    """Return the acceleration a + w' x r + w x (w x r) of a point of a link (k, 3) [m/s^2].

    Args:
        acceleration: a, of the origin of the link's frame (k, 3).
        alpha, omega: w' and w of the link (k, 3).
        lever: r, from that origin to the point (k, 3) [m].
    """
    return acceleration + cross(alpha, lever) + cross(omega, cross(omega, lever))


def in_world(rotation: Array, inertia: Array, rows: Array) -> Array:
    """Return I v for vectors v in the world, as rows (k, 3), and an inertia in the link's axes."""
    return rotated(rotation, rotated(rotation, rows, inverse=True) @ inertia)


def rotations_times(rotation: Array, factor: Array) -> Array:
    """Return the products (k, 3, ...) of rotations (k, 3, 3) and one factor (3, ...)."""
    rows = factor.T @ rotation.transpose(1, 2, 0)
    return rows.T if factor.ndim == 1 else rows.transpose(2, 0, 1)


def turn_about(rotation: Array, axis: Array, angle: Array) -> Array:
    """Return rotations (k, 3, 3) turned by angles (k,) [rad] about an axis (3,) of their frames.

    Rodrigues' formula: R (1 + sin(angle) K + (1 - cos(angle)) K K), with K v = axis x v.
    """
    # K', since the rows of R turn; R with the samples as its last axis.
    skew, rows = np.cross(axis, np.eye(3)), rotation.transpose(1, 2, 0)
    rows = rows + np.sin(angle) * (skew @ rows) + (1.0 - np.cos(angle)) * (skew @ skew @ rows)
    return np.asarray(rows.transpose(2, 0, 1))


def cross(a: Array, b: Array) -> Array:
    """Return cross products (k, 3) of rows, several times as fast as `numpy.cross`."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]).T


def rotated(rotation: Array, rows: Array, inverse: bool = False) -> Array:
    """Return vectors (k, 3) turned by rotations (k, 3, 3), or by the inverse rotations."""
    return np.asarray(np.einsum("kji,kj->ki" if inverse else "kij,kj->ki", rotation, rows))
