"""Check worlds and models for Gazebo beyond sdformat's rules: systems, models, topics, the bridge.

Gazebo ignores unknown parameters without a message, and so does ros_gz_bridge, which passes topics
between Gazebo and ROS. `check_file` takes a world or model, `check_robot` a robot's description and
the settings of its bridge; both return lines, one for each error. What is known of Gazebo's systems
(plugins; gz-sim 8 and 10), their parameters and topics is in systems.yaml: it is from the headers
of the systems and from ros_gz_bridge's table of types. A rule is a line that one of the
`_check_...` yields, with a broken file in test/test_worlds.py.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from roboaccord.contract.files import read_xml
from roboaccord.description.tree import MOVING
from roboaccord.description.yaml_files import parse_yaml

from roboaccord_files.gazebo.schema import VERSION, schema_folder, unknown_elements


@dataclass(frozen=True)
class System:
    """A system of Gazebo.

    Args:
        library: name of its library, without `gz-sim-` and `-system`.
        parameters: names of its parameters, separated by blanks.
        topics: type and direction of each topic, by the parameter that names the topic.
    """

    library: str
    parameters: str = ""
    topics: Mapping[str, Sequence[str]] = field(default_factory=dict)


# The content of systems.yaml: systems, parts of the window, and what the bridge knows.
_YAML = files(__package__).joinpath("systems.yaml").read_text(encoding="utf-8")
TABLE: Mapping[str, Any] = parse_yaml(_YAML)
PREFIX = "gz::sim::systems::"  # of the names of systems
SYSTEMS = {f"{PREFIX}{name}": System(**entry) for name, entry in TABLE["systems"].items()}
# Systems that each world must have, each robot, and each robot whose joints move.
IN_EVERY_WORLD = ("Physics", "UserCommands", "SceneBroadcaster")
IN_EVERY_ROBOT = ("JointStatePublisher", "OdometryPublisher")
FOR_JOINTS = ("JointTrajectoryController",)


def check_file(path: Path, models: Sequence[Path], *, ours: bool = True) -> list[str]:
    """Return the errors of a world or model.

    Args:
        path: an SDF file, or the URDF of a model; models that it includes are looked for, and not
            checked themselves.
        models: folders of models, for `model://NAME`.
        ours: whether it is of this workspace, whose models have one version, and a model.config.

    Raises:
        AccordError: if the file cannot be read or is not XML.
    """
    root = read_xml(path)
    config = _check_config(path) if ours and root.find("world") is None else ()
    if root.tag == "robot":
        return [*_check_systems(root), *config]
    problems = []
    version = root.get("version", "")
    if ours and version != VERSION:
        problems.append(f"sdf: version {version}, and not {VERSION}")
    folder = schema_folder(VERSION if ours else version)
    problems += unknown_elements(root, folder) if folder else []
    problems += _check_systems(root)
    for world in root.findall("world"):
        problems += _check_world(world, models)
    return [*problems, *config]


def check_robot(urdf: str, bridge: str, worlds: Sequence[Path] = ()) -> list[str]:
    """Return the errors of a robot's systems, and of the bridge to their topics.

    Args:
        urdf: the description as Gazebo gets it, with `<gazebo>` tags.
        bridge: the YAML text for ros_gz_bridge.
        worlds: SDF files that may hold the robot by its name, as a wall holds its magnets.
    """
    root = ET.fromstring(urdf)
    problems = list(_check_systems(root))
    names = {plugin.get("name", "").removeprefix(PREFIX) for plugin in root.iter("plugin")}
    joints = [joint for joint in root.findall("joint") if joint.get("type") in MOVING]
    needed = IN_EVERY_ROBOT + (FOR_JOINTS if joints else ())
    missing = [name for name in needed if name not in names]
    problems += [f"robot: system {PREFIX}{name} is missing" for name in missing]
    links = {link.get("name") for link in root.iter("link")}
    referable = links | {joint.get("name") for joint in root.iter("joint")}
    for tag in root.findall("gazebo[@reference]"):
        if tag.get("reference") not in referable:
            problems.append(f"gazebo: no link or joint {tag.get('reference')} in the description")
    topics = dict(_topics(root.iter("plugin")))
    for path in worlds:
        # Systems of the world that attach the robot to something.
        plugins = read_xml(path).iter("plugin")
        attaching = [e for e in plugins if e.findtext("child_model") == root.get("name", "")]
        for plugin in attaching:
            if (link := plugin.findtext("child_link")) not in links:
                problems.append(f"{path.name}: no link {link} in the description")
        topics |= dict(_topics(attaching))
    problems += _check_bridge(bridge, topics)
    return problems


def _check_world(world: ET.Element, models: Sequence[Path]) -> Iterator[str]:
    """Yield the systems, settings and models that a world lacks."""
    names = [plugin.get("name") for plugin in world.findall("plugin")]
    for system in IN_EVERY_WORLD:
        count = names.count(PREFIX + system)
        if count != 1:
            yield f"world: system {PREFIX}{system} is there {count} times, and not once"
    for setting in ("physics/max_step_size", "physics/real_time_factor", "gravity"):
        if world.find(setting) is None:
            yield f"world/{setting}: must be stated, and not left to the default"
    for uri in world.findall("include/uri"):
        name = (uri.text or "").removeprefix("model://")
        if not any((folder / name / "model.config").is_file() for folder in models):
            yield f"world/include: no model {name}"


def _check_config(path: Path) -> Iterator[str]:
    """Yield the errors of the model.config beside a model."""
    config = path.parent / "model.config"
    if not config.is_file():
        yield "model.config is missing beside it"
        return
    entry = read_xml(config).find("sdf")
    if entry is None or entry.text != path.name or entry.get("version") != VERSION:
        yield f"model.config does not name {path.name} with version {VERSION}"


def _check_systems(root: ET.Element) -> Iterator[str]:
    """Yield systems, parts of the window and parameters that are not known, or lack a topic."""
    window = set(root.iterfind(".//gui/plugin"))
    for plugin in root.iter("plugin"):
        name, filename = plugin.get("name", ""), plugin.get("filename", "")
        if plugin in window:
            if filename not in TABLE["window"].split():
                yield f"gui: {filename} is not a part of a window that this workspace knows"
            continue
        system = SYSTEMS.get(name)
        if system is None:
            yield f"plugin: {name} is not a system that this workspace knows"
            continue
        library = f"gz-sim-{system.library}-system"
        if filename != library:
            yield f"plugin: {name} is in {library}, not in {filename}"
        for child in plugin:
            if child.tag not in {*system.parameters.split(), *system.topics}:
                yield f"plugin: {name} has no parameter {child.tag}"
        for parameter in system.topics:
            if not (plugin.findtext(parameter) or "").startswith("/"):
                yield f"plugin: {name} needs a {parameter} that starts with /"


def _topics(plugins: Iterable[ET.Element]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the topics of systems, each with its type and direction."""
    for plugin in plugins:
        system = SYSTEMS.get(plugin.get("name", ""))
        topics = system.topics if system else {}
        for parameter, type_and_direction in topics.items():
            yield plugin.findtext(parameter) or "", type_and_direction


