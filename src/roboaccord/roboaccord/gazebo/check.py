"""Checks beyond sdformat's: elements, systems, included models, topics and the bridge.

What is known of the systems of Gazebo Harmonic (gz-sim 8) and of their topics is from the headers
of the systems and from ros_gz_bridge's table of types. Gazebo takes an unknown parameter in
silence, and so does the bridge.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from roboaccord.contract.files import read_xml
from roboaccord.description.tree import MOVING
from roboaccord.description.yaml_files import parse_yaml
from roboaccord.gazebo.tool import VERSION, schema_folder, unknown_elements

TO_GZ, TO_ROS = "ROS_TO_GZ", "GZ_TO_ROS"
BRIDGE_KEYS = {
    "ros_topic_name", "gz_topic_name", "ros_type_name", "gz_type_name", "direction", "lazy",
    "subscriber_queue", "publisher_queue",
}  # fmt: skip
BRIDGE_TYPES = {
    ("trajectory_msgs/msg/JointTrajectory", "gz.msgs.JointTrajectory"),
    ("sensor_msgs/msg/JointState", "gz.msgs.Model"),
    ("nav_msgs/msg/Odometry", "gz.msgs.Odometry"),
    ("rosgraph_msgs/msg/Clock", "gz.msgs.Clock"),
    ("geometry_msgs/msg/Twist", "gz.msgs.Twist"),
    ("std_msgs/msg/Bool", "gz.msgs.Boolean"),
    ("std_msgs/msg/Empty", "gz.msgs.Empty"),
    ("std_msgs/msg/Float64", "gz.msgs.Double"),
    ("std_msgs/msg/String", "gz.msgs.StringMsg"),
    ("ros_gz_interfaces/msg/EntityWrench", "gz.msgs.EntityWrench"),
    ("ros_gz_interfaces/msg/Contacts", "gz.msgs.Contacts"),
}


def check_file(path: Path, models: Sequence[Path]) -> list[str]:
    """Return the errors of a world or model.

    Args:
        path: an SDF file, or the URDF of a model; models that it includes are looked for, and not
            checked themselves.
        models: folders of models, for `model://NAME`.

    Raises:
        AccordError: if the file cannot be read or is not XML.
    """
    root = read_xml(path)
    if root.tag == "robot":
        return [*_check_systems(root), *_check_config(path)]
    problems = []
    if root.get("version") != VERSION:
        problems.append(f"sdf: version {root.get('version')}, and not {VERSION}")
    folder = schema_folder()
    problems += unknown_elements(root, folder) if folder else []
    problems += _check_systems(root)
    for world in root.findall("world"):
        problems += _check_world(world, models)
    if root.find("world") is None:
        problems += _check_config(path)
    return problems


def check_robot(urdf: str, bridge: str, worlds: Sequence[Path] = ()) -> list[str]:
    """Return the errors of a robot's systems, and of the bridge to their topics.

    Args:
        urdf: the description as Gazebo gets it, with `<gazebo>` tags.
        bridge: the YAML text for ros_gz_bridge.
        worlds: SDF files that may hold the robot by its name, as a wall holds its magnets.
    """
    root = ET.fromstring(urdf)
    problems = list(_check_systems(root))
    names = [plugin.get("name", "") for plugin in root.iter("plugin")]
    joints = [joint for joint in root.findall("joint") if joint.get("type") in MOVING]
    needed = IN_EVERY_ROBOT + (FOR_JOINTS if joints else ())
    problems += [f"robot: system {name} is missing" for name in needed if name not in names]
    links = {link.get("name") for link in root.iter("link")}
    known = links | {joint.get("name") for joint in root.iter("joint")}
    for tag in root.findall("gazebo[@reference]"):
        if tag.get("reference") not in known:
            problems.append(f"gazebo: no link or joint {tag.get('reference')} in the description")
    topics = dict(_topics(root.iter("plugin")))
    for path in worlds:
        held = _holding(path, root.get("name", ""))
        problems += [
            f"{path.name}: no link {plugin.findtext('child_link')} in the description"
            for plugin in held
            if plugin.findtext("child_link") not in links
        ]
        topics |= dict(_topics(held))
    problems += _check_bridge(bridge, topics)
    return problems


def _check_world(world: ET.Element, models: Sequence[Path]) -> Iterator[str]:
    names = [plugin.get("name") for plugin in world.findall("plugin")]
    for name in IN_EVERY_WORLD:
        if names.count(name) != 1:
            yield f"world: system {name} is there {names.count(name)} times, and not once"
    for place in ("physics/max_step_size", "physics/real_time_factor", "gravity"):
        if world.find(place) is None:
            yield f"world/{place}: must be stated, and not left to the default"
    for uri in world.findall("include/uri"):
        name = (uri.text or "").removeprefix("model://")
        if not any((folder / name / "model.config").is_file() for folder in models):
            yield f"world/include: no model {name}"


def _check_config(path: Path) -> Iterator[str]:
    config = path.parent / "model.config"
    if not config.is_file():
        yield "model.config is missing beside it"
        return
    entry = read_xml(config).find("sdf")
    if entry is None or entry.text != path.name or entry.get("version") != VERSION:
        yield f"model.config does not name {path.name} with version {VERSION}"


def _check_systems(root: ET.Element) -> Iterator[str]:
    window = set(root.iterfind(".//gui/plugin"))
    for plugin in root.iter("plugin"):
        name, filename = plugin.get("name", ""), plugin.get("filename", "")
        if plugin in window:
            if filename not in WINDOW:
                yield f"gui: {filename} is not a part of a window that this workspace knows"
            continue
        system = SYSTEMS.get(name)
        if system is None:
            yield f"plugin: {name} is not a system that this workspace knows"
            continue
        if filename != system.filename:
            yield f"plugin: {name} is in {system.filename}, not in {filename}"
        for child in plugin:
            if child.tag not in system.parameters:
                yield f"plugin: {name} has no parameter {child.tag}"
        for parameter in system.topics:
            if not (plugin.findtext(parameter) or "").startswith("/"):
                yield f"plugin: {name} needs a {parameter} that starts with /"


def _holding(world: Path, robot: str) -> list[ET.Element]:
    """Return the systems of a world that tie a robot to something."""
    plugins = read_xml(world).iter("plugin")
    return [plugin for plugin in plugins if plugin.findtext("child_model") == robot]


def _topics(plugins: Iterable[ET.Element]) -> Iterator[tuple[str, tuple[str, str]]]:
    for plugin in plugins:
        system = SYSTEMS.get(plugin.get("name", ""))
        for parameter, kind in (system.topics if system else {}).items():
            yield plugin.findtext(parameter) or "", kind


def _check_bridge(text: str, topics: dict[str, tuple[str, str]]) -> Iterator[str]:
    try:
        entries: list[Mapping[str, str]] = parse_yaml(text)
        bridged = {entry["gz_topic_name"]: entry for entry in entries}
    except (yaml.YAMLError, TypeError, KeyError) as error:
        yield f"bridge: it is not a list of topics: {str(error).splitlines()[0]}"
        return
    for topic, entry in bridged.items():
        for key in entry.keys() ^ (BRIDGE_KEYS & entry.keys()):
            yield f"bridge: {topic}: unknown key {key}, which the bridge would ignore"
        pair = (entry.get("ros_type_name"), entry.get("gz_type_name"))
        if pair not in BRIDGE_TYPES:
            yield f"bridge: {topic}: no bridge between {pair[0]} and {pair[1]}"
        if topic not in topics:
            yield f"bridge: {topic}: no system of the robot has this topic"
        elif topics[topic] != (entry.get("gz_type_name"), entry.get("direction")):
            yield f"bridge: {topic}: must be {topics[topic][0]}, {topics[topic][1]}"
    for topic in topics.keys() - bridged.keys():
        yield f"bridge: {topic} is a topic of the robot, and is not bridged"


@dataclass(frozen=True)
class System:
    """Name a system's library, its parameters, and the type and direction of its topics."""

    filename: str
    parameters: frozenset[str] = frozenset()
    topics: dict[str, tuple[str, str]] = field(default_factory=dict)


