"""view_robot.launch.py: what the real `launch` makes of it, for every robot and for a file."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET
from collections import ChainMap
from pathlib import Path

import pytest
import yaml
from roboaccord.description.xacro_file import expand_xacro
from roboaccord.scenario.installed import robot_names

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "config" / "rviz" / "view_robot.rviz"
ROBOTS = [name for name in robot_names() if (ROOT / "src" / name).is_dir()]
ROOTS = {"packbot": "world", "roller_sphere": "carrier_link"}
needs_launch = pytest.mark.skipif(
    not importlib.util.find_spec("launch_ros"), reason="launch and launch_ros are not on PyPI"
)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_package_has_one(name):
    text = (ROOT / "src" / name / "launch/view_robot.launch.py").read_text(encoding="utf-8")
    assert f"ros2 launch {name} view_robot.launch.py" in text
    assert f'include("view_robot", robot="{name}")' in text


def test_the_displays_are_those_of_a_description_package():
    """The robot comes from the topic that robot_state_publisher latches."""
    manager = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["Visualization Manager"]
    displays = {display["Class"].rpartition("/")[2]: display for display in manager["Displays"]}
    assert {"Grid", "RobotModel", "TF"} == {*displays}
    topic = displays["RobotModel"]["Description Topic"]
    assert (topic["Value"], topic["Durability Policy"]) == ("/robot_description", "Transient Local")


def started(file, **words):
    """Return command and parameters of each process that a launch file would start, by package."""
    from launch import LaunchContext
    from launch.actions import IncludeLaunchDescription, OpaqueFunction
    from launch.launch_description_sources import get_launch_description_from_python_launch_file
    from launch.utilities import perform_substitutions
    from launch_ros.actions import Node
    from launch_ros.utilities import evaluate_parameters

    context = LaunchContext()
    context.launch_configurations.update(words)
    processes = {}
    entities = list(get_launch_description_from_python_launch_file(str(file)).entities)
    while entities:
        entity = entities.pop(0)
        if isinstance(entity, IncludeLaunchDescription):
            *settings, included = entity.execute(context)
            entities += [*settings, *included.entities]
        elif not isinstance(entity, (Node, OpaqueFunction)):  # the latter looks for packages
            entity.execute(context)
        elif entity.condition is None or entity.condition.evaluate(context):
            command = [perform_substitutions(context, word) for word in entity.cmd[1:-1]]
            given = evaluate_parameters(context, entity._Node__parameters)
            processes[entity.node_package] = (command, dict(ChainMap(*given)))
            assert entity.node_package == entity.node_executable
            assert not entity._Node__remappings
    return processes


@needs_launch
@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_is_shown_from_its_description(name):
    """Sliders and RViz, fixed at the root link; the URDF is that of the simulators."""
    nodes = started(ROOT / "src" / name / "launch/view_robot.launch.py")
    assert {*nodes} == {"robot_state_publisher", "joint_state_publisher_gui", "rviz2"}
    text = nodes["robot_state_publisher"][1]["robot_description"]
    texts = (text, expand_xacro(ROOT / "src" / name / "urdf" / f"{name}.urdf.xacro", {}))
    assert len({ET.canonicalize(text, strip_text=True) for text in texts}) == 1
    words = nodes["rviz2"][0]
    assert Path(words[words.index("-d") + 1]).read_bytes() == CONFIG.read_bytes()
    assert words[words.index("-f") + 1] == ROOTS.get(name, "base_link")
    for mesh in ET.fromstring(text).iter("mesh"):
        package, _, path = mesh.get("filename").removeprefix("package://").partition("/")
        assert (ROOT / "src" / package / path).is_file()


@needs_launch
@pytest.mark.parametrize("suffix", [".urdf", ".urdf.xacro"])
def test_a_file_is_shown_without_windows(suffix, tmp_path):
    """Also from a folder with a space in its name."""
    path = tmp_path / "my robots" / f"arm{suffix}"
    path.parent.mkdir()
    path.write_text(
        '<robot name="arm"><link name="tip"/><link name="stand"/><joint name="j" type="fixed">'
        '<parent link="stand"/><child link="tip"/></joint></robot>'
    )
    words = {"robot": str(path), "gui": "false"}
    nodes = started(ROOT / "launch/view_robot.launch.py", **words)
    assert {*nodes} == {"robot_state_publisher", "joint_state_publisher", "rviz2"}
    assert nodes["rviz2"][0][-2:] == ["-f", "stand"]
    assert "rviz2" not in started(ROOT / "launch/view_robot.launch.py", rviz="false", **words)
