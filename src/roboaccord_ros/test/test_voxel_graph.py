"""The voxel sphere over ROS: wrenches and twists travel, and cmd_vel drives it."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")

from geometry_msgs.msg import Twist
from roboaccord.bag.reader import read_run
from roboaccord.run.runner import run_direct
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_ros.nodes.crosscheck import CrosscheckShell
from roboaccord_ros.run.runner import run_ros


def setup_of(name, *changes):
    plane = "terrain={surface: plane, n: 50}"
    return Setup.of(load_scenario("voxel_sphere", "voxel_sphere", name, [plane, *changes]))


@pytest.mark.parametrize("name", ["incline", "teleop"])
def test_lockstep_repeats_the_direct_loop_for_both_balls(name, request_for):
    setup = setup_of(name, "duration=0.1")
    direct = run_direct(request_for(setup))
    ros = run_ros(request_for(setup))
    assert ros.trajectory.sha256() == direct.trajectory.sha256()
    back = read_run(ros.request.bag)
    assert back.sha256 == back.trajectory.sha256() == direct.trajectory.sha256()
    if name == "teleop":
        assert (back.trajectory.wrench == direct.trajectory.wrench).all()


@pytest.mark.parametrize("name", ["incline", "teleop"])
def test_the_live_crosscheck_knows_what_was_commanded(name, graph):
    setup = setup_of(name, "duration=0.2")
    graph.simulator(setup, peers=("controller", "crosscheck"))
    graph.controller(setup)
    graph.run.expect()
    check = CrosscheckShell(graph.node("crosscheck"), "voxel_sphere", 0.0, graph.run)
    graph.spin()
    assert check.verdict.step.compared > 0.2 / setup.scenario.control_period / 2
    assert check.verdict.step.max < 1e-9  # rad/s; a torque at its limit makes 0.04 in each step


def test_a_twist_message_drives_the_kinematic_ball(graph):
    """It turns to -y when messages come from 0.2 s on, or soon after."""
    setup = setup_of("incline", "duration=1", "controller={name: roll, wy: 1}")
    shell = graph.simulator(setup)
    graph.controller(setup)
    teleop = graph.node("teleop")
    publisher = teleop.create_publisher(Twist, "/voxel_sphere/cmd_vel", 1)
    sent = []

    def command():
        if shell.stepper.state.time >= 0.2:
            twist = Twist()
            twist.linear.y = -0.1
            publisher.publish(twist)
            sent.append(shell.stepper.state.time)

    teleop.create_timer(0.001, command)
    graph.spin()
    path = graph.motion.trajectory
    moved = path.position[-1] - path.position[0]
    # 0.1 m/s along x, then along -y, 1 s in all.
    assert moved[0] - moved[1] == pytest.approx(0.1, abs=1e-9)
    assert moved[1] < -0.02
