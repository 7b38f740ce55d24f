"""Transport of efforts and step requests to Gazebo: in lockstep or free-running.

In lockstep the world is paused, and each command steps it by one control period; it goes over
Gazebo's own transport, for which Python bindings are needed. Free, the world runs as fast as it
may, efforts go over the bridge, and act when they arrive.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Sequence
from subprocess import Popen
from typing import Any, Protocol

import yaml
from rclpy.node import Node
from roboaccord.cdr import EffortCodec
from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord.contract.state import Array
from roboaccord.description.resources import share
from roboaccord.scenario.setup import Setup
from std_msgs.msg import Empty

from roboaccord_ros.gazebo.bridge import World, set_running
from roboaccord_ros.graph import names as graph

SETTLE = 0.5  # s from connection to first message; one sent at once can be lost
PATIENCE = 10_000  # ms that Gazebo has to take a request
AT_THE_END = 500  # ms that it has to take the last message
# Messages whose file is not named as all others' are.
MODULES = {"StringMsg": "stringmsg", "StringMsg_V": "stringmsg_v"}
QUERY = "/gazebo/worlds"  # a service that every server has, and that changes nothing


class Link(Protocol):
    """Send efforts and step requests to Gazebo."""

    def missing(self) -> str:
        """Return the first missing topic or service, or ""."""

    def force(self, effort: Array) -> None:
        """Put efforts (n,) [N m] in force."""

    def push(self, wrench: Array) -> None:
        """Put a wrench (6,) [N, N m] on `base_link` for the next control period."""

    def switch(self, name: str, on: bool) -> None:
        """Attach or detach; Gazebo confirms it on a topic of its own."""

    def go_on(self) -> None:
        """Let the world go on, after efforts are in force."""

    def deliver(self) -> None:
        """See everything delivered."""


class FreeLink:
    """Send efforts over the bridge, to a world that runs from the first command on."""

    def __init__(self, node: Node, setup: Setup, world: World) -> None:
        self._world, self._codec = world, EffortCodec(setup.joints)
        self._jointed = bool(setup.joints)
        self._publisher, self._send = graph.advertise(node, setup.robot.name, graph.GZ_EFFORTS)
        self._switches = {
            topic: node.create_publisher(Empty, f"{setup.robot.name}/{topic}", graph.DEEP)
            for topic in _switch_topics(setup)
        }
        self._started: Popen[str] | None = None

    def missing(self) -> str:
        efforts = [self._publisher] if self._jointed else []
        for publisher in (*efforts, *self._switches.values()):
            if not publisher.get_subscription_count():
                return f"no bridge has subscribed to {publisher.topic_name}"
        return ""

    def force(self, effort: Array) -> None:
        if self._jointed:
            self._send(self._codec.encode(0.0, effort))

    def push(self, wrench: Array) -> None:
        raise AccordError("a wrench lasts one step of Gazebo: it needs lockstep:=true")

    def switch(self, name: str, on: bool) -> None:
        self._switches[f"gz/{name}/{graph.GZ_SWITCH[on]}"].publish(Empty())

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
        self._wrenches = f"/world/{world.name}/wrench"
        self._base = f"{setup.robot.name}::base_link"
        self._control = f"/world/{world.name}/control"
        self._steps = round(setup.scenario.control_period / world.physics_step)
        self._trajectory, self._joints = message("JointTrajectory"), setup.joints
        self._request, self._answer = message("WorldControl"), message("Boolean")
        self._query, self._worlds = message("Empty")(), message("StringMsg_V")
        self._node = _import("gz.transport13").Node()
        kinds = {graph.GZ_EFFORTS: self._trajectory} if setup.joints else {}
        kinds |= dict.fromkeys(_switch_topics(setup), message("Empty"))
        topics = _gazebo_topics(setup, kinds)
        self._publishers = {n: self._node.advertise(topics[n], kinds[n]) for n in kinds}
        self._topics = topics
        self._connected = 0.0

    def missing(self) -> str:
        for name, publisher in self._publishers.items():
            if not publisher.has_connections():
                return f"nothing in Gazebo listens to {self._topics[name]}"
        self._connected = self._connected or time.monotonic()
        settled = time.monotonic() > self._connected + SETTLE
        return "" if settled else "Gazebo was connected only now"

    def force(self, effort: Array) -> None:
        if not self._joints:
            return
        points = [{"effort": effort.tolist()}]
        efforts = self._trajectory(joint_names=self._joints, points=points)
        self._publishers[graph.GZ_EFFORTS].publish(efforts)

    def push(self, wrench: Array) -> None:
        # A persistent one adds to the last; Gazebo carries out a clear in between only after both.
        if self._steps != 1:
            raise AccordError(
                "a wrench lasts one step of Gazebo: control_period must be the world's step"
            )
        kind = message("EntityWrench")
        if self._wrenches not in self._publishers:
            publisher = self._node.advertise(self._wrenches, kind)
            end = time.monotonic() + PATIENCE / 1000
            while not publisher.has_connections():
                if time.monotonic() > end:
                    raise LockstepError(f"nothing in Gazebo listens to {self._wrenches}")
                time.sleep(0.01)
            time.sleep(SETTLE)
            self._publishers[self._wrenches] = publisher
        force, torque = (dict(zip("xyz", part.tolist())) for part in (wrench[:3], wrench[3:]))
        entity = {"name": self._base, "type": "LINK"}
        self._publishers[self._wrenches].publish(
            kind(entity=entity, wrench={"force": force, "torque": torque})
        )

    def switch(self, name: str, on: bool) -> None:
        self._publishers[f"gz/{name}/{graph.GZ_SWITCH[on]}"].publish(message("Empty")())

    def go_on(self) -> None:
        ask = self._request(pause=True, multi_step=self._steps)
        done, answer = self._node.request(self._control, ask, self._request, self._answer, PATIENCE)
        if not (done and answer.data):
            raise LockstepError(f"Gazebo does not take a step by {self._control}")

    def deliver(self) -> None:
        # Once the server has answered, it has taken what was sent before. One that has ended does
        # not answer, and needs nothing more.
        self._node.request(QUERY, self._query, type(self._query), self._worlds, AT_THE_END)


def _switch_topics(setup: Setup) -> list[str]:
    names, turns = setup.initial.switches, graph.GZ_SWITCH.values()
    return [f"gz/{name}/{turn}" for name in names for turn in turns]


def _gazebo_topics(setup: Setup, names: Iterable[str]) -> dict[str, str]:
    """Return the names in Gazebo of topics of a robot, which its bridge file states."""
    file = share(setup.robot.package) / "config" / "bridge.yaml"
    entries: Sequence[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    bridged = {entry["ros_topic_name"]: str(entry["gz_topic_name"]) for entry in entries}
    return {name: bridged[f"/{setup.robot.name}/{name}"] for name in names}


def message(kind: str) -> Any:
    """Return the class of a message of Gazebo, `JointTrajectory` say."""
    module = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
    module = MODULES.get(kind, module)
    return getattr(_import(f"gz.msgs10.{module}_pb2"), kind)


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise AccordError(
            "lockstep with Gazebo needs the Python bindings of gz-transport 13 "
            "(ros-jazzy-gz-transport-vendor from 0.0.9 on); or let it run free: lockstep:=false"
        ) from None
