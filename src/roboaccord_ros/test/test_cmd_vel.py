"""A Twist on /snake/cmd_vel turns the snake, through the nodes as they are."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from geometry_msgs.msg import Twist
from snake.simulators.metrics import body_motion


def test_a_twist_turns_the_snake_to_its_side(graph, setup_for):
    """Straight until messages come from 1.5 s on; then 0.5 rad/s to the right, until the end."""
    setup = setup_for("controller={name: steering}", duration=5.0)
    shell = graph.simulator(setup)
    graph.controller(setup)
    teleop = graph.node("teleop")
    publisher = teleop.create_publisher(Twist, "/snake/cmd_vel", 1)
    sent = []

    def command():
        if shell.stepper.state.time >= 1.5:
            twist = Twist()
            twist.linear.x, twist.angular.z = 1.0, -0.5
            publisher.publish(twist)
            sent.append(shell.stepper.state.time)

    teleop.create_timer(0.02, command)
    graph.spin()
    assert sent
    assert sent[0] < 2.0
    _, heading = body_motion(setup, graph.motion.trajectory)
    assert abs(heading[500:1500].mean()) < 0.1
    # 0.5 rad/s over at least 1.5 s, when the rise of the offset and half a period are left out.
    assert np.mean(heading[-1000:]) < -0.5 * 1.5
