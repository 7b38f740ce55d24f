"""The ROS graph of a run: names and types of topics, qualities of service, and peers.

Names are relative, so that a namespace holds all of a run, its clock and services too. With
RELIABLE and ALL_SAID nothing is lost; with LIVE and GLANCE messages may be. A run starts once its
peers receive what it publishes (`missing_peers`), and waits for nodes that compile (`sign`,
`preparing`).

A topic is named here, or in bag/topics.py of the core if it is recorded, and listed in docs/ros.md
(test_graph_tables). PATIENCE, RIVAL_LOOKS and DELIVERY may be tuned. Names, types and qualities of
service stay, for nodes of users rely on them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from rclpy.clock import Clock as RclpyClock
from rclpy.clock import ClockType
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from roboaccord.bag import topics as core
from roboaccord.contract import AccordError
from roboaccord.scenario import Robot
from std_msgs.msg import Empty

if TYPE_CHECKING:
    from geometry_msgs.msg import Twist
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64

PATIENCE = 60.0  # for a subscriber that lags behind [s]
RIVAL_LOOKS = 60  # looks, 3 s in all, until another simulator that ends must be gone
DELIVERY = 4.0  # for delivery at the end [s]: Fast DDS asks for a lost message within 3 s

# Nothing is dropped: a subscriber behind by more than the middleware stores makes the publisher
# wait.
RELIABLE = QoSProfile(history=HistoryPolicy.KEEP_ALL)
DEEP = QoSProfile(depth=5000)  # topics that are not recorded, or not waited for
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ALL_SAID = QoSProfile(history=HistoryPolicy.KEEP_ALL, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# Topics of drives, which take publishers of either reliability.
LIVE = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST = QoSProfile(depth=1)  # old messages are replaced
GLANCE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
HAND = QoSProfile(depth=20)  # messages that people send

STATES, ODOMETRY, EFFORTS = core.STATES, core.ODOMETRY, core.EFFORTS
EVENTS, WRENCH, TWIST = core.EVENTS, core.WRENCH, core.TWIST
CONTACTS, FINDINGS, SURROUNDINGS = core.CONTACTS, core.FINDINGS, core.SURROUNDINGS
TARGET_TWIST, TARGET_JOINTS, CMD_VEL = core.TARGET_TWIST, core.TARGET_JOINTS, core.CMD_VEL
DESCRIPTION, SCENARIO = core.DESCRIPTION, core.SCENARIO
RESULT, ERROR, FAULT = "result", "crosscheck/error", "fault"
SWITCH, SWITCH_KIND = "/state", "std_msgs/msg/Bool"  # end of a switch's topic, and its type
CLOCK, DIAGNOSTICS = "clock", core.DIAGNOSTICS
RESET, PAUSE = "sim/reset", "sim/pause"
PREPARING = "_preparing"  # topic of nodes that compile: hidden, and without messages
UNKNOWN = "_NODE_NAME_UNKNOWN_"  # rmw's name of a node whose name has not arrived yet
CONTROLLER = "controller"  # name of the node that answers states
RECORDER = "recorder"  # name of the node for whose first state on disk a run waits
CROSSCHECK = "crosscheck"  # name of the node that must not miss a state

FREE = core.FREE
# Message types of the topics of a robot, by name below /R.
KINDS = core.KINDS | {RESULT: core.KINDS[SCENARIO], ERROR: core.KINDS[STATES]}
ALL_LATCHED = (*core.LATCHED, RESULT)

InputMessage: TypeAlias = "Twist | JointState | Float64"  # sent by people
Take = Callable[[bytes], object]
Content = TypeVar("Content")


def kind_of(name: str) -> str:
    """Return the message type of a topic of a robot, by name below /R."""
    return SWITCH_KIND if name.endswith(SWITCH) else KINDS[name]


def is_latched(name: str) -> bool:
    """Return whether late subscribers get the last message of a topic of a robot."""
    return name in ALL_LATCHED or name.endswith(SWITCH)


def message_class(kind: str) -> type:
    """Import the class of a message type, such as `std_msgs/msg/String`."""
    package, _, name = kind.split("/")
    message: type = getattr(import_module(f"{package}.msg"), name)
    return message


def every(node: Node, period: float, call: Callable[[], None]) -> None:
    """Call a function every `period` seconds of the steady clock.

    Timers of rclpy go by the node's clock, which can jump with the system's or a simulation's.
    """
    node.create_timer(period, call, clock=RclpyClock(clock_type=ClockType.STEADY_TIME))


class Sender(Publisher):  # type: ignore[misc]
    """A publisher of bytes that tries again while a queue is full; made by `make_sender`."""

    context: Context

    def send(self, data: bytes) -> None:
        """Publish a message.

        Raises:
            AccordError: if a subscriber does not take earlier messages.
        """
        try:
            self.handle.publish_raw(data)
        except RuntimeError:  # rclpy's RCLError, behind the middleware's own wait of 0.1 s
            self._insist(data)

    def _insist(self, data: bytes) -> None:
        """Publish a message as soon as the queue has room, within PATIENCE."""
        deadline = time.monotonic() + PATIENCE
        while self.context.ok() and time.monotonic() < deadline:
            with contextlib.suppress(RuntimeError):
                self.handle.publish_raw(data)
                return
        raise AccordError(f"a subscriber of {self.topic_name} lags too far behind")

    def where_heard(self, encode: Callable[[Content], bytes]) -> Callable[[Content], None]:
        """Return a function that encodes and sends if there are subscribers.

        Late subscribers miss nothing by it: topics that are not latched store no message for them.
        """

        def publish(content: Content) -> None:
            if self.handle.get_subscription_count():
                self.send(encode(content))

        return publish


def make_sender(node: Node, topic: str, kind: type, qos: QoSProfile | int) -> Sender:
    """Make the publisher of bytes on a topic."""
    sender: Sender = node.create_publisher(kind, topic, qos, publisher_class=Sender)
    sender.context = node.context
    return sender


def advertise(node: Node, robot: str, name: str) -> Sender:
    """Make the publisher of bytes on a robot's topic."""
    qos = LATCHED if is_latched(name) else RELIABLE
    return make_sender(node, f"{robot}/{name}", message_class(kind_of(name)), qos)


