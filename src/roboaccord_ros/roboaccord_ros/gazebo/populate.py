"""Writes the world file with a robot in it that Gazebo's server in this process reads.

in_process.py calls `populate` before it starts a server. The file is a copy of the run's world,
with the robot at its start and settings of the server. What is written into the world may be
changed in `populate`; the short name of another physics engine goes into ENGINES. POLICIES and
PHYSICS are names in Gazebo's files.
"""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ET
from pathlib import Path

from roboaccord.contract import RobotState, read_xml
from roboaccord.gazebo import text_of
from roboaccord.numerics import quaternion_rpy
from roboaccord.run import make_folder, write_text

from roboaccord_ros.gazebo.world import World

POLICIES = "gz:policies"  # element of a world with settings of the server
# Element of a world with the settings of the physics engine.
PHYSICS = "plugin[@name='gz::sim::systems::Physics']"
ENGINES = ("dartsim", "bullet-featherstone", "bullet", "tpe")  # short names of Gazebo's engines


def populate(world: World, robot: str, start: RobotState, urdf: str, physics: str = "") -> Path:
    """Write a copy of a world with a robot at its start in it, and return the new file.

    The robot's Gazebo plugins are left out: efforts and states go through the Python bindings.

    Args:
        world: world to copy.
        robot: name of the robot in the world.
        start: state with the pose of its base, and of the free bodies, at the start.
        urdf: description of the robot.
        physics: short name of a physics engine, or its library; empty for DART.
    """
    urdf = _without_plugins(urdf)
    pose = [*start.position.tolist(), *quaternion_rpy(start.orientation)]
    body_poses = [text_of(row[:7]) for row in start.bodies]
    content = urdf + text_of(pose) + physics + "".join(body_poses)
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    folder = make_folder(world.path.parent / digest)
    write_text(folder / "robot.urdf", urdf)
    sdf = read_xml(world.path)
    scene = sdf.find("world")
    assert scene is not None  # `World` has read it
    policies = ET.SubElement(scene, POLICIES)
    # Updates after a step are cheap; running them in parallel threads costs up to half a step.
    ET.SubElement(policies, "parallel_postupdates").text = "false"
    for name, body_pose in zip(world.bodies, body_poses, strict=True):
        for element in scene.findall(f"model[@name='{name}']/pose"):
            element.text = body_pose
    if physics:
        _set_physics_engine(scene, physics)
    include = ET.SubElement(scene, "include")
    children = {"uri": str(folder / "robot.urdf"), "name": robot, "pose": text_of(pose)}
    for tag, text in children.items():
        ET.SubElement(include, tag).text = text
    write_text(folder / world.path.name, ET.tostring(sdf, encoding="unicode") + "\n")
    return folder / world.path.name


def _without_plugins(urdf: str) -> str:
    """Return a URDF without the plugins in its <gazebo> elements."""
    root = ET.fromstring(urdf)
    for extension in root.iter("gazebo"):
        for plugin in extension.findall("plugin"):
            extension.remove(plugin)
    return ET.tostring(root, encoding="unicode")


def _set_physics_engine(scene: ET.Element, physics: str) -> None:
    """Let a world use a physics engine, by its short name or its library."""
    system = scene.find(PHYSICS)
    assert system is not None  # each world has it, as `physics_of` has checked
    library = f"gz-physics-{physics}-plugin" if physics in ENGINES else physics
    ET.SubElement(ET.SubElement(system, "engine"), "filename").text = library
