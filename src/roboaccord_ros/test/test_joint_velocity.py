"""Velocities of joints that people send: they reach the controller, and end when people stop."""

from __future__ import annotations

import math
from copy import copy

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from roboaccord.contract.state import Command
from roboaccord.scenario.setup import Setup
from sensor_msgs.msg import JointState

TOPIC = "joint_velocity_command"
SILENCE = 0.5  # s, as docs/ros.md has it


class Listener:
    """Do nothing, and write down what is asked."""

    def __init__(self, setup):
        self.asked, self.joints = [], setup.joints

    def reset(self, seed):
        self.asked.clear()

    def update(self, state, target):
        velocity = None if target is None else target.velocity
        self.asked.append((state.time, velocity))
        return Command(np.zeros(len(self.joints)))

    def of(self, joint):
        """Return times (k,) and velocities (k,) of a joint since somebody has asked."""
        column = self.joints.index(joint)
        return np.array([(t, v[column]) for t, v in self.asked if v is not None]).T


@pytest.fixture
def played(graph, setup_for):
    """Play messages, each at a time [s], to the nodes as they are; return what was asked."""

    def play(*messages, duration=1.2):
        listeners = []

        def make(setup):
            listeners.append(Listener(setup))
            return listeners[-1]

        given = setup_for("controller={name: listen}", duration=duration)
        robot = copy(given.robot)
        robot.velocity_topic, robot.controllers = TOPIC, {"listen": make}
        setup = Setup(robot, given.scenario)
        shell = graph.simulator(setup)
        graph.controller(setup)
        teleop = graph.node("teleop")
        publisher = teleop.create_publisher(JointState, f"/snake/{TOPIC}", 20)
        to_come = list(messages)

        def send():
            while to_come and shell.stepper.state.time >= to_come[0][0]:
                _, names, velocity = to_come.pop(0)
                publisher.publish(JointState(name=names, velocity=velocity))

        teleop.create_timer(0.001, send)
        graph.spin()
        assert not to_come
        return listeners[-1]

    return play


def test_each_joint_moves_until_nobody_has_told_it_for_half_a_second(played):
    """Joint 5 is told again at 0.3 s, joint 3 only once."""
    listener = played(
        (0.1, ["joint_05", "joint_03"], [-0.4, 0.2]),
        (0.3, ["joint_05"], [0.7]),
    )
    assert listener.asked[0] == (0.0, None)
    time, third = listener.of("joint_03")
    assert (third == np.where(time < time[0] + SILENCE - 1e-9, 0.2, 0.0)).all()
    assert time[0] >= 0.1
    _, fifth = listener.of("joint_05")
    again = time[np.flatnonzero(fifth == 0.7)[0]]
    assert again >= 0.3
    assert again < time[0] + SILENCE
    told = np.where(time < again, -0.4, 0.7)
    assert (fifth == np.where(time < again + SILENCE - 1e-9, told, 0.0)).all()
    assert time[-1] > again + SILENCE


@pytest.mark.parametrize(
    ("names", "velocity", "said"),
    [
        (["joint_03", "joint_33"], [1.0, 1.0], "unknown joint joint_33; did you mean joint_"),
        (["joint_03", "joint_07"], [1.0, math.nan], "joint_07: nan is no velocity"),
        (["joint_03", "joint_07"], [1.0], "joint_07: 2 names have 1 velocities"),
    ],
)
def test_a_wrong_message_is_left_out_with_one_line(names, velocity, said, played, caplog):
    wrong = [(0.05 + 0.02 * i, names, velocity) for i in range(3)]
    listener = played((0.02, ["joint_04"], [0.3]), *wrong, duration=0.15)
    assert set(listener.of("joint_03")[1]) == {0.0}
    assert set(listener.of("joint_04")[1]) == {0.3}
    lines = [record.message for record in caplog.records]
    assert len(lines) == 1
    assert said in lines[0]
