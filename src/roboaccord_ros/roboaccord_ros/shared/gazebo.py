"""Models and worlds for Gazebo Sim: a robot to include, its terrain, and a world that shows it."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import yaml
from roboaccord.contract.state import Array
from roboaccord.description.meshes import FILE
from roboaccord.description.resources import share
from roboaccord.gazebo.form import expand_for_gazebo
from roboaccord.numerics.rotations import quaternion_rpy
from roboaccord.scenario.setup import Setup

from roboaccord_ros.shared.show import ASPECT, Show

HORIZONTAL = math.radians(90.0)  # field of view of Gazebo's window, however wide it is
CONFIG = """<?xml version="1.0"?>
<model>
  <name>{name}</name>
  <version>1.0</version>
  <sdf version="1.9">{file}</sdf>
  <author>
    <name>The roboaccord authors</name>
  </author>
  <description>{description}</description>
</model>
"""
ROBOT = "{summary}, where its scenario {scenario} starts: joint positions are 0 there."
AROUND = "What stands around the robot {name} in its scenario {scenario}."
HEAD = """<!-- {summary}; at the start of its scenario {scenario}. Made by `make shared`.

     export GZ_SIM_RESOURCE_PATH=$PWD/models
     gz sim -r worlds/{name}.sdf
     gz sim -s -r worlds/{name}.sdf

     The second is without a window. To try in another terminal:
{commands}
     With ROS:     ros2 launch {package} {scenario}.launch.py sim:=gz -->
