"""Descriptions and meshes as Gazebo takes them: its tags, initial joint positions, normals.

Gazebo starts every joint at 0. So in a launch, a joint that starts at q0 gets an origin that is
turned by q0, and limits less q0; what Gazebo then calls q is the true angle less q0. A server in
the simulator's own process is set to the initial state, and needs none of this.

An OBJ file without normals ends Gazebo's server: gz-physics leaves out a part of a mesh that has
fewer normals than vertices, and the collision detector then reads beyond its end. So such files are
copied into a cache, with the normals of their faces; VERSION is raised when these copies change.

Apart from its initial positions, the robot stays the same (test_gazebo_form).
"""

from __future__ import annotations

import hashlib
import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import read_bytes
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.contract.sliding_friction import EllipseFriction
from roboaccord.contract.state import Array
from roboaccord.description.base_kinds import KINDS, Base
from roboaccord.description.meshes import FILE, local_files, read_mesh
from roboaccord.description.xml_numbers import edit_numbers, numbers
from roboaccord.numerics.rotations import axis_angle_matrix, rpy_matrix
from roboaccord.run.output import make_folder, write_text
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup

# Otherwise the prefix of such attributes is renamed.
ET.register_namespace("gz", "http://gazebosim.org/schema")

# Joints from the world to a base that stays level: along its initial axes and about the vertical.
LEVEL = ("level_x", "level_y", "level_z", "level_yaw")
# Gazebo warns about a mesh without a material; its colour is not seen, as the description has one.
MATERIAL, PLAIN = "plain.mtl", "newmtl plain\nKd 0.6 0.6 0.6\n"
VERSION = b"2"  # part of the hash by which copies of meshes are named


def expand_for_gazebo(setup: Setup, contacts: str = "", *, started: bool = True) -> str:
    """Return the URDF of a setup as Gazebo takes it.

    Args:
        setup: robot and scenario.
        contacts: one of the robot's `contact_shapes`; the first if empty.
        started: whether joints are at 0 in the initial state; otherwise as in the description.

    Raises:
        AccordError: for a shape that the robot does not have.
    """
    return with_normals(local_files(own_collisions(describe(setup, contacts, started=started))))


def describe(setup: Setup, contacts: str, *, started: bool = True) -> str:
    """Return the URDF with initial positions, before its files and collisions are changed."""
    more = {"gazebo": "true", **contact_shapes(setup, contacts)}
    more |= _larger_friction(setup.force_law)
    if is_level(setup, contacts):
        more["level"] = "true"
    urdf = setup.urdf(base=base_in_gazebo(setup.scenario), more=more)
    start = dict(zip(setup.joints, setup.initial.q.tolist(), strict=True))
    return start_at(urdf, start if started else {})


def contact_shapes(setup: Setup, contacts: str) -> dict[str, str]:
    """Return the xacro's argument `contacts` if the robot has several shapes of contact, else {}.

    Raises:
        AccordError: for a shape that the robot does not have.
    """
    shapes = setup.robot.gazebo.contact_shapes
    if contacts and contacts not in shapes:
        choice = f"one of {', '.join(shapes)}" if shapes else f"no choice for {setup.robot.name}"
        raise AccordError(f"contacts is {contacts}; in Gazebo there is {choice}")
    return {"contacts": contacts or next(iter(shapes))} if shapes else {}


def is_level(setup: Setup, contacts: str) -> bool:
    """Return whether a robot's base moves by the joints LEVEL in Gazebo, instead of freely.

    That is so for a planar base with spheres as contacts, on which a free base would roll over.
    """
    shapes = contact_shapes(setup, contacts)
    return setup.scenario.base == "planar" and shapes.get("contacts") == "spheres"


def _larger_friction(law: ForceLaw | None) -> dict[str, str]:
    """Return, for ground that changes, the larger coefficients of both parts, as the robot's own.

    In Gazebo a contact has the smaller coefficient of the two surfaces, here that of the ground.
    """
    if not isinstance(law, EllipseFriction) or not law.beyond.size:
        return {}
    along, across = np.maximum(law.mu, law.beyond[1:]).tolist()
    return {"mu_along": repr(along), "mu_across": repr(across)}


def base_in_gazebo(scenario: Scenario) -> Base:
    """Return the kind of base in Gazebo: a planar one is free, and stays on the ground.

    A base that is fixed to the world stays fixed, and a ball stays in its bearing.
    """
    return KINDS[scenario.base].in_gazebo


def own_collisions(urdf: str) -> str:
    """Return a URDF in which the name of every collision begins with that of its link.

    sdformat takes a collision with any other name for one of another link, and silently drops what
    a tag `<gazebo reference="LINK">` states about contact.
    """
    root, changed = ET.fromstring(urdf), False
    for link in root.findall("link"):
        for collision in link.findall("collision[@name]"):
            if not collision.attrib["name"].startswith(link.attrib["name"]):
                collision.set("name", f"{link.attrib['name']}_{collision.attrib['name']}")
                changed = True
    return ET.tostring(root, encoding="unicode") if changed else urdf