class RivalError(AccordError):
    """Another simulator publishes topics of the same names."""

    def __init__(self, node: Node) -> None:
        super().__init__(
            f"another simulator publishes {node.resolve_topic_name(CLOCK)} in this ROS domain; "
            "set namespace:=NAME, or another ROS_DOMAIN_ID"
        )


def count_clocks(node: Node) -> int:
    """Return the number of publishers of the clock in the namespace of a node."""
    return len(node.get_publishers_info_by_topic(CLOCK))


def look_for_rival(node: Node, looks: int) -> int:
    """Return the number of looks in a row with another simulator, `looks` of them before this one.

    Raises:
        RivalError: if it stays longer than one that is about to end.
    """
    looks = looks + 1 if count_clocks(node) > 1 else 0
    if looks > RIVAL_LOOKS:
        raise RivalError(node)
    return looks


def subscribe(
    node: Node, robot: str, name: str, take: Take, *, qos: QoSProfile = RELIABLE
) -> Subscription:
    """Subscribe to the bytes of a robot's topic."""
    qos = ALL_SAID if is_latched(name) else qos
    kind = message_class(kind_of(name))
    return node.create_subscription(kind, f"{robot}/{name}", take, qos, raw=True)


def subscribe_inputs(node: Node, robot: Robot, take: Callable[[str, InputMessage], None]) -> None:
    """Subscribe to the topics on which people drive a robot.

    Args:
        node: of the subscriptions.
        robot: to be driven.
        take: takes the name of a topic, and a message.
    """
    for name, kind in core.input_topics(robot).items():
        topic, callback = f"{robot.name}/{name}", partial(take, name)
        node.create_subscription(message_class(kind), topic, callback, LIVE)


def advertise_input(node: Node, robot: Robot, name: str) -> Publisher:
    """Make the publisher of a topic on which people drive a robot."""
    kind = message_class(core.input_topics(robot)[name])
    return node.create_publisher(kind, f"{robot.name}/{name}", HAND)


def missing_peers(
    node: Node, publisher: Publisher, peers: Sequence[str], *, somebody: bool = True
) -> list[str]:
    """Return the peers that do not yet receive the messages of a publisher.

    Args:
        node: asks the graph.
        publisher: of the messages.
        peers: names of nodes.
        somebody: at least one subscriber is needed, of any name.
    """
    infos = node.get_subscriptions_info_by_topic(publisher.topic_name)
    if (somebody and not infos) or publisher.get_subscription_count() < len(infos):
        return list(peers) or ["a subscriber"]
    present = {info.node_name for info in infos}
    return [peer for peer in peers if peer not in present]


def sign(node: Node, robot: str) -> Publisher:
    """Return a publisher that makes a run wait for a node that compiles, until it is destroyed."""
    return node.create_publisher(Empty, f"{robot}/{PREPARING}", 1)


def preparing(node: Node, robot: str) -> list[str]:
    """Return the names of the nodes with a `sign`."""
    topic = node.resolve_topic_name(f"{robot}/{PREPARING}")
    return sorted({info.node_name for info in node.get_publishers_info_by_topic(topic)})


def unreached(node: Node, publishers: Iterable[Publisher]) -> str:
    """Return the first topic that a subscriber does not receive yet, or ""."""
    topics = (p.topic_name for p in publishers if missing_peers(node, p, (), somebody=False))
    return next(topics, "")


def deliver(*publishers: Publisher) -> None:
    """Wait until all subscribers have the messages of publishers, at most DELIVERY in all.

    A subscriber that was killed never has them.
    """
    deadline = time.monotonic() + DELIVERY
    for publisher in publishers:
        publisher.wait_for_all_acked(Duration(seconds=max(deadline - time.monotonic(), 0.0)))
