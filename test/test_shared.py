"""Shared files: made anew they are the same, they fit the robots, and a camera sees each robot."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from roboaccord.bag.topics import input_topics
from roboaccord.contract.errors import AccordError
from roboaccord.description.meshes import read_mesh
from roboaccord.description.solids import box
from roboaccord.gazebo.tool import sdformat_tool
from roboaccord.gazebo.window import CAMERA, CONTROL, camera_pose
from roboaccord.numerics.rotations import rpy_matrix
from roboaccord.scenario import Setup, find_robot, load_scenario, robot_names, scenario_names
from roboaccord.scenario.camera import start_points, start_view
from workspace import ROOT, need_all_robots

pytest.importorskip("rclpy", reason="rclpy is not installed")

from benchmarks.shared import files
from roboaccord_ros.gazebo.world import World
from roboaccord_ros.graph import names

pytestmark = pytest.mark.thorough

ROBOTS = robot_names()
SCENARIOS = [
    pytest.param(r, s, id=f"{r}/{s}") for r in ROBOTS for s in scenario_names(find_robot(r).package)
]
WORLDS = [path.stem for path in sorted((ROOT / "worlds").glob("*.sdf"))]
HALF = math.tan(math.radians(45.0))  # of Gazebo's horizontal field of view
WIDE = 16 / 9  # width of a window over its height
THIRD = 1 / 3  # of the window's width, which a robot spans at the least
BY_HAND = {"config/rviz/view_robot.rviz"}  # of no robot in particular
AHEAD = 1e-2  # m by which what hides a point must be before it


@cache
def show(name: str) -> files.Show:
    return files.Show.of(name)


def world(name: str) -> ET.Element:
    found = ET.parse(ROOT / "worlds" / f"{name}.sdf").getroot().find("world")
    assert found is not None
    return found


def numbers(text: str | None) -> np.ndarray:
    return np.array([float(word) for word in (text or "0 0 0 0 0 0").split()])


def test_made_anew_they_are_the_same(tmp_path: Path) -> None:
    """`make shared` has nothing to do, and no other file is among what it makes."""
    need_all_robots()
    assert files.TOP == ROOT and files.main(tmp_path) == 0
    written = {p.relative_to(tmp_path).as_posix(): p for p in tmp_path.rglob("*") if p.is_file()}
    changed = [name for name, p in written.items() if (ROOT / name).read_bytes() != p.read_bytes()]
    assert not changed, "run: make shared"
    for kind in ("rviz", "foxglove", "plotjuggler"):
        there = {f"config/{kind}/{path.name}" for path in (ROOT / "config" / kind).iterdir()}
        assert there - BY_HAND == {path for path in written if path.startswith(f"config/{kind}/")}


def camera(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return place (3,) and axes of the camera of a world: rows forward, left, up (3, 3)."""
    pose = numbers(world(name).findtext("gui/plugin[@filename='MinimalScene']/camera_pose"))
    return pose[:3], rpy_matrix(*pose[3:]).T


def projected(name: str, points: np.ndarray) -> np.ndarray:
    """Return where points (k, 3) are seen: left and up over half of the width, and depth (k, 3)."""
    eye, axes = camera(name)
    forward, left, up = axes @ (points - eye).T
    return np.stack([left / forward / HALF, up / forward / HALF, forward], axis=-1)


def solids(name: str) -> list[np.ndarray]:
    """Return the triangles (k, 3, 3) [m] of what stands around the robot in a world."""
    triangles = []
    for uri in world(name).findall("include/uri"):
        model = ROOT / "models" / str(uri.text).removeprefix("model://")
        for link in (
            ET.parse(model / "model.sdf").iter("link") if uri.text != f"model://{name}" else ()
        ):
            for visual in link.findall("visual"):
                position = numbers(link.findtext("pose"))[:3] + numbers(visual.findtext("pose"))[:3]
                size, mesh = visual.find("geometry/box/size"), visual.find("geometry/mesh/uri")
                corners, squares = box(np.ones(3))
                faces = np.array([t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])
                if mesh is not None:
                    shared = str(mesh.text).startswith("model://")
                    file = str(mesh.text).removeprefix("model://")
                    corners, faces = read_mesh((ROOT / "models" if shared else model) / file)
                elif size is not None:
                    corners = corners * numbers(size.text)
                triangles.append(corners[faces] + position)
    return triangles


