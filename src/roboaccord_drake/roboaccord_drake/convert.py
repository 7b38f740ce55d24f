"""Convert SDF to URDF, through the plant that Drake's parser makes of the SDF (load.py).

The links and joints of the plant become a tree, which is written as a URDF. What URDF cannot
express is refused with a message that names it; bushings are left out with a note.
test_sdf.py checks that the URDF moves as the SDF does in Drake.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import ForceElementIndex, PrismaticSpring, RevoluteSpring
from roboaccord.contract import AccordError
from roboaccord.description import (
    HERE,
    UP,
    WORLD,
    Converted,
    Joint,
    Link,
    Pose,
    make_tree,
    parse_lines,
    write_tree,
)

from roboaccord_drake.load import first_line, gathered_warnings, load_sdf, notes_on_text
from roboaccord_drake.model import bodies_of, joint_axis, joints_of, motors_of

# Types of joints in URDF, by Drake's names of them.
URDF_TYPES = {
    "weld": "fixed",
    "revolute": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "quaternion_floating": "floating",
    "rpy_floating": "floating",
}
# Drake's warning that it takes another inertia than the one of the file.
REPLACED_INERTIA = re.compile(r"(?:A link named|While (?:parsing inertia|re-expressing)).*")
SHOWN_WARNINGS = 2  # warnings of Drake that are noted in full, two lines; others are counted


def convert(text: str, path: Path | None, packages: Mapping[str, Path]) -> Converted:
    """Return the URDF of a robot's model in SDF, with notes on what was changed or left out.

    Links keep their names and axes. URDF puts a link's origin on the joint that moves it, so
    origins may change.

    Args:
        text: in SDF.
        path: of the file; None for a text without a file.
        packages: folders by name, for `model://NAME` and `package://NAME`.

    Raises:
        AccordError: if the text is not one model that moves, Drake refuses it, or it holds what
            URDF cannot express.
    """
    sdf, _ = parse_lines(text)  # unlike ElementTree it accepts prefixes that are not declared
    model = _only_model(sdf)
    plant, warnings = load_sdf(text, path, packages)
    _check_plant(plant, warnings)
    tree = make_tree(*links_and_joints(plant))
    friction = _friction_by_joint(model)
    joints = [replace(j, friction=friction.get(j.name, 0.0)) for j in tree.joints]
    name = model.get("name", "robot")
    urdf = write_tree(replace(tree, joints=tuple(joints)), name)
    notes = [f"SDF {sdf.get('version')}; Drake knows it up to {_newest_sdf_version()}"]
    notes += notes_on_text(text, path, packages)
    if plant.num_force_elements() > 1 + len(_springs(plant)):  # gravity is one
        notes.append("bushings: left out")
    notes += [f"Drake: {first_line(line)}" for line in warnings[:SHOWN_WARNINGS]]
    if len(warnings) > SHOWN_WARNINGS:
        notes.append(f"Drake: {len(warnings) - SHOWN_WARNINGS} more warnings")
    return Converted(name, urdf, tuple(notes))


def links_and_joints(plant: MultibodyPlant) -> tuple[list[Link], list[tuple[Joint, Pose]]]:
    """Return links and joints of a plant, each joint with its pose in its child, for `make_tree`.

    Raises:
        AccordError: for a joint that URDF cannot express.
    """
    bodies = bodies_of(plant)
    links = [_link(name, body) for name, body in bodies.items() if name != WORLD]
    names = {body.index(): name for name, body in bodies.items()}
    motors = {motor.joint().index(): motor for motor in motors_of(plant)}
    springs = _springs(plant)
    joints = list[tuple[Joint, Pose]]()
    for name, drake_joint in joints_of(plant).items():
        joint = _joint(name, drake_joint, names)
        if joint.kind in ("revolute", "prismatic"):
            joint = _with_properties(joint, drake_joint, motors, springs)
        joints.append((joint, _pose_in_body(drake_joint.frame_on_child())))
    if any(WORLD in (joint.parent, joint.child) for joint, _ in joints):
        links.insert(0, Link(WORLD, 0.0, np.zeros(3), np.zeros((3, 3))))
    return links, joints


def _only_model(sdf: ET.Element) -> ET.Element:
    """Return the one model of an SDF; raise AccordError if it has none, several or a static one."""
    if sdf.find("world") is not None:
        raise AccordError("it is a world, and no robot: name the file of the robot's own model")
    models = sdf.findall("model")
    if len(models) != 1:
        names = ", ".join(model.get("name", "") for model in models[:4])
        raise AccordError(f"it holds {len(models)} models ({names}): name the file of one")
    if models[0].findtext("static", "").strip() in ("1", "true"):
        raise AccordError(f"model {models[0].get('name')} is static: nothing of it moves")
    for joint in models[0].iter("joint"):
        if joint.find(".//mimic") is not None:
            raise AccordError(f"joint {joint.get('name')} mimics another: not taken from SDF")
    return models[0]


def _check_plant(plant: MultibodyPlant, warnings: Iterable[str]) -> None:
    """Check that Drake takes the file's inertias, and that URDF can express how links are tied.

    Raises:
        AccordError: in Drake's words for an inertia, or with the number of constraints.
    """
    for warning in warnings:
        if match := REPLACED_INERTIA.search(warning):
            raise AccordError(f"Drake would take another inertia: {match[0]}")
    if count := plant.num_constraints():
        raise AccordError(f"{count} constraints between links, which URDF cannot express")


def _joint(name: str, joint: Any, bodies: Mapping[Any, str]) -> Joint:
    """Return one of Drake's joints by its ends, with neither limits nor properties.

    Args:
        name: of the joint.
        joint: Drake's joint.
        bodies: names of bodies, by Drake's index.

    Raises:
        AccordError: for a joint that URDF cannot express.
    """
    kind = URDF_TYPES.get(joint.type_name())
    if kind is None:
        word = joint.type_name().removesuffix("_rpy")
        raise AccordError(f"{word} joint {joint.name()}, which URDF cannot express")
    parent, child = bodies[joint.parent_body().index()], bodies[joint.child_body().index()]
    position, rotation = _pose_in_body(joint.frame_on_parent())
    if kind == "fixed":  # a weld holds its two frames at a pose that need not be 0
        offset, turn = _position_and_rotation(joint.X_FM())
        position, rotation = position + rotation @ offset, rotation @ turn
    return Joint(name, kind, parent, child, position, rotation, UP, -np.inf, np.inf)


def _with_properties(
    joint: Joint, drake_joint: Any, motors: Mapping[Any, Any], springs: Mapping[Any, Any]
) -> Joint:
    """Return a joint that turns or slides with its axis, limits, damping, motor and spring.

    Args:
        joint: without these.
        drake_joint: Drake's joint.
        motors: Drake's actuators, by Drake's index of their joints.
        springs: stiffness and slack position of each spring, by the same index.
    """
    motor = motors.get(drake_joint.index())
    lower = float(drake_joint.position_lower_limit())
    upper = float(drake_joint.position_upper_limit())
    is_endless = joint.kind == "revolute" and np.isinf([lower, upper]).all()
    return replace(
        joint,
        kind="continuous" if is_endless else joint.kind,
        axis=joint_axis(drake_joint),
        lower=lower,
        upper=upper,
        effort=float(motor.effort_limit()) if motor else 0.0,
        velocity=float(drake_joint.velocity_upper_limit()),
        damping=float(drake_joint.default_damping()),
        armature=float(motor.default_reflected_inertia()) if motor else 0.0,
        spring=springs.get(drake_joint.index(), (0.0, 0.0)),
    )


def _springs(plant: MultibodyPlant) -> dict[Any, tuple[float, float]]:
    """Return stiffness and slack position of each joint that has a spring, by Drake's index."""
    springs = {}
    for i in range(plant.num_force_elements()):
        spring = plant.get_force_element(ForceElementIndex(i))
        if isinstance(spring, RevoluteSpring):
            stiffness, slack = spring.default_stiffness(), spring.default_nominal_angle()
            springs[spring.joint().index()] = stiffness, slack
        elif isinstance(spring, PrismaticSpring):
            springs[spring.joint().index()] = spring.stiffness(), spring.nominal_position()
    return springs


