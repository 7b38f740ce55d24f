"""The ROS graph of a run: publishers, subscriptions, qualities of service, peers.

To add a topic, name it here, or in bag/topics.py of the core if it is recorded, and list it in
docs/ros.md (test_graph_tables). PATIENCE, RIVAL_LOOKS and DELIVERY may be tuned. Names, types and
profiles of quality stay, for nodes of users rely on them: with RELIABLE and ALL_SAID nothing is
lost, with LIVE and GLANCE messages may be.

Names are relative, so that a namespace holds everything of a run, its clock and services too.
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

PATIENCE = 60.0  # s that a publisher waits for a subscriber that lags behind
RIVAL_LOOKS = 60  # of 0.05 s that another simulator may take to be gone
DELIVERY = 4.0  # s; a message lost on the wire is asked for again within Fast DDS's 3 s

# Nothing is dropped: who lags behind by more than the middleware holds makes the publisher wait.
RELIABLE = QoSProfile(history=HistoryPolicy.KEEP_ALL)
DEEP = QoSProfile(depth=5000)  # of what is not recorded
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ALL_SAID = QoSProfile(history=HistoryPolicy.KEEP_ALL, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LIVE = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST = QoSProfile(depth=1)
GLANCE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
HAND = QoSProfile(depth=20)

STATES, ODOMETRY, EFFORTS = core.STATES, core.ODOMETRY, core.EFFORTS
EVENTS, WRENCH, TWIST = core.EVENTS, core.WRENCH, core.TWIST
CONTACTS, FINDINGS, SURROUNDINGS = core.CONTACTS, core.FINDINGS, core.SURROUNDINGS
TARGET_TWIST, TARGET_JOINTS, CMD_VEL = core.TARGET_TWIST, core.TARGET_JOINTS, core.CMD_VEL
DESCRIPTION, SCENARIO = core.DESCRIPTION, core.SCENARIO
RESULT, ERROR, FAULT = "result", "crosscheck/error", "fault"
SWITCH, SWITCH_KIND = "/state", "std_msgs/msg/Bool"  # of the topic of a switch: its end, its type
CLOCK, DIAGNOSTICS = "clock", core.DIAGNOSTICS
RESET, PAUSE = "sim/reset", "sim/pause"
PREPARING = "_preparing"  # of a robot: hidden, and without messages
UNKNOWN = "_NODE_NAME_UNKNOWN_"  # to the middleware, which has yet to hear of it
CONTROLLER = "controller"  # name of the node that answers
RECORDER = "recorder"  # name of the node whose first state on disk a run waits for
CROSSCHECK = "crosscheck"  # and of the one that must not miss a state

FREE = core.FREE
KINDS = core.KINDS | {RESULT: core.KINDS[SCENARIO], ERROR: core.KINDS[STATES]}
"""Message types of the topics of a robot, by name below /R."""
ALL_LATCHED = (*core.LATCHED, RESULT)

Asked: TypeAlias = "Twist | JointState | Float64"  # what people send
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
    found: type = getattr(import_module(f"{package}.msg"), name)
    return found


def every(node: Node, period: float, call: Callable[[], None]) -> None:
    """Call again and again, every so many seconds of a clock that never jumps.

    Timers of rclpy go by the node's clock, which is set with the system's, or by a simulation.
    """
    node.create_timer(period, call, clock=RclpyClock(clock_type=ClockType.STEADY_TIME))


class Sender(Publisher):  # type: ignore[misc]
    """Publish bytes, and try again where a queue is full; made by `make_sender`."""

    context: Context

    def send(self, data: bytes) -> None:
        """Publish a message.

        Raises:
            AccordError: if a subscriber does not take what was sent before.
        """
        try:
            self.handle.publish_raw(data)
        except RuntimeError:  # rclpy's RCLError, behind the middleware's own wait of 0.1 s
            self._insist(data)

    def _insist(self, data: bytes) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.context.ok() and time.monotonic() < deadline:
            with contextlib.suppress(RuntimeError):
                self.handle.publish_raw(data)
                return
        raise AccordError(f"a subscriber of {self.topic_name} lags too far behind")

    def where_heard(self, encode: Callable[[Content], bytes]) -> Callable[[Content], None]:
        """Return a function that encodes and sends where anybody has subscribed.

        Nobody misses a message, for topics that are not latched keep none for who comes later.
        """

        def publish(content: Content) -> None:
            if self.handle.get_subscription_count():
                self.send(encode(content))

        return publish


def make_sender(node: Node, topic: str, kind: type, qos: QoSProfile | int) -> Sender:
    """Make what publishes bytes on a topic."""
    sender: Sender = node.create_publisher(kind, topic, qos, publisher_class=Sender)
    sender.context = node.context
    return sender


def advertise(node: Node, robot: str, name: str) -> Sender:
    """Make what publishes bytes on a robot's topic."""
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
    """Return how many publish the clock in the namespace of a node."""
    return len(node.get_publishers_info_by_topic(CLOCK))


