"""What gz_adapter computes, and how it ends where Gazebo is not there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the adapter is tested, is not installed")

from roboaccord.errors import AccordError, LockstepError
from roboaccord_ros.gazebo import World, body_twist
from roboaccord_ros.gazebo_link import FreeLink
from roboaccord_ros.gz_adapter import GazeboShell

three = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)


@given(three, three, three, three, st.sampled_from([1e-3, 1e-2]))
def test_the_twist_is_the_one_by_which_the_body_moved(position, turn, linear, angular, step):
    start = Rotation.from_rotvec(turn)
    end = start * Rotation.from_rotvec(angular * step)
    before = np.array([*position, *start.as_quat()])
    after = np.array([*(position + start.apply(linear) * step), *end.as_quat()])
    expected = np.concatenate([linear, angular])
    assert body_twist(before, after, step) == pytest.approx(expected, abs=1e-9 / step)
    after[3:] *= -1.0  # the same orientation
    assert body_twist(before, after, step) == pytest.approx(expected, abs=1e-9 / step)


def test_the_world_that_ships_is_found_with_its_name_and_step():
    world = World.find("flat")
    assert (world.name, world.physics_step) == ("flat", 0.001)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<sdf><world name='w'/></sdf>", "no physics/max_step_size"),
        ("<sdf/>", "is no world"),
        ("no XML", "is no world"),
    ],
)
def test_a_file_that_is_no_world_gives_one_line(text, said, tmp_path):
    path = tmp_path / "w.sdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AccordError, match=said):
        World.find(str(path))


def test_an_unknown_world_gives_one_line():
    with pytest.raises(AccordError, match=r"no world flatt; did you mean flat\?"):
        World.find("flatt")


def test_a_control_period_that_is_no_multiple_of_the_step_is_refused():
    with pytest.raises(AccordError, match=r"control_period over the step of world flat"):
        World.find("flat").check_period(0.0005)


def test_without_a_bridge_it_says_so(graph, setup_for):
    node, world, setup = graph.node("gz_adapter"), World.find("flat"), setup_for()
    link = FreeLink(node, setup, world)
    shell = GazeboShell(node, setup, world, link, graph.run, peers=(), timeout=0.1)
    graph.controller(setup_for())
    with pytest.raises(LockstepError, match="no bridge has subscribed to /snake/gz/joint_traj"):
        graph.spin()
    shell.close()
    assert "no bridge" in shell.result["error"]
