"""Inputs of a controller: targets that people send while it runs, or those of a recorded run.

A target is what a person wants of a robot: a twist of its base, or a position, velocity or effort
of a joint. People send targets as messages on the robot's input topics (`subscribed_inputs`). Each
target is published again as it comes into force (`PublishedInputs`), so the bag of a run holds all
that is needed to repeat it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from rclpy.node import Node
from roboaccord.bag import encode_target
from roboaccord.contract import AccordError, Inputs, Target, did_you_mean
from roboaccord.run import EFFORT, POSITION, VELOCITY, Announced, LiveInputs
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.peers import unreached_topic
from roboaccord_ros.graph.reading import itself, readable
from roboaccord_ros.graph.spinning import Run


class PublishedInputs(Announced):
    """Inputs that publish each target when it comes into force.

    A target is published before the efforts of the control period in which it comes into force.

    Args:
        node: node of the publishers.
        setup: robot and scenario.
        inputs: gives the targets.
    """

    def __init__(self, node: Node, setup: Setup, inputs: Inputs) -> None:
        super().__init__(inputs, self._publish)
        self._node, self._joints = node, setup.joints
        names = (graph.TARGET_TWIST, graph.TARGET_JOINTS)
        self.senders = {name: graph.advertise(node, setup.robot.name, name) for name in names}

    def missing(self) -> str:
        """Return the first topic that a subscriber does not receive yet, or ""."""
        return unreached_topic(self._node, self.senders.values())

    def _publish(self, time: float, target: Target, before: Target | None) -> None:
        for name, data in encode_target(time, target, before, self._joints).items():
            self.senders[name].send(data)


def subscribed_inputs(node: Node, setup: Setup, run: Run) -> PublishedInputs:
    """Return inputs from the messages that people send to a node, published as targets.

    A message with an unknown joint, or with a number that is not finite, is ignored as a whole.
    """
    robot, joints, topics = setup.robot, setup.joints, setup.robot.input_topics
    live = LiveInputs(joints)
    # For each topic with targets of joints, the field of its messages and the kind of target.
    joint_topics = {
        topics.velocity: ("velocity", VELOCITY),
        topics.position: ("position", POSITION),
    }
    readers = dict[str, Callable[[graph.InputMessage], object]]()

    # Sets targets of joints by name.
    def set_joints(names: list[str], values: list[float], field: str, kind: int) -> None:
        _check(names, values, joints, field)
        for name, value in zip(names, values, strict=True):
            live.ask_joint(joints.index(name), kind, value)

    # Sets the targets of a message, by the topic on which it came.
    def set_target(topic: str, message: graph.InputMessage) -> None:
        if topic in joint_topics:
            field, kind = joint_topics[topic]
            set_joints(list(message.name), list(getattr(message, field)), field, kind)
        elif topic in topics.efforts:
            set_joints([topics.efforts[topic]], [message.data], "effort", EFFORT)
        else:
            vectors = (message.linear, message.angular)
            twist = [getattr(vector, axis) for vector in vectors for axis in "xyz"]
            if not all(map(math.isfinite, twist)):
                raise AccordError(f"{twist} is not a twist")
            live.ask_twist(np.array(twist))

    # Sets the targets of a message if it is valid, else logs why it is ignored. Each topic has a
    # reader of its own, for a reader counts the lines that it has logged.
    def receive(topic: str, message: graph.InputMessage) -> None:
        readers.setdefault(topic, readable(topic, partial(set_target, topic), itself))(message)

    graph.subscribe_inputs(node, robot, run.guard(receive))
    return PublishedInputs(node, setup, live)


def _check(names: list[str], values: list[float], joints: Sequence[str], field: str) -> None:
    """Check that names and values of a message fit to the joints.

    Raises:
        AccordError: that names the first that does not.
    """
    for name, value in zip(names, values, strict=False):
        if name not in joints:
            raise AccordError(f"unknown joint {name}{did_you_mean(name, joints)}")
        if not math.isfinite(value):
            raise AccordError(f"{name}: {value} is not a {field}")
    if len(names) != len(values):
        last = names[min(len(values), len(names) - 1)] if names else "no joint"
        raise AccordError(f"{last}: {len(names)} names have {len(values)} {field} values")
