"""Models and worlds for Gazebo Sim: a robot to include, its terrain, and a world that shows it.

CONTENT has the messages that a world's head shows how to send, and EMPTY the worlds without a robot
with their cameras; a world more is a file in worlds/ and an entry there. robot.sdf.head is the text
at the head of each world.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import yaml
from roboaccord.description import FILE, share
from roboaccord.gazebo import (
    ANCHOR,
    HALF,
    MODEL_CONFIG,
    add_window,
    expand_for_gazebo,
    numbers_text,
)
from roboaccord.numerics import quaternion_rpy
from roboaccord.scenario import ABOVE, ASIDE, AZIMUTH, ELEVATION, Setup, View, start_view

CONFIG = partial(MODEL_CONFIG.format, author="The roboaccord authors")
ROBOT = "{summary}, where its scenario {scenario} starts: joint positions are 0 there."
AROUND = "What stands around the robot {name} in its scenario {scenario}."
HEAD = Path(__file__).with_name("robot.sdf.head").read_text(encoding="utf-8")
# Content of a command for a topic of the robot, by its type: text that protobuf reads.
CONTENT = {
    "gz.msgs.JointTrajectory": 'joint_names: "{joint}", points: {{effort: {effort:g}}}',
    "gz.msgs.Empty": " ",
}
# Worlds without a robot, and how they are seen: the middle of what is there, and 1 to 3 times its
# size.
EMPTY = {
    "bearing": View(np.zeros(3), 1.0, AZIMUTH, ELEVATION),
    "flat": View(np.zeros(3), 3.0, AZIMUTH, ELEVATION),
    "pendulum": View(np.array([0.0, 0.0, 1.5]), 1.6, AZIMUTH, ABOVE),
    "wall": View(np.zeros(3), 2.5, ASIDE, ABOVE),
}
# Systems of gz_ros2_control: the hardware that its controller manager drives, and Gazebo's plugin.
HARDWARE = "gz_ros2_control/GazeboSimSystem"
ROS2_CONTROL = {
    "filename": "gz_ros2_control-system",
    "name": "gz_ros2_control::GazeboSimROS2ControlPlugin",
}
GENTLE = 0.05  # of the greatest effort: a robot that moves, and stays in the picture
PUSH = 'entity: {{name: "{name}::base_link", type: LINK}}, wrench: {{force: {{x: 0.1}}}}'


def robot_model(setup: Setup) -> dict[str, bytes]:
    """Return the files of a model to include: the URDF that Gazebo runs get, and its meshes.

    Gazebo reads the URDF itself, as it does when a run creates the robot.
    """
    name, root = setup.robot.name, ET.fromstring(expand_for_gazebo(setup))
    files = _with_meshes(root, name)
    description = ROBOT.format(summary=_sentence(setup), scenario=setup.scenario.name)
    config = CONFIG(name=name, file="model.urdf", description=description)
    files[f"models/{name}/model.config"] = config.encode()
    files[f"models/{name}/model.urdf"] = _text(root).encode()
    return files


def ros2_control_model(setup: Setup) -> dict[str, bytes]:
    """Return the description of a robot whose joints ros2_control drives in Gazebo, by efforts.

    Its joint positions are those of the URDF. Where gz_ros2_control finds its parameters, xacro
    states, by `$(find PACKAGE)`. docs/ros.md has the names that were checked against its sources.
    """
    name, root = setup.robot.name, ET.fromstring(expand_for_gazebo(setup, started=False))
    _with_meshes(root, name)
    for gazebo in root.findall("gazebo"):
        for plugin in gazebo.findall("plugin"):
            gazebo.remove(plugin)
    system = ET.SubElement(root, "ros2_control", name=name, type="system")
    ET.SubElement(ET.SubElement(system, "hardware"), "plugin").text = HARDWARE
    for joint, start in zip(setup.joints, setup.initial.q.tolist(), strict=True):
        driven = ET.SubElement(system, "joint", name=joint)
        ET.SubElement(driven, "command_interface", name="effort")
        position = ET.SubElement(driven, "state_interface", name="position")
        ET.SubElement(position, "param", name="initial_value").text = repr(start)
        for state in ("velocity", "effort"):
            ET.SubElement(driven, "state_interface", name=state)
    plugin = ET.SubElement(ET.SubElement(root, "gazebo"), "plugin", ROS2_CONTROL)
    parameters = f"$(find {setup.robot.package})/config/ros2_control.yaml"
    ET.SubElement(plugin, "parameters").text = parameters
    return {f"models/{name}/ros2_control.urdf.xacro": _text(root).encode()}


def _with_meshes(root: ET.Element, name: str) -> dict[str, bytes]:
    """Let a robot's URDF name the meshes of its model, and return their files."""
    files = dict[str, bytes]()
    for mesh in root.iter("mesh"):
        path = Path(mesh.attrib["filename"].removeprefix(FILE))
        mesh.set("filename", f"model://{name}/meshes/{path.name}")
        for file in (path, *path.parent.glob("*.mtl")):
            files[f"models/{name}/meshes/{file.name}"] = file.read_bytes()
    return files


