"""Teleoperation over ROS: it sends targets to the topics of a running robot, switches to services.

`RosLink` has the methods that cli/teleop.py of the core calls. When a joint or the base is to stop,
a zero is sent once and then nothing, so that others can drive, too (test_switches).

Keys are changed in config/teleop/keyboard.yaml, topics in bag/topics.py of the core. setup.cfg
names `connect`. PATIENCE may be tuned.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from geometry_msgs.msg import Twist, Vector3
from rclpy.context import Context
from rclpy.node import Node
from roboaccord.contract import AccordError, Fault, RobotState, Target
from roboaccord.scenario import Setup
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.inlet import LatestState, taken, watch
from roboaccord_ros.graph.peers import missing_peers
from roboaccord_ros.graph.reading import itself, read_facts, readable
from roboaccord_ros.graph.spinning import POLL, session

# s of wall time: longest wait for a robot; discovery takes 1 s (plan/__main__.py), and a robot that
# has just been started loads for seconds.
PATIENCE = 10.0
_log = logging.getLogger(__name__)


@contextmanager
def connect(setup: Setup, namespace: str = "") -> Iterator[RosLink]:
    """Connect to a robot in the user's ROS domain, in a namespace or none.

    Raises:
        AccordError: if none is there.
    """
    context = Context()
    with session(context) as nodes:
        node = Node("teleop", context=context, namespace=namespace, use_global_arguments=False)
        nodes.append(node)
        link = RosLink(node, setup)
        link.wait()
        yield link


class RosLink:
    """Sends the operator's commands, and follows the state.

    Args:
        node: node of the publishers, which no executor spins.
        setup: robot and scenario.
    """

    def __init__(self, node: Node, setup: Setup) -> None:
        robot, switches = setup.robot, setup.initial.switches
        self._node, self._name = node, robot.package
        self._joints, self._efforts = setup.joints, robot.input_topics.efforts
        self._velocities = robot.input_topics.velocity
        of_joints = [*self._efforts, *([self._velocities] if self._velocities else [])]
        topics = of_joints or [graph.CMD_VEL]
        self._publishers = {name: graph.advertise_input(node, robot, name) for name in topics}
        self._faults = node.create_publisher(String, f"{robot.name}/{graph.FAULT}", graph.HAND)
        # Joints whose last target was not 0; "" stands for the base.
        self._moving: set[str] = set()
        self._latest_state = LatestState(node, setup)
        self._scenario = watch(node, robot.name, graph.SCENARIO)  # whose messages are the facts
        self._last_facts: dict[str, Any] = {}  # of the run; empty until they have come
        self._clients = {n: node.create_client(SetBool, f"{robot.name}/{n}/set") for n in switches}

    def wait(self) -> None:
        """Wait for a robot that receives all messages from now on.

        Raises:
            AccordError: if there is none within PATIENCE.
        """
        deadline = time.monotonic() + PATIENCE
        while missing := self._missing():
            if time.monotonic() > deadline:
                start = f"start the robot first, by ros2 launch {self._name} teleop.launch.py"
                raise AccordError(f"{missing} in this ROS domain: {start}")
            time.sleep(POLL)

    def _missing(self) -> str:
        """Return in words what is not connected yet, or ""."""
        states = self._latest_state.source
        if not states.get_publisher_count():
            return f"no node publishes {states.topic_name}"
        if self._scenario.get_publisher_count() and not self._facts():
            return f"no message comes on {self._scenario.topic_name}"
        recorder = [graph.RECORDER] if self._facts().get("recorded") else []
        for publisher in self._publishers.values():
            subscribers = self._node.get_subscriptions_info_by_topic(publisher.topic_name)
            # A recorder subscribes, too, but drives nothing.
            if all(subscriber.node_name == graph.RECORDER for subscriber in subscribers):
                return f"no node subscribes to {publisher.topic_name}"
            if missing_peers(self._node, publisher, recorder):
                return f"not every node receives {publisher.topic_name}"
        for client in self._clients.values():
            if not client.service_is_ready():
                return f"no node offers {client.service_name}"
        return ""

    def drive(self, target: Target | None, switches: dict[str, bool], seconds: float) -> RobotState:
        """Send a target and switches, wait for some time, and return the newest state."""
        if target is not None:
            self._send(target)
        for name, value in switches.items():
            if self._clients[name].service_is_ready():
                self._clients[name].call_async(SetBool.Request(data=value))
            else:
                _log.warning("no robot offers %s", self._clients[name].service_name)
        time.sleep(seconds)
        return self._latest_state.take()

    def engine(self) -> str:
        """Return the simulator that the robot announces, "" while that is unknown."""
        return str(self._facts().get("engine", ""))

    def _facts(self) -> dict[str, Any]:
        """Return the last facts that the simulator announced, {} before the first."""
        read = readable(self._scenario.topic_name, read_facts, itself)
        for message in taken(self._scenario):
            self._last_facts = read(message) or self._last_facts
        return self._last_facts

    def fail(self, fault: Fault) -> None:
        """Let a joint fail."""
        self._faults.publish(String(data=str(fault)))

    def _send(self, target: Target) -> None:
        """Send the twist, efforts and rates of a target that are due."""
        if graph.CMD_VEL in self._publishers and self._is_due("", bool(target.twist.any())):
            vx, vy, vz, wx, wy, wz = target.twist.tolist()
            linear, angular = Vector3(x=vx, y=vy, z=vz), Vector3(x=wx, y=wy, z=wz)
            self._publishers[graph.CMD_VEL].publish(Twist(linear=linear, angular=angular))
        values = () if target.effort is None else target.effort.tolist()
        efforts = dict(zip(self._joints, values))
        for topic, joint in self._efforts.items():
            value = efforts.get(joint, 0.0)
            if self._is_due(joint, bool(value)):
                self._publishers[topic].publish(Float64(data=value))
        if target.velocity is not None:
            rates = dict(zip(self._joints, target.velocity.tolist(), strict=True))
            due = {name: rate for name, rate in rates.items() if self._is_due(name, bool(rate))}
            if due:
                message = JointState(name=list(due), velocity=list(due.values()))
                self._publishers[self._velocities].publish(message)

    def _is_due(self, name: str, moving: bool) -> bool:
        """Return whether to send a target: while it is not 0, and once when it becomes 0."""
        is_due = moving or name in self._moving
        self._moving.discard(name)
        if moving:
            self._moving.add(name)
        return is_due
