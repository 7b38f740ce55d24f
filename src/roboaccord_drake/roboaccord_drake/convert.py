"""Convert SDF to URDF, through the plant that Drake's parser makes of the SDF (load.py).

The links and joints of the plant become a tree, which is written as a URDF. What URDF cannot
express is refused with a message that names it; bushings are left out with a note.
test_sdf.py checks that the URDF moves as the SDF does in Drake.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
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

from roboaccord_drake.load import FOREIGN, INCLUDED, RELATIVE, file_of, first_line, heard, load
from roboaccord_drake.model import bodies_of, joints_of

KINDS = {
    "weld": "fixed",
    "revolute": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "quaternion_floating": "floating",
    "rpy_floating": "floating",
}
"""Types of joints in URDF, by Drake's names of them."""
INERTIA = re.compile(r"(?:A link named|While (?:parsing inertia|re-expressing)).*")
"""Drake's warning that it takes another inertia than the one of the file."""
SPOKEN = 2  # warnings of Drake that are noted in full; further ones are counted


def convert(text: str, path: Path | None, packages: Mapping[str, Path]) -> Converted:
    """Return the URDF of a robot's model in SDF.

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
    top, _ = parse_lines(text)  # unlike ElementTree it accepts prefixes that are not declared
    model = _only_model(top)
    plant, warnings = load(text, path, packages)
    replaced = [match[0] for line in warnings if (match := INERTIA.search(line))]
    if replaced:
        raise AccordError(f"Drake would take another inertia: {replaced[0]}")
    if plant.num_constraints():
        raise AccordError(
            f"{plant.num_constraints()} constraints between links, which URDF cannot express"
        )
    tree, friction = make_tree(*parts_of(plant)), _friction(model)
    joints = (replace(j, friction=friction.get(j.name, 0.0)) for j in tree.joints)
    tree = replace(tree, joints=tuple(joints))
    # Notes on the version, on where included models were found, and on what is left out.
    notes = [f"SDF {top.get('version')}; Drake knows it up to {_known()}"]
    used = {match[2]: packages.get(match[2], "") for match in INCLUDED.finditer(text)}
    notes += [f"model://{name} is {folder}" for name, folder in used.items()]
    if path:
        for uri in {match[2]: None for match in RELATIVE.finditer(text)}:
            file = file_of((path.parent / uri).resolve())
            notes.append(f"{uri} is {file}; Drake itself looks in the folder in which it runs")
    notes += ["<ros2_control>, which SDF has not, is left out"] * bool(FOREIGN.search(text))
    notes += ["bushings: left out"] * (plant.num_force_elements() > 1 + len(_springs(plant)))
    notes += [f"Drake: {first_line(line)}" for line in warnings[:SPOKEN]]
    if len(warnings) > SPOKEN:
        notes.append(f"Drake: {len(warnings) - SPOKEN} more warnings")
    name = model.get("name", "robot")
    return Converted(name, write_tree(tree, name), tuple(notes))


def _only_model(top: ET.Element) -> ET.Element:
    """Return the one model of an SDF; raise AccordError if it has none, several or a static one."""
    if top.find("world") is not None:
        raise AccordError("it is a world, and no robot: name the file of the robot's own model")
    models = top.findall("model")
    if len(models) != 1:
        names = ", ".join(model.get("name", "") for model in models[:4])
        raise AccordError(f"it holds {len(models)} models ({names}): name the file of one")
    if models[0].findtext("static", "").strip() in ("1", "true"):
        raise AccordError(f"model {models[0].get('name')} is static: nothing of it moves")
    for joint in models[0].iter("joint"):
        if joint.find(".//mimic") is not None:
            raise AccordError(f"joint {joint.get('name')} mimics another: not taken from SDF")
    return models[0]


def parts_of(plant: MultibodyPlant) -> tuple[list[Link], list[tuple[Joint, Pose]]]:
    """Return links and joints of a plant, each joint with its pose in its child, for `make_tree`.

    Raises:
        AccordError: for a joint that URDF cannot express.
    """
    bodies = bodies_of(plant)
    links = [_link(name, body) for name, body in bodies.items() if name != WORLD]
    names = {body.index(): name for name, body in bodies.items()}
    joints = list[tuple[Joint, Pose]]()
    motors = [plant.get_joint_actuator(i) for i in plant.GetJointActuatorIndices()]
    drives, springs = {motor.joint().index(): motor for motor in motors}, _springs(plant)
    for label, joint in joints_of(plant).items():
        kind = KINDS.get(joint.type_name())
        if kind is None:
            word = joint.type_name().removesuffix("_rpy")
            raise AccordError(f"{word} joint {joint.name()}, which URDF cannot express")
        parent, child = (names[body.index()] for body in (joint.parent_body(), joint.child_body()))
        position, turn = _pose(joint.frame_on_parent())
        if kind == "fixed":
            offset, rotation = _numbers(joint.X_FM())
            position, turn = position + turn @ offset, turn @ rotation
        joined = Joint(label, kind, parent, child, position, turn, UP, -np.inf, np.inf)
        if kind in ("revolute", "prismatic"):
            turns, motor = kind == "revolute", drives.get(joint.index())
            lower, upper = float(joint.position_lower_limit()), float(joint.position_upper_limit())
            joined = replace(
                joined, axis=np.array(joint.revolute_axis() if turns else joint.translation_axis()),
                kind="continuous" if turns and np.isinf([lower, upper]).all() else kind,
                lower=lower, upper=upper, damping=float(joint.default_damping()),
                effort=float(motor.effort_limit()) if motor else 0.0,
                armature=float(motor.default_reflected_inertia()) if motor else 0.0,
                velocity=float(joint.velocity_upper_limit()),
                spring=springs.get(joint.index(), (0.0, 0.0)),
            )  # fmt: skip
        joints.append((joined, _pose(joint.frame_on_child())))
    if any(WORLD in (joint.parent, joint.child) for joint, _ in joints):
        links.insert(0, Link(WORLD, 0.0, np.zeros(3), np.zeros((3, 3)), ()))
    return links, joints


def _springs(plant: MultibodyPlant) -> dict[Any, tuple[float, float]]:
    """Return stiffness and slack position of each joint that has a spring, by Drake's index."""
    springs = {}
    for i in range(plant.num_force_elements()):
        spring = plant.get_force_element(ForceElementIndex(i))
        if isinstance(spring, RevoluteSpring):
            own = spring.default_stiffness(), spring.default_nominal_angle()
            springs[spring.joint().index()] = own
        elif isinstance(spring, PrismaticSpring):
            springs[spring.joint().index()] = spring.stiffness(), spring.nominal_position()
    return springs