def hidden(eye: np.ndarray, point: np.ndarray, triangles: np.ndarray) -> bool:
    """Return whether a triangle (k, 3, 3) is between the eye and a point (Moeller-Trumbore)."""
    ray = point - eye
    a, b, c = triangles.transpose(1, 0, 2)
    normal = np.cross(ray, c - a)
    scale = np.einsum("ki,ki->k", b - a, normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("ki,ki->k", eye - a, normal) / scale
        across = np.cross(eye - a, b - a)
        v = across @ ray / scale
        far = np.einsum("ki,ki->k", c - a, across) / scale
    before = 1.0 - AHEAD / float(np.linalg.norm(ray))
    return bool(((u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0) & (far < before)).any())


@pytest.mark.parametrize("name", ROBOTS)
def test_the_camera_of_a_world_sees_the_robot_large_and_whole(name: str) -> None:
    """Its box spans a third of the width, all of it is in the picture, and nothing hides it.

    On terrain it spans a sixth, and half of the terrain is in the picture.
    """
    points = start_points(show(name).setup)
    seen = projected(name, points)
    assert (seen[:, 2] > 0.05).all()
    assert (np.abs(seen[:, 0]) < 1).all()
    assert (np.abs(seen[:, 1]) < 1 / WIDE).all()
    setup = show(name).setup
    relief = setup.robot.surroundings(setup).get("terrain")
    assert np.ptp(seen[:, :2], axis=0).max() / 2 > (THIRD if relief is None else THIRD / 2)
    if relief is not None:
        inside = np.abs(projected(name, relief[0])[:, :2]) < (1, 1 / WIDE)
        assert inside.all(axis=1).mean() > 0.5
    eye, _ = camera(name)
    things = solids(name)
    for point in points[:: max(1, len(points) // 100)]:
        assert not any(hidden(eye, point, triangles) for triangles in things), point


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "scenario"), SCENARIOS)
def test_the_world_of_a_run_has_the_window_of_the_robots_own(robot: str, scenario: str) -> None:
    """Camera, panels and materials; the camera is the robot's for this scenario."""
    setup = Setup.of(load_scenario(find_robot(robot).package, robot, scenario))
    try:
        path = World.write(setup).path
    except AccordError as error:
        pytest.skip(f"Gazebo does not run it: {error}")
    run_world = ET.parse(path).getroot().find("world")
    assert run_world is not None
    own, gui = world(robot).find("gui"), run_world.find("gui")
    assert own is not None
    assert gui is not None
    parts = [p.get("filename") for p in own if p.get("filename") != CONTROL]  # nobody presses play
    assert [p.get("filename") for p in gui] == parts
    expected = camera_pose(start_view(setup, math.radians(45.0)))
    np.testing.assert_allclose(numbers(run_world.findtext(CAMERA)), expected, rtol=1e-5, atol=1e-6)
    visuals = [v for model in run_world.findall("model") for v in model.iter("visual")]
    assert all(visual.find("material/diffuse") is not None for visual in visuals)


@pytest.mark.parametrize("name", WORLDS)
def test_panels_are_docked_at_a_title_that_is_there(name: str) -> None:
    """gz-gui looks for the target of an anchor among titles, not among names."""
    titles = {title.text for title in world(name).iterfind("gui/plugin/gz-gui/title")}
    targets = {anchors.get("target") for anchors in world(name).iter("anchors")}
    assert targets and targets <= titles


@pytest.mark.skipif(not sdformat_tool(), reason="sdformat's reader is not installed")
@pytest.mark.parametrize("name", ROBOTS)
def test_sdformat_reads_all_of_an_included_robot(name: str) -> None:
    """Links, masses and systems of the description are in the world, at the start pose."""
    command = [sdformat_tool(), "sdf", "-p", ROOT / "worlds" / f"{name}.sdf"]
    models = dict.fromkeys(("SDF_PATH", "GZ_SIM_RESOURCE_PATH"), str(ROOT / "models"))
    environment = {**os.environ, **models}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    model = ET.fromstring(done.stdout.replace("gz:expressed_in", "expressed_in")).find(
        f"world/model[@name='{name}']"
    )
    assert model is not None
    urdf = ET.parse(ROOT / "models" / name / "model.urdf").getroot()
    joined = {j.find("child").get("link") for j in urdf.findall("joint[@type='fixed']")}  # type: ignore[union-attr]
    masses = {
        link.get("name"): float(link.find("inertial/mass").get("value"))  # type: ignore[union-attr, arg-type]
        for link in urdf.findall("link")
        if link.get("name") != "world"
    }
    read = {
        link.get("name"): float(link.findtext("inertial/mass") or 0)
        for link in model.findall("link")
    }
    # Older versions drop a link of 1 mg, and put those behind a fixed joint together.
    assert {n for n, m in masses.items() if m > 1e-5 and n not in joined} <= read.keys()
    assert sum(read.values()) == pytest.approx(sum(masses.values()), abs=1e-5)
    plugins = [plugin.get("name") for plugin in urdf.iter("plugin")]
    assert [plugin.get("name") for plugin in model.findall("plugin")] == plugins
    start = show(name).setup.initial.position
    np.testing.assert_allclose(numbers(model.findtext("pose"))[:3], start, atol=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_commands_of_a_world_are_about_topics_of_its_robot(name: str) -> None:
    text = (ROOT / "worlds" / f"{name}.sdf").read_text(encoding="utf-8")
    topics = set(re.findall(r"gz topic (?:-e )?-t (\S+)", text))
    urdf = ET.parse(ROOT / "models" / name / "model.urdf").getroot()
    own = {e.text for tree in (urdf, world(name)) for p in tree.iter("plugin") for e in p}
    assert topics
    assert all(topic in own or topic == f"/world/{name}/wrench/persistent" for topic in topics)


def test_the_recorder_knows_the_topics_of_the_nodes() -> None:
    """Each topic of a bag, state of a switch, result and input has its quality of service."""
    given = yaml.safe_load((ROOT / "config" / "recorder.yaml").read_text(encoding="utf-8"))
    always = (
        names.STATES, names.ODOMETRY, names.EFFORTS, names.EVENTS, names.CONTACTS, names.WRENCH,
        names.TWIST, names.DESCRIPTION, names.SCENARIO, names.SURROUNDINGS, names.RESULT,
        names.ERROR,
    )  # fmt: skip
    for robot in ROBOTS:
        switches = [f"{switch}/state" for switch in show(robot).setup.initial.switches]
        for topic in (*always, *switches):
            latched = topic in names.ALL_LATCHED or topic in switches
            expected = "transient_local" if latched else "volatile"
            assert given[f"/{robot}/{topic}"]["durability"] == expected
        for topic in (*input_topics(show(robot).setup.robot), names.FAULT):
            assert given[f"/{robot}/{topic}"]["reliability"] == "best_effort"
    words = {"history", "depth", "reliability", "durability"}
    assert all(set(profile) == words for profile in given.values())


@pytest.mark.parametrize("name", ROBOTS)
def test_layouts_name_topics_of_the_robot(name: str) -> None:
    """In RViz, Foxglove and PlotJuggler alike; and every panel of Foxglove has its place."""
    joints, topics = show(name).setup.joints, {*names.KINDS, "cmd_vel"}
    robot = show(name).setup.robot
    topics |= {robot.input_topics.velocity, *robot.input_topics.efforts}
    rviz = yaml.safe_load((ROOT / "config/rviz" / f"{name}.rviz").read_text(encoding="utf-8"))
    manager = rviz["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == "odom"
    classes = [display["Class"] for display in manager["Displays"]]
    assert {f"rviz_default_plugins/{c}" for c in ("RobotModel", "Odometry", "MarkerArray")} <= {
        *classes
    }
    foxglove = (ROOT / "config/foxglove" / f"{name}.json").read_text(encoding="utf-8")
    curves = ET.parse(ROOT / "config/plotjuggler" / f"{name}.xml").iter("curve")
    texts = [json.dumps(rviz), foxglove, *(curve.get("name", "") for curve in curves)]
    found = {m for text in texts for m in re.findall(rf"/{name}/([\w/]+)", text)}
    assert found
    for topic in found:
        assert any(topic == t or topic.startswith(f"{t}/") for t in topics), topic
    layout = json.loads(foxglove)
    assert sorted(leaves(layout["layout"])) == sorted(layout["configById"])
    for panel in layout["configById"].values():
        if "paths" in panel:
            assert [path["label"] for path in panel["paths"]] == list(joints)


def leaves(layout: Any) -> list[str]:
    return (
        [layout] if isinstance(layout, str) else leaves(layout["first"]) + leaves(layout["second"])
    )