def start_at(urdf: str, start: Mapping[str, float]) -> str:
    """Return a URDF whose joint positions 0 are the positions `start` of the given one.

    Args:
        urdf: with joints that turn or slide.
        start: initial positions by name of the joint [rad or m]; 0 for others.
    """
    if not (moved := {name: float(at) for name, at in start.items() if at}):
        return urdf
    root = ET.fromstring(urdf)
    for joint in root.findall("joint"):
        if joint.get("name") in moved:
            _start_joint_at(joint, moved[joint.attrib["name"]])
    return ET.tostring(root, encoding="unicode")


def _start_joint_at(joint: ET.Element, at: float) -> None:
    """Turn or shift the origin of a joint along its axis, and its limits back."""
    rotation = rpy_matrix(*numbers(joint.find("origin"), "rpy"))
    axis = numbers(joint.find("axis"), "xyz", "1 0 0")
    axis /= np.linalg.norm(axis)
    if joint.get("type") == "prismatic":
        edit_numbers(joint, "origin", "xyz", lambda place: place + at * (rotation @ axis))
    else:
        new_rpy = matrix_rpy(rotation @ axis_angle_matrix(axis, np.array(at)))
        edit_numbers(joint, "origin", "rpy", lambda _: new_rpy)
    for end in ("lower", "upper"):
        if joint.find(f"limit[@{end}]") is not None:
            edit_numbers(joint, "limit", end, lambda limit: limit - at)


def matrix_rpy(rotation: Array) -> Array:
    """Return URDF's fixed-axis roll, pitch and yaw (3,) [rad] of a rotation matrix (3, 3).

    Roll is taken from the matrix after yaw is undone, so that all three together are exact even at
    a pitch of 90 degrees, where yaw is arbitrary.
    """
    r = rotation
    yaw = math.atan2(r[1, 0], r[0, 0])
    pitch = math.atan2(-r[2, 0], math.hypot(r[0, 0], r[1, 0]))
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * r[0, 2] - c * r[1, 2], c * r[1, 1] - s * r[0, 1])
    return np.array([roll, pitch, yaw])


def cache(name: str) -> Path:
    """Return the cache folder `name` for files that are made for Gazebo."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "roboaccord" / name


def with_normals(urdf: str) -> str:
    """Return a URDF whose OBJ files have normals, copied to a cache folder where they had none.

    Args:
        urdf: its meshes are named by `file://` URLs.

    Raises:
        AccordError: if a file cannot be read, or the folder cannot be written.
    """
    if FILE not in urdf:
        return urdf
    root = ET.fromstring(urdf)
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        if name.startswith(FILE) and name.lower().endswith(".obj"):
            mesh.set("filename", f"{FILE}{_with_normals(Path(name.removeprefix(FILE)))}")
    return ET.tostring(root, encoding="unicode")


def write_faceted(path: Path, vertices: Array, faces: Index) -> None:
    """Write triangles with normals and a material as OBJ, with all digits of the numbers.

    Args:
        path: of the file; an existing one is replaced.
        vertices: (m, 3) [m].
        faces: indices of vertices (k, 3), counterclockwise seen from outside.
    """
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"vn {x!r} {y!r} {z!r}" for x, y, z in normals.tolist()]
    corners = enumerate((faces + 1).tolist(), 1)
    lines += [f"f {a}//{i} {b}//{i} {c}//{i}" for i, (a, b, c) in corners]
    _write(path, lines)


def write_squared(path: Path, vertices: Array, faces: Index) -> None:
    """Write terrain for display as OBJ, without its bottom; the texture repeats every metre.

    Args:
        path: of the file; an existing one is replaced.
        vertices: (m, 3) [m].
        faces: (k, 3), counterclockwise seen from outside.
    """
    # Without faces of the bottom, and vertices that are not used any more.
    height = vertices[:, 2]
    faces = faces[(height[faces] > height.min()).any(axis=1)]
    used, corners = np.unique(faces, return_inverse=True)
    vertices, faces = vertices[used], corners.reshape(faces.shape)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    # Normal of a vertex: mean of the normals of its faces, weighted by their areas.
    normals = np.zeros_like(vertices)
    np.add.at(normals, faces, np.cross(b - a, c - a)[:, None])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    lines = [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in vertices.tolist()]
    lines += [f"vt {x:.3f} {y:.3f}" for x, y, _ in vertices.tolist()]
    lines += [f"vn {x:.2f} {y:.2f} {z:.2f}" for x, y, z in normals.tolist()]
    lines += [f"f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}" for a, b, c in faces + 1]
    _write(path, lines)


def _write(path: Path, lines: Sequence[str]) -> None:
    """Write an OBJ file and its material."""
    head = [f"mtllib {MATERIAL}", "usemtl plain"]
    for name, text in ((MATERIAL, PLAIN), (path.name, "\n".join([*head, *lines]) + "\n")):
        write_text(path.with_name(name), text)


def _with_normals(path: Path) -> Path:
    """Return an OBJ file with normals: the given file, or a copy in a folder named by its hash."""
    vertices, faces = read_mesh(path)
    data = read_bytes(path)
    if any(line.startswith(b"vn ") for line in data.splitlines()):
        return path
    copy = cache("gazebo") / hashlib.sha256(VERSION + data).hexdigest()[:12] / path.name
    if not copy.is_file():
        make_folder(copy.parent)
        write_faceted(copy, vertices, faces)
    return copy
