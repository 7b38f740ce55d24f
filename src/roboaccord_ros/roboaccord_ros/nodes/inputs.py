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
from roboaccord.bag import encode_target, input_topics
from roboaccord.contract import AccordError, Inputs, Target, check_known
from roboaccord.run import EFFORT, POSITION, VELOCITY, Announced, LiveInputs
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.peers import unreached_topic
from roboaccord_ros.graph.reading import itself, readable
from roboaccord_ros.graph.spinning import Run

QUANTITIES = {POSITION: "position", VELOCITY: "velocity", EFFORT: "effort"}  # by kind of target


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
        """Publish what a target at a time [s] changes in the one before."""
        for name, data in encode_target(time, target, before, self._joints).items():
            self.senders[name].send(data)


def subscribed_inputs(node: Node, setup: Setup, run: Run) -> PublishedInputs:
    """Return inputs from the messages that people send to a node, published as targets.

    A message with an unknown joint, or with a number that is not finite, is ignored as a whole.
    """
    live = LiveInputs(setup.joints)
    # A reader counts the lines that it has logged, so each topic has one of its own.
    readers = dict[str, Callable[[graph.InputMessage], object]]()

    def receive(topic: str, message: graph.InputMessage) -> None:
        """Set the targets of a message if it is valid, else log why it is ignored."""
        if topic not in readers:
            readers[topic] = readable(topic, partial(_set_targets, live, setup, topic), itself)
        readers[topic](message)

    on_message = run.guard(receive)
    for name, kind in input_topics(setup.robot).items():
        topic, message_class = f"{setup.robot.name}/{name}", graph.message_class(kind)
        node.create_subscription(message_class, topic, partial(on_message, name), graph.LIVE)
    return PublishedInputs(node, setup, live)


def _set_targets(live: LiveInputs, setup: Setup, topic: str, message: graph.InputMessage) -> None:
    """Set the targets of a message, by the topic on which it came.

    Raises:
        AccordError: for a message that is not valid.
    """
    topics = setup.robot.input_topics
    if topic == topics.velocity:
        _set_joints(live, setup, list(message.name), list(message.velocity), VELOCITY)
    elif topic == topics.position:
        _set_joints(live, setup, list(message.name), list(message.position), POSITION)
    elif topic in topics.efforts:
        _set_joints(live, setup, [topics.efforts[topic]], [message.data], EFFORT)
    else:
        vectors = (message.linear, message.angular)
        twist = [getattr(vector, axis) for vector in vectors for axis in "xyz"]
        if not all(map(math.isfinite, twist)):
            raise AccordError(f"{twist} is not a twist")
        live.ask_twist(np.array(twist))


def _set_joints(
    live: LiveInputs, setup: Setup, names: list[str], values: list[float], kind: int
) -> None:
    """Set targets of one kind, by the names of joints."""
    _check(names, values, setup.joints, QUANTITIES[kind])
    for name, value in zip(names, values, strict=True):
        live.ask_joint(setup.joints.index(name), kind, value)


def _check(names: list[str], values: list[float], joints: Sequence[str], field: str) -> None:
    """Check that names and values of a message fit to the joints.

    Raises:
        AccordError: that names the first that does not.
    """
    for name, value in zip(names, values, strict=False):
        check_known("unknown joint ", name, joints)
        if not math.isfinite(value):
            raise AccordError(f"{name}: {value} is not a {field}")
    if len(names) != len(values):
        last = names[min(len(values), len(names) - 1)] if names else "no joint"
        raise AccordError(f"{last}: {len(names)} names have {len(values)} {field} values")