def _link(name: str, body: Any) -> Link:
    """Return a body as a link, with its inertia about its centre of mass."""
    inertia = body.default_spatial_inertia()
    mass, centre = float(inertia.get_mass()), np.array(inertia.get_com())
    if not mass > 0.0:
        return Link(name, 0.0, np.zeros(3), np.zeros((3, 3)))
    central = inertia.Shift(centre).CalcRotationalInertia().CopyToFullMatrix3()
    return Link(name, mass, centre, np.array(central))


def _pose_in_body(frame: Any) -> Pose:
    """Return position and rotation of a frame in its body."""
    if frame.index() == frame.body().body_frame().index():
        return HERE
    return _position_and_rotation(frame.GetFixedPoseInBodyFrame())


def _position_and_rotation(pose: Any) -> Pose:
    """Return one of Drake's rigid transforms as position (3,) and rotation (3, 3)."""
    return np.array(pose.translation()), np.array(pose.rotation().matrix())


def _friction_by_joint(model: ET.Element) -> dict[str, float]:
    """Return the dry friction of a model's joints [N m or N], which Drake drops.

    Each joint is entered by its own name and by that with its child's before it, for `joints_of`
    gives it one of the two. Joints of included models are not in it.
    """
    friction = dict[str, float]()
    for joint in model.iter("joint"):
        name, child = joint.get("name", ""), joint.findtext("child", "").replace("::", "_")
        value = float(joint.findtext("axis/dynamics/friction") or 0.0)
        friction |= dict.fromkeys((name, f"{child}_{name}"), value)
    return friction


def _newest_sdf_version() -> str:
    """Return the latest version of SDF that Drake's parser knows.

    The parser states it when it refuses a version that does not exist.
    """
    plant = MultibodyPlant(0.0)  # kept in a variable: a parser does not keep its plant alive
    try:
        with gathered_warnings():
            Parser(plant).AddModelsFromString('<sdf version="99"/>', "sdf")
    except RuntimeError as error:
        match = re.search(r"to (\d[\d.]*)", str(error))
        return match[1] if match else "an unknown version"
    return "any"
