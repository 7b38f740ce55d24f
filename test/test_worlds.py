"""Every world, model and robot is right for Gazebo, and a wrong one is found.

sdformat's own checker and schema are used where they are installed (Debian: ignition-tools,
libsdformat-dev, sdformat-sdf); without them these parts are skipped, and say so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from roboaccord.cli.main import run
from roboaccord.gazebo.form import LEVEL, expand_for_gazebo
from roboaccord.gazebo.tool import sdformat_tool
from roboaccord.scenario import find_robot, robot_names
from roboaccord_files.gazebo.check import check_file, check_robot
from roboaccord_files.gazebo.schema import schema_folder, sdformat_problems
from roboaccord_files.gazebo.shipped import setups_in_gazebo
from slow_cases import late
from workspace import ROOT

pytestmark = pytest.mark.thorough

MODELS = [ROOT / "models"]
FILES = sorted([*ROOT.glob("worlds/*.sdf"), *ROOT.glob("models/*/model.*df")])
WORLDS = [path for path in FILES if path.parent.name == "worlds"]
PARTS = [("position", k) for k in "xyz"] + [("orientation", k) for k in "xyzw"]
TOOL = sdformat_tool()
needs_gazebo = pytest.mark.skipif(not shutil.which("gz"), reason="Gazebo Sim is not installed")
needs_tool = pytest.mark.skipif(
    not TOOL, reason="sdformat's checker is not installed (ignition-tools, libsdformat-dev)"
)
needs_schema = pytest.mark.skipif(
    not schema_folder(), reason="sdformat's schema is not installed (sdformat-sdf)"
)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def robots_and_bridge(name: str) -> tuple[list[str], str]:
    bridge = ROOT / "src" / find_robot(name).package / "config" / "bridge.yaml"
    urdfs = [expand_for_gazebo(setup) for setup in setups_in_gazebo(name)]
    return urdfs, bridge.read_text(encoding="utf-8")


def robot_and_bridge(name: str) -> tuple[str, str]:
    urdfs, bridge = robots_and_bridge(name)
    return urdfs[0], bridge


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_world_and_model_passes_our_check(path: Path) -> None:
    assert check_file(path, MODELS) == []


@needs_tool
@pytest.mark.parametrize("path", [*FILES[:3], *late(*FILES[3:])], ids=name_of)
def test_every_world_and_model_passes_sdformats_checker(path: Path) -> None:
    assert sdformat_problems(TOOL, path, MODELS) == []


def gazebo(world: Path, *options: str) -> subprocess.Popen[str]:
    """Start a server in a partition of its own that reports errors and warnings."""
    os.environ |= {"GZ_PARTITION": uuid.uuid4().hex, "GZ_SIM_RESOURCE_PATH": str(MODELS[0])}
    command = ["gz", "sim", "-s", "-r", "-v", "2", *options, str(world)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


@needs_gazebo
@pytest.mark.parametrize("path", WORLDS, ids=name_of)
def test_gazebo_loads_a_world_without_a_warning(path: Path) -> None:
    server = gazebo(path, "--iterations", "100")
    _, message = server.communicate(timeout=120)
    assert (server.returncode, message) == (0, "")


@needs_gazebo
@pytest.mark.parametrize("robot", robot_names())
def test_a_robot_in_its_world_has_its_joints_and_moves_by_the_command_at_the_top(
    robot: str,
) -> None:
    """As it is typed, within a minute, by 0.01 rad or m."""
    path = ROOT / "worlds" / f"{robot}.sdf"
    (command,) = re.findall(r"for i in .*; done", path.read_text(encoding="utf-8"))

    def reported(topic: str) -> dict[str, Any]:
        echo = ["gz", "topic", "-e", "-n", "1", "--json-output", "-t", f"/model/{robot}/{topic}"]
        done = subprocess.run(echo, capture_output=True, text=True, timeout=60, check=True)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
        return found

    def place() -> list[float]:
        pose = reported("odometry")["pose"]
        joints = [
            float(j["axis1"].get("position", 0.0)) for j in reported("joint_state").get("joint", [])
        ]
        return [*joints, *(float(pose[part].get(k, 0.0)) for part, k in PARTS)]

    server = gazebo(path)
    try:
        names = {joint["name"] for joint in reported("joint_state").get("joint", [])}
        assert names - {*LEVEL} == set(setups_in_gazebo(robot)[0].joints)
        first, end = place(), time.monotonic() + 60
        subprocess.run(["bash", "-c", command], timeout=60, check=True)
        while max(abs(a - b) for a, b in zip(place(), first, strict=True)) < 0.01:
            assert time.monotonic() < end
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.communicate(timeout=60)


def test_a_robot_is_checked_with_each_base_that_it_has_in_gazebo() -> None:
    pytest.importorskip("roller_sphere", reason="the roller sphere is not installed")
    assert {setup.scenario.base for setup in setups_in_gazebo("roller_sphere")} == {"ball", "free"}


@pytest.mark.parametrize("path", WORLDS, ids=name_of)
def test_a_world_says_how_it_is_tried(path: Path) -> None:
    assert "gz sim -s -r worlds/" in path.read_text(encoding="utf-8")


# Each is a mistake that Gazebo itself takes in silence, or that sdformat's checker calls valid.
BROKEN = {
    "version": ("flat", '<sdf version="1.9">', '<sdf version="1.10">', "version 1.10"),
    "system missing": (
        "flat",
        '<plugin filename="gz-sim-user-commands-system" name="gz::sim::systems::UserCommands" />',
        "",
        "UserCommands is there 0 times",
    ),
    "library": ("flat", "gz-sim-physics-system", "gz-sim-physic-system", "is in gz-sim-physics"),
    "class": ("flat", "systems::Physics", "systems::Physic", "not a system that this workspace"),
    "model": ("flat", "model://ground", "model://grund", "no model grund"),
    "gravity": ("pendulum", "<gravity>0 0 -9.81</gravity>", "", "world/gravity: must be stated"),
    "magnet": ("wall", "attach_topic>", "atach_topic>", "needs a attach_topic that starts with /"),
}
BROKEN_ELEMENTS = {
    "element": ("flat", "max_step_size", "max_stepsize", "no such element"),
    "attribute": ("flat", 'type="dart"', 'typ="dart"', "no attribute typ"),
    "number": ("flat", ">0.001<", ">1 ms<", "'1 ms' is not a double"),
    "vector": ("flat", "0 0 -9.81", "-9.81", "1 numbers, a vector3 has 3"),
    "place": ("flat", "<gravity>", "<friction><mu>1</mu></friction><gravity>", "no such element"),
}


def problems_after(world: str, old: str, new: str, folder: Path) -> list[str]:
    text = (ROOT / "worlds" / f"{world}.sdf").read_text(encoding="utf-8")
    assert old in text
    path = folder / "broken.sdf"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return check_file(path, MODELS)


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_world_is_found(case: str, tmp_path: Path) -> None:
    world, old, new, expected = BROKEN[case]
    assert any(expected in line for line in problems_after(world, old, new, tmp_path))


@needs_schema
@pytest.mark.parametrize("case", BROKEN_ELEMENTS)
def test_a_broken_element_is_found(case: str, tmp_path: Path) -> None:
    world, old, new, expected = BROKEN_ELEMENTS[case]
    assert any(expected in line for line in problems_after(world, old, new, tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ros_topic_name: /snake/gz/odom", "ros_topic: /snake/gz/odom", "unknown key ros_topic"),
        ("gz.msgs.Odometry", "gz.msgs.OdometryWithCovariance", "must be gz.msgs.Odometry"),
        ("direction: ROS_TO_GZ", "direction: GZ_TO_ROS", "ROS_TO_GZ"),
        ("/model/snake/odometry", "/model/snake/odom", "is a topic of the robot, and is not"),
    ],
)
def test_a_broken_bridge_is_found(old: str, new: str, expected: str) -> None:
    urdf, bridge = robot_and_bridge("snake")
    assert old in bridge
    assert any(expected in line for line in check_robot(urdf, bridge.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("<odom_topic>", "<odom_tpic>", "no parameter odom_tpic"),
        ("JointStatePublisher", "JointStatePublishr", "JointStatePublisher is missing"),
        ('<gazebo reference="base_link">', '<gazebo reference="base">', "no link or joint base"),
    ],
)
def test_a_broken_robot_is_found(old: str, new: str, expected: str) -> None:
    urdf, bridge = robot_and_bridge("snake")
    assert old in urdf
    end = old.replace("<", "</")
    broken = urdf.replace(old, new).replace(end, new.replace("<", "</"))
    assert any(expected in line for line in check_robot(broken, bridge))


def test_a_magnet_that_is_not_bridged_or_has_no_link_is_found(tmp_path: Path) -> None:
    urdf, bridge = robot_and_bridge("monkeybot")
    broken = bridge.replace("/model/monkeybot/magnet_b/detach", "/model/monkeybot/magnet/detach")
    assert sorted(check_robot(urdf, broken, WORLDS)) == [
        "bridge: /model/monkeybot/magnet/detach: no system of the robot has this topic",
        "bridge: /model/monkeybot/magnet_b/detach is a topic of the robot, and is not bridged",
    ]
    world = tmp_path / "wall.sdf"
    text = (ROOT / "worlds" / "wall.sdf").read_text(encoding="utf-8")
    world.write_text(text.replace(">magnet_a_link<", ">hand_link<"), encoding="utf-8")
    assert check_robot(urdf, bridge, [world]) == ["wall.sdf: no link hand_link in the description"]


@needs_tool
def test_the_command_asks_sdformats_checker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two models of one name, which is for sdformat alone to find."""
    text = (ROOT / "worlds" / "flat.sdf").read_text(encoding="utf-8")
    model = '<model name="twin"><link name="link"/></model>'
    path = tmp_path / "twins.sdf"
    for count, status in ((1, 0), (2, 1)):
        path.write_text(text.replace("</world>", f"{count * model}</world>"), encoding="utf-8")
        assert check_file(path, MODELS) == []
        assert run(["check", str(path), "--models", str(MODELS[0]), "--json"]) == status
        (message,) = json.loads(capsys.readouterr().out)["files"].values()
        assert any(line.startswith("sdformat: ") for line in message) == (status == 1)


def test_a_model_needs_its_config(tmp_path: Path) -> None:
    shutil.copy(ROOT / "models" / "ground" / "model.sdf", tmp_path)
    assert "model.config is missing beside it" in check_file(tmp_path / "model.sdf", MODELS)


def test_a_checker_that_does_not_answer_leaves_a_file_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Time is no finding about a file: what is found otherwise still is."""
    tool = tmp_path / "gz"
    tool.write_text('#!/bin/sh\ncase "$2" in --help) echo SDF;; *) exec sleep 60;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("roboaccord_files.gazebo.schema.TIMEOUT", 0.2)
    world = ROOT / "worlds" / "flat.sdf"
    assert run(["check", str(world), "--models", str(MODELS[0]), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "undecided"
    assert data["files"] == {"worlds/flat.sdf": ["undecided: no answer of sdformat in 0.2 s"]}
    wrong = tmp_path / "wrong.sdf"
    wrong.write_text(world.read_text(encoding="utf-8").replace("physics", "fysics"))
    assert run(["check", str(wrong), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "fail"
