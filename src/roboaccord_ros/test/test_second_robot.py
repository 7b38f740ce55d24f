"""The reference as a second robot over ROS: it follows, is recorded, and never changes a run."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from geometry_msgs.msg import Twist
from roboaccord.bag.content import Content
from roboaccord.bag.second_robot import Look, read_pair
from roboaccord.crosscheck.recorded import check_bag
from roboaccord.description.materials import OPACITY, RED, translucent
from roboaccord.falsify import parse_perturbation, wrap
from roboaccord.run.loop import make_simulator
from roboaccord.run.runner import run_direct
from roboaccord_ros.gazebo import markers
from roboaccord_ros.gazebo.transport import installed_release
from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.nodes import crosscheck
from roboaccord_ros.nodes.crosscheck import STATUS_OUTSIDE, CrosscheckShell
from roboaccord_ros.nodes.recorder import RecorderShell
from roboaccord_ros.nodes.simulator import SimulatorShell
from running import setup_of
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

PEERS = ("controller", "crosscheck", "recorder")


class Checked:
    """A run with a cross-check and a recorder beside it."""

    def __init__(self, graph, folder, setup, engine="reference", made=None):
        robot, self.bag = setup.robot.name, folder / "bag"
        for _ in PEERS[1:]:
            graph.run.expect()
        args = robot, 0.0, graph.run
        self.check = CrosscheckShell(graph.node("crosscheck"), *args, reference=True)
        self.recorder = RecorderShell(graph.node("recorder"), robot, self.bag, graph.run)
        options, made = Options(engine=engine, peers=PEERS), made or make_simulator(setup)
        node = graph.node("simulator")
        self.shell = SimulatorShell(node, setup, made, graph.run, options)
        graph.controller(setup)

    def read(self, graph):
        """Run to the end, and return the run of the bag, and its second robot: motion, looks."""
        graph.spin()
        self.recorder.close()
        return read_pair(self.bag)


def assert_same(run, second):
    """Check that the second robot is the first, to the last bit."""
    assert np.array_equal(run.trajectory.rows(), second.rows())


def test_beside_a_run_of_the_reference_the_bag_holds_it_twice(
    graph, setup_for, request_for, tmp_path
):
    """And the run is the one without it; in colours of its own, with frames of its own."""
    graph.namespace = "/lab"
    setup = setup_for(duration=0.1)
    run, second, looks = Checked(graph, tmp_path, setup).read(graph)
    assert_same(run, second)
    assert run.sha256 == run_direct(request_for(setup)).trajectory.sha256()
    content = Content.of(tmp_path / "bag")
    (painted,) = content.raw("/snake/reference/robot_description")
    assert translucent(setup.urdf()).encode() in painted
    assert looks[-1].colours == (OPACITY, "")
    frames = b"".join(content.raw("/tf"))
    assert 2 * 5 <= len(content.raw("/tf")) <= 2 * 6  # at 50 Hz, from where both halves are there
    assert b"reference/segment_03_link" in frames and b"\0segment_03_link" in frames
    assert check_bag(run).ok and run.robot == "snake"


@pytest.mark.slow
def test_the_link_that_is_one_percent_too_heavy_is_red_in_the_bag(
    graph, tmp_path, caplog, monkeypatch
):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    pytest.importorskip("monkeybot", reason="the MonkeyBot is not installed")
    monkeypatch.setattr(crosscheck, "ENDING", 60.0)  # the run is shorter than the search
    setup = setup_of("monkeybot", "swing", "duration=0.3")
    wrong = wrap("mujoco", perturbations=[parse_perturbation("mujoco:mass:arm_b_link=1.01")])
    checked = Checked(graph, tmp_path, setup, "mujoco", make_simulator(setup, wrong))
    with caplog.at_level(logging.WARNING):
        *_, looks = checked.read(graph)
    look = looks[-1]
    assert checked.check.status == STATUS_OUTSIDE and look.link == "arm_b_link"
    assert "mass of arm_b_link is +1 % off" in look.line
    assert [r.message for r in caplog.records if "outside" in r.message] == [
        f"monkeybot: {look.line}"
    ]
    painted = Content.of(tmp_path / "bag").raw("/monkeybot/reference/robot_description")
    assert look.paint(setup.urdf()).encode() in painted[-1]


@pytest.mark.slow
def test_where_a_person_drives_it_is_driven_alike(graph, tmp_path):
    """Targets, and joints that fail while it runs, act on both at the same tick."""
    setup = setup_of("snake", "teleop", "duration=0.4")
    checked = Checked(graph, tmp_path, setup)
    person = graph.node("person")
    drive = person.create_publisher(Twist, "snake/cmd_vel", 5)
    breaks = person.create_publisher(String, "snake/fault", 5)
    done = []

    def act():
        time = checked.shell.stepper.state.time
        twist = Twist()
        twist.linear.x, twist.angular.z = 0.3, 0.5 * time
        if time > 0.05:
            drive.publish(twist)
        if time > 0.2 and not done:
            done.append(time)
            breaks.publish(String(data="joint_07=frozen"))

    person.create_timer(0.01, act)
    run, second, _ = checked.read(graph)
    kinds = [event.kind for event in run.trajectory.events]
    assert done and "joint_frozen" in kinds
    assert_same(run, second)


@pytest.mark.slow
def test_a_magnet_that_a_person_switches_is_switched_on_both(graph, tmp_path):
    pytest.importorskip("monkeybot", reason="the MonkeyBot, which has switches, is not installed")
    checked = Checked(graph, tmp_path, setup_of("monkeybot", "teleop", "duration=0.4"))
    client, done = graph.node("person").create_client(SetBool, "monkeybot/magnet_a/set"), []

    def act():
        if checked.shell.stepper.state.time > 0.2 and not done:
            done.append(client.call_async(SetBool.Request(data=False)))

    graph.nodes[-1].create_timer(0.01, act)
    run, second, _ = checked.read(graph)
    assert [event.kind for event in run.trajectory.events] == ["magnet_off"]
    assert_same(run, second)


@pytest.mark.slow
def test_a_reset_begins_anew_with_both(graph, setup_for, tmp_path):
    checked = Checked(graph, tmp_path, setup_for(duration=0.3))
    client, done = graph.node("person").create_client(Trigger, "/sim/reset"), []

    def act():
        if checked.shell.stepper.state.time > 0.1 and not done:
            done.append(client.call_async(Trigger.Request()))

    graph.nodes[-1].create_timer(0.01, act)
    run, second, _ = checked.read(graph)
    assert done and run.trajectory.time[-1] == 0.3
    assert_same(run, second)


def test_in_gazebos_window_it_is_as_far_from_the_run_as_it_was(setup_for):
    """Two states of one time are compared, and the difference is shown at a newer one."""
    setup = setup_for()
    base = setup.initial
    turn = np.array([0.0, 0.0, np.sin(0.1), np.cos(0.1)])
    there = replace(base, q=base.q + 0.1, position=base.position + 0.2, orientation=turn)
    now = replace(base, time=0.1, position=base.position + 1.0)
    shown = markers._with_deviation(there, base, now)
    np.testing.assert_allclose(shown.q, now.q + 0.1)
    np.testing.assert_allclose(shown.position, now.position + 0.2)
    np.testing.assert_allclose(shown.orientation, turn)
    np.testing.assert_allclose(markers._with_deviation(there, base, base).q, there.q)


@pytest.mark.parametrize("robot", ["snake", "packbot"])
def test_gazebos_window_gets_forms_and_colours_once_and_poses_after_that(robot):
    """And the red link anew; one marker for each visual, in its place."""
    if installed_release().lacking():
        pytest.skip("Gazebo's Python modules are not installed")
    pytest.importorskip(robot, reason="the robot is not installed")
    setup = setup_of(*{"snake": ("snake", "serpenoid"), "packbot": ("packbot", "collapse")}[robot])
    window, sent = markers.WindowMarkers(setup), []

    class Window:
        """What a window answers, which this machine cannot show."""

        def service_info(self, service):
            return [service]

        def request(self, service, batch, *_):
            sent.append(type(batch).FromString(batch.SerializeToString()))
            return service == markers.SERVICE, None

    window._node, window._next_search = Window(), 0.0
    state = setup.initial
    later = [replace(state, time=0.1 * k, position=state.position + 0.1 * k) for k in range(3)]
    link = setup.tree.links[-1].name
    for now, look in zip(later, (Look(), Look(), Look(link=link)), strict=True):
        window.show(state, state, now, look)
        window.show(state, state, now, look)  # nothing new
    window.remove()
    emptied, first, second, third, last = sent
    visuals = ET.fromstring(setup.urdf()).findall("link/visual")
    assert len(first.marker) == len(second.marker) == len(third.marker) == len(visuals)
    assert all(marker.HasField("material") for marker in first.marker)
    assert not any(marker.HasField("material") or marker.point for marker in second.marker)
    assert any(marker.point for marker in first.marker) is (robot == "packbot")
    red = [round(marker.material.diffuse.r, 2) == RED[0] for marker in third.marker]
    assert 0 < sum(red) < len(red)
    moved = [b.pose.position.x - a.pose.position.x for a, b in zip(first.marker, second.marker)]
    np.testing.assert_allclose(moved, 0.1)
    assert [batch.marker[0].action for batch in (emptied, last)] == [2, 2]  # DELETE_ALL