def terrain_models(setups: Sequence[Setup]) -> dict[str, bytes]:
    """Return the files of the models that robots make of their terrain and surroundings."""
    files = dict[str, bytes]()
    for setup in setups:
        world = setup.robot.gazebo.world(setup)
        if world:
            files |= {
                path.relative_to(world.parents[1]).as_posix(): path.read_bytes()
                for path in sorted((world.parents[1] / "models").rglob("*"))
                if path.is_file()
            }
            files |= _gather(ET.parse(world).getroot(), world, setup)
    return files


def _gather(root: ET.Element, path: Path, setup: Setup) -> dict[str, bytes]:
    """Put the models of a world into one, which it then includes; return the files of that.

    Args:
        root: of the world's file, which is changed.
        path: of that file, which meshes are relative to.
        setup: whose scenario names the model.
    """
    world, name, files = root.find("world"), setup.scenario.name, dict[str, bytes]()
    assert world is not None
    models = [model for model in world.findall("model") if model.get("name") != ANCHOR]
    if not models:
        return {}
    made = ET.Element("sdf", version="1.9")
    whole = ET.SubElement(made, "model", name=name)
    ET.SubElement(whole, "static").text = "true"
    for model in models:
        world.remove(model)
        link, pose = model.find("link"), model.find("pose")
        assert link is not None and pose is not None
        link.insert(0, pose)
        whole.append(link)
    for uri in whole.iter("uri"):
        if "://" in str(uri.text):
            continue
        mesh = path.parent / str(uri.text)
        uri.text = f"meshes/{mesh.name}"
        for file in (mesh, *mesh.parent.glob("*.mtl")):
            files[f"models/{name}/meshes/{file.name}"] = file.read_bytes()
    ET.SubElement(ET.SubElement(world, "include"), "uri").text = f"model://{name}"
    description = AROUND.format(name=setup.robot.name, scenario=name)
    config = CONFIG(name=name, file="model.sdf", description=description)
    texts = {"model.config": config, "model.sdf": _text(made)}
    return files | {f"models/{name}/{file}": text.encode() for file, text in texts.items()}


def robot_world(setup: Setup) -> str:
    """Return the world of the scenario that shows a robot, with it and a camera."""
    name = setup.robot.name
    shipped = share("roboaccord_ros") / "worlds" / f"{setup.scenario.world}.sdf"
    path = setup.robot.gazebo.world(setup) or shipped
    root = ET.parse(path).getroot()
    _gather(root, path, setup)
    world = root.find("world")
    assert world is not None
    world.set("name", name)
    include = ET.SubElement(world, "include")
    ET.SubElement(include, "uri").text = f"model://{name}"
    start = setup.initial
    pose = numbers_text(np.array([*start.position, *quaternion_rpy(start.orientation)]))
    ET.SubElement(include, "pose").text = pose
    add_window(world, start_view(setup, HALF), control=True)
    words = {"name": name, "summary": _sentence(setup), "package": setup.robot.package}
    reading, writing = _commands(setup, world)
    move = next((line for line in writing[::-1] if "/detach" in line), writing[0])
    commands = "".join(f"     {line}\n" for line in [*writing, *reading] if line != move)
    head = HEAD.format(**words, scenario=setup.scenario.name, move=move, commands=commands)
    return _text(root, head)


def empty_world(name: str) -> str:
    """Return a world that ships without a robot, with a camera; the rest of it stays as it is."""
    path = share("roboaccord_ros") / "worlds" / f"{name}.sdf"
    head = path.read_text(encoding="utf-8").partition("<sdf")[0].partition("\n")[2]
    root = ET.parse(path).getroot()
    world = root.find("world")
    assert world is not None
    add_window(world, EMPTY[name], control=True)
    return _text(root, head)


def _commands(setup: Setup, world: ET.Element) -> tuple[list[str], list[str]]:
    """Return commands for the topics of a robot: those that read, and those that write."""
    bridge = share(setup.robot.package) / "config" / "bridge.yaml"
    reading, writing = list[str](), list[str]()
    for entry in yaml.safe_load(bridge.read_text(encoding="utf-8")):
        topic, kind = entry["gz_topic_name"], entry["gz_type_name"]
        if entry["direction"] == "GZ_TO_ROS":
            reading.append(f"gz topic -e -t {topic}")
        elif kind in CONTENT:
            i = len(setup.joints) // 2
            content = CONTENT[kind].format(
                joint=setup.joints[i], effort=GENTLE * setup.effort_limits[i]
            )
            writing.append(f"gz topic -t {topic} -m {kind} -p '{content}'")
    if world.find("plugin[@name='gz::sim::systems::ApplyLinkWrench']") is not None:
        push = PUSH.format(name=setup.robot.name)
        topic = f"/world/{setup.robot.name}/wrench/persistent"
        writing.append(f"gz topic -t {topic} -m gz.msgs.EntityWrench -p '{push}'")
    return reading, writing


def _sentence(setup: Setup) -> str:
    words = escape(setup.robot.summary)
    return words[:1].upper() + words[1:]


def _text(root: ET.Element, head: str = "") -> str:
    ET.indent(root)
    return f'<?xml version="1.0"?>\n{head}{ET.tostring(root, encoding="unicode")}\n'