"""
# What a command for a topic of the robot says, by its type: text that protobuf reads.
SAY = {
    "gz.msgs.JointTrajectory": 'joint_names: "{joint}", points: {{effort: {effort:g}}}',
    "gz.msgs.Empty": " ",
}
GENTLE = 0.05  # of the greatest effort
PUSH = 'entity: {{name: "{name}::base_link", type: LINK}}, wrench: {{force: {{x: 0.1}}}}'
SCENE = "3D View"
EARTH, WOOD = "0.55 0.53 0.48 1", "0.72 0.58 0.40 1"  # of the ground, and of what is on it
SIDES = ("ComponentInspector", "EntityTree")  # docked beside the scene
# Gazebo's window has nothing but what a world lists: title, size and corner of what floats in it.
HIDDEN = (
    "EntityContextMenuPlugin", "GzSceneManager", "InteractiveViewControl", "CameraTracking",
    "MarkerManager", "SelectEntities", "VisualizationCapabilities",
)  # fmt: skip
PANELS = {
    "WorldControl": (72, 121, "left", ("play_pause", "step", "start_paused", "use_event")),
    "WorldStats": (
        110, 290, "right", ("sim_time", "real_time", "real_time_factor", "iterations")
    ),
}  # fmt: skip


def robot_model(setup: Setup) -> dict[str, bytes]:
    """Return the files of a model to include: the URDF that Gazebo runs get, and its meshes.

    Gazebo reads the URDF itself, as it does when a run creates the robot.
    """
    name, files = setup.robot.name, dict[str, bytes]()
    root = ET.fromstring(expand_for_gazebo(setup))
    for mesh in root.iter("mesh"):
        path = Path(mesh.attrib["filename"].removeprefix(FILE))
        mesh.set("filename", f"model://{name}/meshes/{path.name}")
        for file in (path, *path.parent.glob("*.mtl")):
            files[f"models/{name}/meshes/{file.name}"] = file.read_bytes()
    description = ROBOT.format(summary=_sentence(setup), scenario=setup.scenario.name)
    config = CONFIG.format(name=name, file="model.urdf", description=description)
    files[f"models/{name}/model.config"] = config.encode()
    files[f"models/{name}/model.urdf"] = _text(root).encode()
    return files


def terrain_models(setups: Sequence[Setup]) -> dict[str, bytes]:
    """Return the files of the models that robots make of their terrain and surroundings."""
    files = dict[str, bytes]()
    for setup in setups:
        world = setup.robot.world(setup)
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
    models = world.findall("model")
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
        for visual in link.findall("visual"):
            material = ET.SubElement(visual, "material")
            for light in ("ambient", "diffuse"):
                ET.SubElement(material, light).text = EARTH if model is models[0] else WOOD
    for uri in whole.iter("uri"):
        mesh = path.parent / str(uri.text)
        uri.text = f"meshes/{mesh.name}"
        for file in (mesh, *mesh.parent.glob("*.mtl")):
            files[f"models/{name}/meshes/{file.name}"] = file.read_bytes()
    ET.SubElement(ET.SubElement(world, "include"), "uri").text = f"model://{name}"
    description = AROUND.format(name=setup.robot.name, scenario=name)
    config = CONFIG.format(name=name, file="model.sdf", description=description)
    texts = {"model.config": config, "model.sdf": _text(made)}
    return files | {f"models/{name}/{file}": text.encode() for file, text in texts.items()}


def robot_world(show: Show) -> str:
    """Return the world of the scenario that shows a robot, with it and a camera."""
    setup, name = show.setup, show.setup.robot.name
    shipped = share("roboaccord_ros") / "worlds" / f"{setup.scenario.world}.sdf"
    path = setup.robot.world(setup) or shipped
    root = ET.parse(path).getroot()
    _gather(root, path, setup)
    world = root.find("world")
    assert world is not None
    world.set("name", name)
    include = ET.SubElement(world, "include")
    ET.SubElement(include, "uri").text = f"model://{name}"
    start = setup.initial
    pose = _numbers([*start.position, *quaternion_rpy(start.orientation)])
    ET.SubElement(include, "pose").text = pose
    view = show.view(math.atan(math.tan(0.5 * HORIZONTAL) / ASPECT))
    turn = math.remainder(view.azimuth + math.pi, 2 * math.pi)
    world.append(_window(_numbers([*view.eye, 0.0, view.elevation, turn])))
    words = {"name": name, "summary": _sentence(setup), "package": setup.robot.package}
    head = HEAD.format(**words, scenario=setup.scenario.name, commands=_commands(setup, world))
    return _text(root, head)


def _commands(setup: Setup, world: ET.Element) -> str:
    """Return commands for the topics of a robot, as lines of the comment of its world."""
    bridge = share(setup.robot.package) / "config" / "bridge.yaml"
    lines = []
    for entry in yaml.safe_load(bridge.read_text(encoding="utf-8")):
        topic, kind = entry["gz_topic_name"], entry["gz_type_name"]
        if entry["direction"] == "GZ_TO_ROS":
            lines.append(f"gz topic -e -t {topic}")
        elif kind in SAY:
            i = len(setup.joints) // 2
            say = SAY[kind].format(joint=setup.joints[i], effort=GENTLE * setup.effort_limits[i])
            lines.append(f"gz topic -t {topic} -m {kind} -p '{say}'")
    if world.find("plugin[@name='gz::sim::systems::ApplyLinkWrench']") is not None:
        push = PUSH.format(name=setup.robot.name)
        topic = f"/world/{setup.robot.name}/wrench/persistent"
        lines.append(f"gz topic -t {topic} -m gz.msgs.EntityWrench -p '{push}'")
    return "".join(f"     {line}\n" for line in lines)


def _window(camera: str) -> ET.Element:
    """Return the element `gui` of a world, with the pose of the camera."""
    gui = ET.Element("gui", fullscreen="false")
    scene, _ = _plugin(gui, "MinimalScene", SCENE, state="docked")
    light = {"ambient_light": "0.4 0.4 0.4", "background_color": "0.8 0.85 0.9"}
    for key, value in {"engine": "ogre2", "scene": "scene", **light, "camera_pose": camera}.items():
        ET.SubElement(scene, key).text = value
    for name in HIDDEN:
        _plugin(gui, name, name, state="floating", height=5, width=5)
    for name, (height, width, side, shown) in PANELS.items():
        plugin, card = _plugin(gui, name, name, state="floating", height=height, width=width)
        anchors = ET.SubElement(card, "anchors", target=SCENE)
        for own in (side, "bottom"):
            ET.SubElement(anchors, "line", own=own, target=own)
        for key in shown:
            ET.SubElement(plugin, key).text = "true"
    for name in SIDES:
        _plugin(gui, name, name, state="docked")
    return gui


def _plugin(
    gui: ET.Element, name: str, title: str, *, state: str, **size: int
) -> tuple[ET.Element, ET.Element]:
    """Add a part of the window; return it, and the element that places it."""
    plugin = ET.SubElement(gui, "plugin", filename=name, name=title)
    card = ET.SubElement(plugin, "gz-gui")
    ET.SubElement(card, "property", type="bool", key="showTitleBar").text = "false"
    ET.SubElement(card, "property", type="string", key="state").text = state
    for key, value in size.items():
        ET.SubElement(card, "property", type="double", key=key).text = str(value)
    return plugin, card


def _sentence(setup: Setup) -> str:
    words = escape(setup.robot.summary)
    return words[:1].upper() + words[1:]


def _numbers(values: Sequence[float] | Array) -> str:
    return " ".join(f"{value + 0.0:.6g}" for value in np.round(values, 6).tolist())


def _text(root: ET.Element, head: str = "") -> str:
    ET.indent(root)
    return f'<?xml version="1.0"?>\n{head}{ET.tostring(root, encoding="unicode")}\n'
