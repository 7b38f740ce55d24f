"""Robot descriptions for Gazebo: its tags, names of collisions, and initial joint positions.

Gazebo Sim reads a robot as URDF, with tags of its own. `expand_for_gazebo` returns the URDF of a
setup (a robot in a scenario) as it is given to Gazebo. Gazebo starts every joint at 0. So in a
launch, a joint that starts at q0 gets an origin that is turned by q0, and limits less q0; what
Gazebo then calls q is the true angle less q0. A server in the simulator's own process is set to the
initial state, and needs none of this. Meshes are in obj_files.py.

A level base is a planar base that stays level in Gazebo: it moves by the joints LEVEL. Apart from
its initial positions, the robot stays the same (test_gazebo_form).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

import numpy as np

from roboaccord.contract import AccordError, EllipseFriction
from roboaccord.contract.interfaces import ForceLaw
from roboaccord.description.base_kinds import KINDS, Base
from roboaccord.description.meshes import local_files
from roboaccord.description.xml_numbers import edit_numbers, numbers
from roboaccord.gazebo.obj_files import with_normals
from roboaccord.numerics.rotations import axis_angle_matrix, matrix_rpy, rpy_matrix
from roboaccord.scenario import Scenario, Setup

# ElementTree renames the prefix of attributes such as `gz:expressed_in` unless it knows it.
ET.register_namespace("gz", "http://gazebosim.org/schema")

# Joints from the world to a base that stays level: along its initial axes and about the vertical.
LEVEL = ("level_x", "level_y", "level_z", "level_yaw")


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
    arguments = {"gazebo": "true", **contact_shapes(setup, contacts)}
    arguments |= _larger_friction(setup.force_law)
    if is_level(setup, contacts):
        arguments["level"] = "true"
    urdf = setup.urdf(base=base_in_gazebo(setup.scenario), more=arguments)
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
    shifts = {name: float(position) for name, position in start.items() if position}
    if not shifts:
        return urdf
    root = ET.fromstring(urdf)
    for joint in root.findall("joint"):
        if joint.get("name") in shifts:
            _start_joint_at(joint, shifts[joint.attrib["name"]])
    return ET.tostring(root, encoding="unicode")


def _start_joint_at(joint: ET.Element, start: float) -> None:
    """Turn or shift the origin of a joint by a position [rad or m], and its limits back."""
    rotation = rpy_matrix(*numbers(joint.find("origin"), "rpy"))
    axis = numbers(joint.find("axis"), "xyz", "1 0 0")
    axis /= np.linalg.norm(axis)
    if joint.get("type") == "prismatic":
        edit_numbers(joint, "origin", "xyz", lambda origin: origin + start * (rotation @ axis))
    else:
        new_rpy = matrix_rpy(rotation @ axis_angle_matrix(axis, np.array(start)))
        edit_numbers(joint, "origin", "rpy", lambda _: np.array(new_rpy))
    for end in ("lower", "upper"):
        if joint.find(f"limit[@{end}]") is not None:
            edit_numbers(joint, "limit", end, lambda limit: limit - start)
