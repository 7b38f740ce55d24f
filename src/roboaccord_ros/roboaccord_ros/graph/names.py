"""Topics of a run's ROS graph: names, message types, qualities of service, senders and peers.

Names are relative, so a namespace prefixes all topics and services of a run, its clock included. A
quality of service (QoS) tells the middleware what to store and whether to repeat lost messages:
with RELIABLE and ALL_SAID no message is lost, with LIVE and GLANCE messages may be.

A run starts only when everybody who must receive its messages is there. `missing_peers` names the
nodes that do not yet receive a publisher's messages; a node that still compiles announces itself
with `sign`, and `preparing` lists such nodes. `look_for_rival` detects another simulator that
publishes under the same names.

A topic that is recorded is named in bag/topics.py of the core, any other topic here; all are listed
in docs/ros.md (test_graph_tables). Names, types and qualities of service stay, for users' nodes
rely on them; PATIENCE, RIVAL_LOOKS and DELIVERY may be tuned.
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

# s; how long `Sender.send` waits for a subscriber that lags behind. Any that a stop in a debugger
# or a full disk outlasts would do: a run then fails, and loses no message in silence.
PATIENCE = 60.0
# Consecutive checks, 3 s in all, that may see another simulator: one that is ending is gone then.
RIVAL_LOOKS = 60
DELIVERY = 4.0  # s; for delivery at the end of a run: Fast DDS asks for lost messages within 3 s

# No message is lost: if a subscriber lags behind by more messages than the middleware stores, the
# publisher waits.
RELIABLE = QoSProfile(history=HistoryPolicy.KEEP_ALL)
# For topics that are not recorded, or that no run waits for: 5 s at 1 kHz, longer than a display is
# late.
DEEP = QoSProfile(depth=5000)
# Late subscribers receive the last message.
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A subscriber receives every message that a latched publisher has stored, and none is lost.
ALL_SAID = QoSProfile(history=HistoryPolicy.KEEP_ALL, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# For subscribers to what people send; best effort also accepts reliable publishers. 20 messages are
# a second of keys or of a joystick at 20 Hz.
LIVE = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST = QoSProfile(depth=1)  # a new message replaces the one before
# The newest message only, and none is repeated: for displays.
GLANCE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
HAND = QoSProfile(depth=20)  # for publishers of what people send by hand, as many as LIVE

STATES, ODOMETRY, EFFORTS = core.STATES, core.ODOMETRY, core.EFFORTS
EVENTS, WRENCH, TWIST = core.EVENTS, core.WRENCH, core.TWIST
CONTACTS, FINDINGS, SURROUNDINGS = core.CONTACTS, core.FINDINGS, core.SURROUNDINGS
TARGET_TWIST, TARGET_JOINTS, CMD_VEL = core.TARGET_TWIST, core.TARGET_JOINTS, core.CMD_VEL
DESCRIPTION, SCENARIO = core.DESCRIPTION, core.SCENARIO
RESULT, ERROR, FAULT = "result", "crosscheck/error", "fault"
# How the topic of a switch (a contact that is on or off) ends, and its message type.
SWITCH, SWITCH_KIND = "/state", "std_msgs/msg/Bool"
CLOCK, DIAGNOSTICS = "clock", core.DIAGNOSTICS
RESET, PAUSE = "sim/reset", "sim/pause"
PREPARING = "_preparing"  # hidden topic without messages; its publishers are nodes that compile
UNKNOWN = "_NODE_NAME_UNKNOWN_"  # rmw's name of a node whose name has not arrived yet
CONTROLLER = "controller"  # node that answers each state with efforts
RECORDER = "recorder"  # node that a run waits for until its first state is on disk
CROSSCHECK = "crosscheck"  # node that compares every state with the reference, so misses none

FREE = core.FREE
# Message types of a robot's topics, by their names without the robot's prefix.
KINDS = core.KINDS | {RESULT: core.KINDS[SCENARIO], ERROR: core.KINDS[STATES]}
ALL_LATCHED = (*core.LATCHED, RESULT)

InputMessage: TypeAlias = "Twist | JointState | Float64"  # messages by which people drive a robot
# A callback with the bytes of a message.
Take = Callable[[bytes], object]
Content = TypeVar("Content")


def kind_of(name: str) -> str:
    """Return the message type of a robot's topic, given its name without the robot's prefix."""
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
        """Publish a message, waiting up to PATIENCE for a subscriber that lags behind.

        Raises:
            AccordError: if the queue to a subscriber is still full then.
        """
        try:
            self.handle.publish_raw(data)
        except RuntimeError:  # rclpy's RCLError, behind the middleware's own wait of 0.1 s
            self._insist(data)

    def _insist(self, data: bytes) -> None:
        """Publish a message as soon as the queue has room; raise AccordError after PATIENCE."""
        deadline = time.monotonic() + PATIENCE
        while self.context.ok() and time.monotonic() < deadline:
            with contextlib.suppress(RuntimeError):
                self.handle.publish_raw(data)
                return
        raise AccordError(f"a subscriber of {self.topic_name} lags too far behind")

    def where_heard(self, encode: Callable[[Content], bytes]) -> Callable[[Content], None]:
        """Return a function that encodes and sends its argument, if there is a subscriber.

        Without subscribers the work of encoding is saved. Nobody misses a message: a topic that is
        not latched would not have stored it for later subscribers either.
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
    """Check for another simulator, and return how many checks in a row have seen one.

    Args:
        node: asks the graph.
        looks: what the check before returned, 0 at first.

    Raises:
        RivalError: if it is seen more than RIVAL_LOOKS times, so it is not about to end.
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
        node: that has the subscriptions.
        robot: the robot that is driven.
        take: called with the name of a topic and a message.
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
        peers: names of the nodes that must receive them.
        somebody: whether at least one subscriber is needed, whatever its name.

    Returns:
        names that are missing; `peers`, or ["a subscriber"], while not every subscriber of the
        graph is connected to the publisher.
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
    """Return the names of the nodes that still compile, by their `sign`."""
    topic = node.resolve_topic_name(f"{robot}/{PREPARING}")
    return sorted({info.node_name for info in node.get_publishers_info_by_topic(topic)})


def unreached(node: Node, publishers: Iterable[Publisher]) -> str:
    """Return the first topic that a subscriber does not receive yet, or ""."""
    topics = (p.topic_name for p in publishers if missing_peers(node, p, (), somebody=False))
    return next(topics, "")


def deliver(*publishers: Publisher) -> None:
    """Wait until all subscribers have received what publishers sent, at most DELIVERY in all.

    The limit is for subscribers that were killed: these never confirm.
    """
    deadline = time.monotonic() + DELIVERY
    for publisher in publishers:
        publisher.wait_for_all_acked(Duration(seconds=max(deadline - time.monotonic(), 0.0)))