def look_for_rival(node: Node, looks: int) -> int:
    """Return at how many looks in a row there was another simulator; `looks` were there before.

    Raises:
        RivalError: if it stays; one that is about to end may take a moment to go.
    """
    looks = looks + 1 if count_clocks(node) > 1 else 0
    if looks > RIVAL_LOOKS:
        raise RivalError(node)
    return looks


def subscribe(
    node: Node, robot: str, name: str, take: Take, *, qos: QoSProfile = RELIABLE
) -> Subscription:
    """Subscribe to the bytes of a robot's topic.

    With `LIVE` messages are lost rather than waited for; with `NEWEST` old ones are left out; with
    `GLANCE` both.
    """
    qos = ALL_SAID if is_latched(name) else qos
    kind = message_class(kind_of(name))
    return node.create_subscription(kind, f"{robot}/{name}", take, qos, raw=True)


def subscribe_inputs(node: Node, robot: Robot, take: Callable[[str, Asked], None]) -> None:
    """Subscribe to the topics on which people drive a robot.

    Best effort takes messages from publishers of either kind.

    Args:
        node: that hosts the subscriptions.
        robot: is driven.
        take: is given the name of a topic, and the message.
    """
    for name, kind in core.input_topics(robot).items():
        topic, taken = f"{robot.name}/{name}", partial(take, name)
        node.create_subscription(message_class(kind), topic, taken, LIVE)


def advertise_input(node: Node, robot: Robot, name: str) -> Publisher:
    """Make the publisher of a topic on which people drive a robot."""
    kind = message_class(core.input_topics(robot)[name])
    return node.create_publisher(kind, f"{robot.name}/{name}", HAND)


def missing_peers(
    node: Node, publisher: Publisher, peers: Sequence[str], *, somebody: bool = True
) -> list[str]:
    """Return which of the named nodes do not yet receive what a publisher sends.

    `somebody` asks for at least one subscriber, whatever its name.
    """
    infos = node.get_subscriptions_info_by_topic(publisher.topic_name)
    if (somebody and not infos) or publisher.get_subscription_count() < len(infos):
        return list(peers) or ["a subscriber"]
    present = {info.node_name for info in infos}
    return [peer for peer in peers if peer not in present]


def sign(node: Node, robot: str) -> Publisher:
    """Let a run wait for a node that compiles, without limit, until this is destroyed."""
    return node.create_publisher(Empty, f"{robot}/{PREPARING}", 1)


def preparing(node: Node, robot: str) -> list[str]:
    """Return which nodes show `sign`."""
    topic = node.resolve_topic_name(f"{robot}/{PREPARING}")
    return sorted({info.node_name for info in node.get_publishers_info_by_topic(topic)})


def unreached(node: Node, publishers: Iterable[Publisher]) -> str:
    """Return the first topic that a subscriber does not receive yet, or ""."""
    topics = (p.topic_name for p in publishers if missing_peers(node, p, (), somebody=False))
    return next(topics, "")


def deliver(*publishers: Publisher) -> None:
    """Wait until every subscriber has what the publishers sent, for `DELIVERY` in all.

    One that was killed never has it.
    """
    deadline = time.monotonic() + DELIVERY
    for publisher in publishers:
        publisher.wait_for_all_acked(Duration(seconds=max(deadline - time.monotonic(), 0.0)))
