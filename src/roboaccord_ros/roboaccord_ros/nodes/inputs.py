"""The input node: what people send becomes the targets of the controller, in its process."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import numpy as np
from rclpy.node import Node
from roboaccord.bag.targets import encode_target
from roboaccord.contract.errors import did_you_mean
from roboaccord.contract.interfaces import Inputs
from roboaccord.contract.state import Target
from roboaccord.run.inputs import EFFORT, POSITION, VELOCITY, Announced, LiveInputs
from roboaccord.scenario.setup import Setup
from sensor_msgs.msg import JointState

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.shell import Run

_log = logging.getLogger(__name__)


class PublishedInputs(Announced):
    """Publish each target as it comes into force, before the efforts of its tick.

    Args:
        node: where the publishers live.
        setup: robot and scenario.
        inputs: whose targets they are.
    """

    def __init__(self, node: Node, setup: Setup, inputs: Inputs) -> None:
        super().__init__(inputs, self._publish)
        self._node, self._joints = node, setup.joints
        names = (graph.TARGET_TWIST, graph.TARGET_JOINTS)
        made = {name: graph.advertise(node, setup.robot.name, name) for name in names}
        self.publishers = [publisher for publisher, _ in made.values()]
        self._send = {name: send for name, (_, send) in made.items()}

    def missing(self) -> str:
        """Return the first topic that a subscriber does not receive yet, or ""."""
        for publisher in self.publishers:
            if graph.missing_peers(self._node, publisher, (), somebody=False):
                return str(publisher.topic_name)
        return ""

    def _publish(self, time: float, target: Target, before: Target | None) -> None:
        for name, data in encode_target(time, target, before, self._joints).items():
            self._send[name](data)


def subscribed_inputs(node: Node, setup: Setup, run: Run) -> PublishedInputs:
    """Return inputs that collect what people send to a node, and publish the targets from it.

    A message with an unknown joint, or with a number that is not finite, is ignored as a whole.
    """
    robot, joints = setup.robot, setup.joints
    live, said = LiveInputs(joints), set[str]()
    kinds = {
        robot.velocity_topic: ("velocity", VELOCITY),
        robot.position_topic: ("position", POSITION),
    }

    def ask_joints(message: JointState, word: str, kind: int) -> str:
        values = list(getattr(message, word))
        wrong = _wrong(list(message.name), values, joints, word)
        for name, value in () if wrong else zip(message.name, values, strict=True):
            live.ask_joint(joints.index(name), kind, value)
        return wrong

    def ask(topic: str, message: graph.Asked) -> str:
        if topic in kinds:
            return ask_joints(message, *kinds[topic])
        if topic in robot.effort_topics:
            joint = robot.effort_topics[topic]
            wrong = _wrong([joint], [message.data], joints, "effort")
            if not wrong:
                live.ask_joint(joints.index(joint), EFFORT, message.data)
            return wrong
        twist = [
            getattr(part, axis) for part in (message.linear, message.angular) for axis in "xyz"
        ]
        if not all(map(math.isfinite, twist)):
            return f"{twist} is no twist"
        live.ask_twist(np.array(twist))
        return ""

    def take(topic: str, message: graph.Asked) -> None:
        wrong = ask(topic, message)
        if wrong and wrong not in said:  # it may come ten times a second
            _log.warning("a message on %s is ignored: %s", topic, wrong)
            said.add(wrong)

    graph.subscribe_inputs(node, robot, run.guard(take))
    return PublishedInputs(node, setup, live)


def _wrong(names: list[str], values: list[float], joints: Sequence[str], word: str) -> str:
    """Return the error of a message, or ""."""
    for name, value in zip(names, values, strict=False):
        if name not in joints:
            return f"unknown joint {name}{did_you_mean(name, joints)}"
        if not math.isfinite(value):
            return f"{name}: {value} is no {word}"
    if len(names) != len(values):
        last = names[min(len(values), len(names) - 1)] if names else "no joint"
        return f"{last}: {len(names)} names have {len(values)} {word} values"
    return ""
