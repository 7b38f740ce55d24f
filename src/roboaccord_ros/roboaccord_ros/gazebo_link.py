"""How efforts and the command to go on reach Gazebo: in lockstep, or with the world running free.

In lockstep the world is paused, and each command steps it by one control period; it goes over
Gazebo's own transport, for which Python bindings are needed. Free, the world runs as fast as it
may, efforts go over the bridge, and act when they arrive.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from subprocess import Popen
from typing import Any, Protocol

import yaml
from rclpy.node import Node
from roboaccord.assembly import Setup
from roboaccord.cdr import EffortCodec
from roboaccord.errors import AccordError, LockstepError
from roboaccord.resources import share
from roboaccord.state import Array

from roboaccord_ros import graph
from roboaccord_ros.gazebo import World, set_running

SETTLE = 0.5  # s from connection to first message; one sent at once can be lost
PATIENCE = 10_000  # ms that Gazebo has to take a request


class Link(Protocol):
    """Send efforts to Gazebo, and let it go on."""

    def missing(self) -> str:
        """Return what is not there yet, or ""."""

    def force(self, effort: Array) -> None:
        """Put efforts (n,) [N m] in force."""

    def go_on(self) -> None:
        """Let the world go on, after efforts are in force."""

    def deliver(self) -> None:
        """See everything delivered."""


class FreeLink:
    """Send efforts over the bridge, to a world that runs from the first command on."""

    def __init__(self, node: Node, setup: Setup, world: World) -> None:
        self._world, self._codec = world, EffortCodec(setup.joints)
        self._publisher, self._send = graph.advertise(node, setup.robot.name, graph.GZ_EFFORTS)
        self._started: Popen[str] | None = None

    def missing(self) -> str:
        if self._publisher.get_subscription_count():
            return ""
        return f"no bridge has subscribed to {self._publisher.topic_name}"

    def force(self, effort: Array) -> None:
        self._send(self._codec.encode(0.0, effort))

    def go_on(self) -> None:
        if self._started is None:
            self._started = set_running(self._world)

    def deliver(self) -> None:
        graph.deliver(self._publisher)


class LockstepLink:
    """Send efforts over Gazebo's transport, and step the paused world by control periods.

    Raises:
        AccordError: without the Python bindings of gz-transport 13.
    """

    def __init__(self, setup: Setup, world: World) -> None:
        self._control = f"/world/{world.name}/control"
        self._steps = round(setup.scenario.control_period / world.physics_step)
        self._trajectory, self._joints = message("JointTrajectory"), setup.joints
        self._request, self._answer = message("WorldControl"), message("Boolean")
        self._node = _import("gz.transport13").Node()
        self._topic = _gazebo_topic(setup)
        self._publisher = self._node.advertise(self._topic, self._trajectory)
        self._connected = 0.0

    def missing(self) -> str:
        if not self._publisher.has_connections():
            return f"nothing in Gazebo listens to {self._topic}"
        self._connected = self._connected or time.monotonic()
        settled = time.monotonic() > self._connected + SETTLE
        return "" if settled else f"{self._topic} was connected only now"

    def force(self, effort: Array) -> None:
        points = [{"effort": effort.tolist()}]
        self._publisher.publish(self._trajectory(joint_names=self._joints, points=points))

    def go_on(self) -> None:
        ask = self._request(pause=True, multi_step=self._steps)
        done, answer = self._node.request(self._control, ask, self._request, self._answer, PATIENCE)
        if not (done and answer.data):
            raise LockstepError(f"Gazebo does not take a step by {self._control}")

    def deliver(self) -> None:
        time.sleep(0.1)  # no acknowledgement is known


def _gazebo_topic(setup: Setup) -> str:
    """Return the name in Gazebo of the topic of efforts, which the robot's bridge file states."""
    file = share(setup.robot.package) / "config" / "bridge.yaml"
    entries: Sequence[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    wanted = f"/{setup.robot.name}/{graph.GZ_EFFORTS}"
    return next(str(e["gz_topic_name"]) for e in entries if e["ros_topic_name"] == wanted)


def message(kind: str) -> Any:
    """Return the class of a message of Gazebo, `JointTrajectory` say."""
    module = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
    return getattr(_import(f"gz.msgs10.{module}_pb2"), kind)


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise AccordError(
            "lockstep with Gazebo needs the Python bindings of gz-transport 13 "
            "(ros-jazzy-gz-transport-vendor from 0.0.9 on); or let it run free: lockstep:=false"
        ) from None