def _check_bridge(text: str, topics: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the errors of a bridge, and topics that it lacks.

    Args:
        text: its YAML.
        topics: topics of the robot's systems, each with its type and direction.
    """
    try:
        entries: list[Mapping[str, str]] = parse_yaml(text)
        bridged = {entry["gz_topic_name"]: entry for entry in entries}
    except (yaml.YAMLError, TypeError, KeyError) as error:
        yield f"bridge: it is not a list of topics: {str(error).splitlines()[0]}"
        return
    for topic, entry in bridged.items():
        for key in entry.keys() - {*TABLE["bridge_keys"].split()}:
            yield f"bridge: {topic}: unknown key {key}, which the bridge would ignore"
        ros_type, gz_type = entry.get("ros_type_name"), entry.get("gz_type_name")
        if not gz_type or TABLE["bridge_types"].get(ros_type) != gz_type:
            yield f"bridge: {topic}: no bridge between {ros_type} and {gz_type}"
        if topic not in topics:
            yield f"bridge: {topic}: no system of the robot has this topic"
        elif [*topics[topic]] != [gz_type, entry.get("direction")]:
            yield f"bridge: {topic}: must be {topics[topic][0]}, {topics[topic][1]}"
    for topic in topics.keys() - bridged.keys():
        yield f"bridge: {topic} is a topic of the robot, and is not bridged"
