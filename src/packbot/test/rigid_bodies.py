"""Rigid-body algorithms in numpy, from the text of a URDF: the oracle of the arm's dynamics.

Spatial vectors as in Featherstone, Rigid Body Dynamics Algorithms (2008): rotation above
translation, in each body's own frame. All functions take states of shape (..., n) at once. Nothing
here is shared with pinocchio or with the core.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np
from packbot.model.parameters import JOINTS


@dataclass(frozen=True)
class Body:
    """A link with the joint that leads to it."""

    joint: str
    link: str
    parent: int  # -1 for what stands still
    place: np.ndarray
    axis: np.ndarray
    mass: float
    centre: np.ndarray
    inertia: np.ndarray  # spatial (6, 6), about the link's frame


def cross(v):
    """Return the matrix of the cross product with v (..., 3)."""
    x, y, z = np.moveaxis(np.asarray(v, dtype=float), -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def read(urdf):
    """Return the moving bodies of a URDF in the order of its joints; no origin may be turned."""
    top = ET.fromstring(urdf)
    links = {link.get("name"): link for link in top.findall("link")}
    bodies, index = [], {}
    for joint in top.findall("joint"):
        if joint.get("type") == "fixed":
            continue
        name = joint.find("child").get("link")
        inertial = links[name].find("inertial")
        tensor = inertial.find("inertia")
        xx, xy, xz, yy, yz, zz = (
            float(tensor.get("i" + k)) for k in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        turned = [e.get("rpy", "0 0 0").split() for e in (joint.find("origin"),
                  inertial.find("origin"))]  # fmt: skip
        assert all(float(angle) == 0.0 for angles in turned for angle in angles)
        m, c = float(inertial.find("mass").get("value")), vector(inertial.find("origin"), "xyz")
        central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        spatial = np.block(
            [[central + m * cross(c) @ cross(c).T, m * cross(c)], [m * cross(c).T, m * np.eye(3)]]
        )
        parent = index.get(joint.find("parent").get("link"), -1)
        index[name] = len(bodies)
        place, axis = vector(joint.find("origin"), "xyz"), vector(joint.find("axis"), "xyz")
        bodies.append(Body(joint.get("name"), name, parent, place, axis, m, c, spatial))
    return bodies


def vector(element, key):
    return np.array([float(word) for word in element.get(key).split()])


def turns(body, q):
    """Return the rotations (..., 3, 3) from a body to its parent (Rodrigues)."""
    k = cross(body.axis)
    s, c = np.sin(q)[..., None, None], np.cos(q)[..., None, None]
    return np.eye(3) + s * k + (1.0 - c) * k @ k


def transform(body, q):
    """Return the motion transforms (..., 6, 6) from the parent's frame to the body's."""
    e = np.swapaxes(turns(body, q), -1, -2)
    x = np.zeros((*q.shape, 6, 6))
    x[..., :3, :3] = x[..., 3:, 3:] = e
    x[..., 3:, :3] = -e @ cross(body.place)
    return x


def motion_cross(v):
    """Return the spatial cross product with motions v (..., 6), a matrix on motions."""
    x = np.zeros((*v.shape[:-1], 6, 6))
    x[..., :3, :3] = x[..., 3:, 3:] = cross(v[..., :3])
    x[..., 3:, :3] = cross(v[..., 3:])
    return x


def apply(matrix, v):
    return (matrix @ v[..., None])[..., 0]


def transpose(matrix):
    return np.swapaxes(matrix, -1, -2)


def screw(body):
    return np.concatenate([body.axis, np.zeros(3)])


def upward(gravity):
    """Return the acceleration of the ground by which gravity is put in."""
    return np.array([0.0, 0.0, 0.0, 0.0, 0.0, gravity])


def newton_euler(bodies, gravity, q, qd, qdd):
    """Return the efforts (..., n) of a motion (table 5.1)."""
    xs, vs, accelerations, forces = [], [], [], []
    for i, body in enumerate(bodies):
        x, s = transform(body, q[..., i]), screw(body)
        first = body.parent < 0
        before = np.zeros((*q.shape[:-1], 6)) if first else vs[body.parent]
        a = np.broadcast_to(upward(gravity), before.shape) if first else accelerations[body.parent]
        v = apply(x, before) + s * qd[..., i, None]
        a = apply(x, a) + s * qdd[..., i, None] + apply(motion_cross(v), s * qd[..., i, None])
        momentum = apply(body.inertia, v)
        forces.append(apply(body.inertia, a) - apply(transpose(motion_cross(v)), momentum))
        xs.append(x), vs.append(v), accelerations.append(a)
    efforts = np.empty_like(q)
    for i in reversed(range(len(bodies))):
        efforts[..., i] = forces[i] @ screw(bodies[i])
        if (parent := bodies[i].parent) >= 0:
            forces[parent] = forces[parent] + apply(transpose(xs[i]), forces[i])
    return efforts


def placements(bodies, q):
    """Return origins (..., n, 3) and rotations (..., n, 3, 3) of the bodies, from the ground."""
    origins, rotations = [], []
    for i, body in enumerate(bodies):
        turn = turns(body, q[..., i])
        if body.parent < 0:
            origins.append(np.broadcast_to(body.place, (*q.shape[:-1], 3)))
            rotations.append(turn)
        else:
            parent = rotations[body.parent]
            origins.append(origins[body.parent] + parent @ body.place)
            rotations.append(parent @ turn)
    return np.stack(origins, axis=-2), np.stack(rotations, axis=-3)


def potential(bodies, gravity, q):
    """Return the potential energies (...) [J], 0 at the height of the root."""
    origins, rotations = placements(bodies, q)
    heights = [
        origins[..., i, 2] + rotations[..., i, 2, :] @ body.centre for i, body in enumerate(bodies)
    ]
    return gravity * sum(body.mass * height for body, height in zip(bodies, heights))


def frames(table, q):
    """Return the frame behind each row of a DH table, at angles q (..., 7): (..., rows, 4, 4)."""
    place, behind = table.base, []
    for row in table.rows:
        place = place @ row.frame(q[..., JOINTS.index(row.joint)])
        behind.append(place)
    return np.stack(behind, axis=-3)