def _link(name: str, body: Any) -> Link:
    """Return a body as a link, with its inertia about its centre of mass."""
    inertia = body.default_spatial_inertia()
    mass, centre = float(inertia.get_mass()), np.array(inertia.get_com())
    if not mass > 0.0:
        return Link(name, 0.0, np.zeros(3), np.zeros((3, 3)), ())
    central = inertia.Shift(centre).CalcRotationalInertia().CopyToFullMatrix3()
    return Link(name, mass, centre, np.array(central), ())


def _pose(frame: Any) -> Pose:
    """Return position and rotation of a frame in its body."""
    if frame.index() == frame.body().body_frame().index():
        return HERE
    return _numbers(frame.GetFixedPoseInBodyFrame())


def _numbers(pose: Any) -> Pose:
    """Return one of Drake's rigid transforms as position (3,) and rotation (3, 3)."""
    return np.array(pose.translation()), np.array(pose.rotation().matrix())


def _friction(model: ET.Element) -> dict[str, float]:
    """Return the dry friction of the text's joints, which Drake drops, by both names of each.

    A joint has one of the two names of `joints_of`. Included models are not looked into.
    """
    friction = dict[str, float]()
    for joint in model.iter("joint"):
        name, child = joint.get("name", ""), joint.findtext("child", "").replace("::", "_")
        value = float(joint.findtext("axis/dynamics/friction") or 0.0)
        friction |= dict.fromkeys((name, f"{child}_{name}"), value)
    return friction


def _known() -> str:
    """Return the latest version of SDF that Drake's parser knows.

    It states it when it refuses a version that does not exist.
    """
    plant = MultibodyPlant(0.0)  # kept in a variable: a parser does not keep its plant alive
    try:
        with heard():
            Parser(plant).AddModelsFromString('<sdf version="99"/>', "sdf")
    except RuntimeError as error:
        found = re.search(r"to (\d[\d.]*)", str(error))
        return found[1] if found else "an unknown version"
    return "any"