def _system(library: str, parameters: str = "", **topics: tuple[str, str]) -> System:
    names = frozenset([*parameters.split(), *topics])
    return System(f"gz-sim-{library}-system", names, topics)


SYSTEMS = {
    f"gz::sim::systems::{name}": system
    for name, system in {
        "Physics": _system("physics", "engine"),
        "UserCommands": _system("user-commands"),
        "ApplyLinkWrench": _system("apply-link-wrench", "verbose"),
        "SceneBroadcaster": _system("scene-broadcaster", "dynamic_pose_hertz state_hertz"),
        # Without use_header_start_time: a stamp from the past would never become active.
        "JointTrajectoryController": _system(
            "joint-trajectory-controller",
            "joint_name initial_position",
            topic=("gz.msgs.JointTrajectory", TO_GZ),
        ),
        "JointStatePublisher": _system(
            "joint-state-publisher", "joint_name update_rate", topic=("gz.msgs.Model", TO_ROS)
        ),
        "OdometryPublisher": _system(
            "odometry-publisher",
            "odom_frame robot_base_frame odom_publish_frequency dimensions xyz_offset rpy_offset "
            "odom_covariance_topic tf_topic gaussian_noise",
            odom_topic=("gz.msgs.Odometry", TO_ROS),
        ),
        # A fixed joint between two models. It is always there at the start (gz-sim#3021).
        "DetachableJoint": _system(
            "detachable-joint",
            "parent_link child_model child_link suppress_child_warning",
            attach_topic=("gz.msgs.Empty", TO_GZ),
            detach_topic=("gz.msgs.Empty", TO_GZ),
            output_topic=("gz.msgs.StringMsg", TO_ROS),
        ),
        # Of a world that is written for a run: gazebo/world.py.
        "TriggeredPublisher": _system("triggered-publisher", "input output"),
    }.items()
}
# Parts of Gazebo's window, by library.
WINDOW = frozenset(
    "MinimalScene EntityContextMenuPlugin GzSceneManager InteractiveViewControl CameraTracking "
    "MarkerManager SelectEntities Spawn VisualizationCapabilities WorldControl WorldStats "
    "ComponentInspector EntityTree".split()
)
IN_EVERY_WORLD = tuple(
    f"gz::sim::systems::{name}" for name in ("Physics", "UserCommands", "SceneBroadcaster")
)
IN_EVERY_ROBOT = tuple(
    f"gz::sim::systems::{name}" for name in ("JointStatePublisher", "OdometryPublisher")
)
FOR_JOINTS = ("gz::sim::systems::JointTrajectoryController",)
