"""Worlds of runs in Gazebo, starts that it cannot make, and where joints put a level base."""

from __future__ import annotations

import os
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

pytest.importorskip("snake", reason="the snake is not installed")

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import RobotState
from roboaccord.numerics.rotations import quaternion_matrix, yaw_quaternion
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_ros.gazebo.in_process import InProcess
from roboaccord_ros.gazebo.level import LevelBase
from roboaccord_ros.gazebo.world import PARTITION, World, refuse_start

three = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)


@given(three, st.floats(-3.0, 3.0), three, st.floats(-3.0, 3.0), three, st.floats(-3.0, 3.0))
def test_a_level_base_is_where_its_joints_put_it(start, heading, place, yaw, speed, rate):
    """Against the chain of transforms, and the difference quotient of its place in the world."""
    none = np.zeros(0)
    initial = RobotState(0.0, none, none, none, start, yaw_quaternion(heading), np.zeros(6))
    base = LevelBase(initial)

    def at(time):
        q, rates = [*(place + time * speed), yaw + time * rate], [*speed, rate]
        return RobotState(time, none, none, none, *base.pose_and_twist(q, rates))

    state, step = at(0.0), 1e-6
    turn = Rotation.from_rotvec([0.0, 0.0, heading])
    assert state.position == pytest.approx(start + turn.apply(place), abs=1e-12)
    assert quaternion_matrix(state.orientation) == pytest.approx(
        Rotation.from_rotvec([0.0, 0.0, heading + yaw]).as_matrix(), abs=1e-12
    )
    velocity = (at(step).position - at(-step).position) / (2 * step)
    assert quaternion_matrix(state.orientation) @ state.twist[:3] == pytest.approx(
        velocity, abs=1e-8
    )
    assert state.twist[3:] == pytest.approx([0.0, 0.0, rate])


def test_the_world_that_ships_is_found_with_its_name_and_step():
    world = World.read("flat")
    assert (world.name, world.physics_step) == ("flat", 0.001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<sdf><world name='w'/></sdf>", "no physics/max_step_size"),
        ("<sdf/>", "is not a world"),
        ("no XML", "is not XML"),
    ],
)
def test_a_file_that_is_no_world_gives_one_line(text, message, tmp_path):
    path = tmp_path / "w.sdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AccordError, match=message):
        World.read(str(path))


def test_a_control_period_that_is_no_multiple_of_the_step_is_refused():
    with pytest.raises(AccordError, match=r"control_period over the step of world flat"):
        World.read("flat").check_period(0.0005)


def test_a_base_that_is_held_cannot_start_with_rates(setup_for):
    pytest.importorskip("packbot", reason="the Packbot is not installed")
    refuse_start(setup_for("initial.qd={joint_03: 1.0}", "initial.twist=[0, 1, 0, 0, 0, 0]"))
    packbot = partial(load_scenario, "packbot", "packbot", "collapse")
    refuse_start(Setup.of(packbot([])))
    with pytest.raises(AccordError, match=r"collapse has initial.twist; in Gazebo a base that is"):
        refuse_start(Setup.of(packbot(["initial.twist=[0, 1, 0, 0, 0, 0]"])))


def test_a_ball_that_starts_turned_in_what_carries_it_is_refused(setup_for):
    pytest.importorskip("roller_sphere", reason="the roller sphere is not installed")
    ball = partial(load_scenario, "roller_sphere", "roller_sphere", "headings")
    refuse_start(Setup.of(ball([])))
    refuse_start(setup_for("initial.yaw=0.5"))  # a robot as a whole may be
    with pytest.raises(AccordError, match="headings turns the ball at the start; Gazebo would"):
        refuse_start(Setup.of(ball(["initial.yaw=0.5"])))


def test_a_run_includes_the_terrain_of_its_scenario_and_not_the_one_that_ships(monkeypatch):
    """Where the workspace names the folder of the latter, too, as its environment does."""
    pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")
    setup = Setup.of(load_scenario("voxel_sphere", "voxel_sphere", "bowl", []))
    world = World.write(setup)
    first, *others = world.models
    monkeypatch.setattr(InProcess, "server_count", 0)
    monkeypatch.setenv(PARTITION, "")
    paths = "GZ_SIM_RESOURCE_PATH", "SDF_PATH"
    for name in paths:
        monkeypatch.setenv(name, str(others[-1]))
    InProcess._isolate(world)
    assert all(os.environ[name].split(os.pathsep)[0] == str(first) for name in paths)
    assert any((folder / "terrain_bowl").is_dir() for folder in others)
    triangles = np.fromfile(first / "terrain_bowl/meshes/terrain.stl", "<u4", 1, offset=80)[0]
    assert triangles > 2 * (setup.scenario.terrain["n"] - 1) ** 2  # and the sides


def test_a_base_that_is_driven_by_a_twist_is_refused():
    pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")

    def ball(name):
        return Setup.of(load_scenario("voxel_sphere", "voxel_sphere", name, []))

    assert World.write(ball("bowl")).name  # by torques
    with pytest.raises(AccordError, match="gz has forces"):
        World.write(ball("arena"))
