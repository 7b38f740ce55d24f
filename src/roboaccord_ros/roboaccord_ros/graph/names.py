"""Topics of a run's ROS graph: names, message types, qualities of service; how to use them.

Names are relative, so a namespace prefixes all topics and services of a run, its clock included. A
quality of service (QoS) tells the middleware what to store and whether to repeat lost messages:
with RELIABLE and ALL_KEPT no message is lost, with LIVE and GLANCE messages may be. `advertise`
makes the publisher of a robot's topic by its name, and `subscribe` the subscription.

A topic that is recorded is named in bag/topics.py of the core, any other topic here; all are listed
in docs/ros.md (test_graph_tables). Names, types and qualities of service stay, for users' nodes
rely on them; PATIENCE may be tuned.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

from rclpy.clock import Clock as RclpyClock
from rclpy.clock import ClockType
from rclpy.context import Context
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from roboaccord.bag import topics as core
from roboaccord.contract import AccordError
from roboaccord.scenario import Robot

# Topics of a robot, by their names without its prefix `/R/`. Most are those of a bag (`core`), and
# have a name here, too, so that nodes need this module alone.
# At each control period: joint states, motion of the base, efforts; then events.
STATES, ODOMETRY, EFFORTS, EVENTS = core.STATES, core.ODOMETRY, core.EFFORTS, core.EVENTS
# Where there are free bodies: motion of each, a message for each.
BODIES = core.BODIES
# Some robots: wrench and twist of the base, points of contact, faults that a controller detects.
WRENCH, TWIST = core.WRENCH, core.TWIST
CONTACTS, FINDINGS = core.CONTACTS, core.FINDINGS
# What people send, and the targets in force; faults that people let joints have.
CMD_VEL, TARGET_TWIST, TARGET_JOINTS = core.CMD_VEL, core.TARGET_TWIST, core.TARGET_JOINTS
FAULT = "fault"
# Once in a run: URDF, scenario with facts of the run, bodies around the robot; at last the result.
DESCRIPTION, SCENARIO, SURROUNDINGS = core.DESCRIPTION, core.SCENARIO, core.SURROUNDINGS
RESULT = "result"
ERROR = "crosscheck/error"  # errors of the live cross-check, as joint states
# How the topic of a switch (a contact that is on or off) ends, and its message type.
SWITCH, SWITCH_KIND = "/state", "std_msgs/msg/Bool"
# Message types of a robot's topics, by their names without the robot's prefix.
KINDS = core.TYPES | {RESULT: core.TYPES[SCENARIO], ERROR: core.TYPES[STATES]}
ALL_LATCHED = (*core.LATCHED, RESULT)  # topics whose late subscribers receive the last message
FREE = core.FREE  # ending of the name of a transport without lockstep

# Topics and services of a run, not of a robot.
CLOCK, DIAGNOSTICS = "clock", core.DIAGNOSTICS
RESET, PAUSE = "sim/reset", "sim/pause"
PREPARING = "_preparing"  # hidden topic without messages; its publishers are nodes that compile

# Nodes.
CONTROLLER = "controller"  # node that answers each state with efforts
RECORDER = "recorder"  # node that a run waits for until its first state is on disk
CROSSCHECK = "crosscheck"  # node that compares every state with the reference, so misses none
UNNAMED_NODE = "_NODE_NAME_UNKNOWN_"  # rmw's name of a node whose name has not arrived yet

# Qualities of service.
# No message is lost: if a subscriber lags behind by more messages than the middleware stores, the
# publisher waits.
RELIABLE = QoSProfile(history=HistoryPolicy.KEEP_ALL)
# For topics that are not recorded, or that no run waits for: 5 s at 1 kHz, longer than a display is
# late.
DEEP = QoSProfile(depth=5000)
# Late subscribers receive the last message.
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A subscriber receives every message that a latched publisher has stored, and none is lost.
ALL_KEPT = QoSProfile(history=HistoryPolicy.KEEP_ALL, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# For subscribers to what people send; best effort also accepts reliable publishers. 20 messages are
# a second of keys or of a joystick at 20 Hz.
LIVE = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
HAND = QoSProfile(depth=20)  # for publishers of what people send by hand, as many as LIVE
NEWEST = QoSProfile(depth=1)  # a new message replaces the one before
# The newest message only, and none is repeated: for displays.
GLANCE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# s: longest wait of `Sender.send` for a subscriber that lags behind, as while it is stopped in a
# debugger or the disk is full. After that the run fails, and loses no message in silence.
PATIENCE = 60.0

InputMessage: TypeAlias = Any  # a Twist, JointState or Float64, by which people drive a robot
OnBytes = Callable[[bytes], object]  # a callback with the bytes of a message
Content = TypeVar("Content")  # what a message is made of, such as a state


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


def every(node: Node, period: float, callback: Callable[[], None]) -> None:
    """Call a function every `period` seconds of the steady clock.

    Timers of rclpy go by the node's clock, which can jump with the system's or a simulation's.
    """
    node.create_timer(period, callback, clock=RclpyClock(clock_type=ClockType.STEADY_TIME))


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
            self._retry(data)

    def _retry(self, data: bytes) -> None:
        """Publish a message as soon as the queue has room; raise AccordError after PATIENCE."""
        deadline = time.monotonic() + PATIENCE
        while self.context.ok() and time.monotonic() < deadline:
            with contextlib.suppress(RuntimeError):
                self.handle.publish_raw(data)
                return
        raise AccordError(f"a subscriber of {self.topic_name} lags too far behind")

    def if_subscribed(self, encode: Callable[[Content], bytes]) -> Callable[[Content], None]:
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


def subscribe(
    node: Node, robot: str, name: str, callback: OnBytes, *, qos: QoSProfile = RELIABLE
) -> Subscription:
    """Subscribe to the bytes of a robot's topic."""
    qos = ALL_KEPT if is_latched(name) else qos
    kind = message_class(kind_of(name))
    return node.create_subscription(kind, f"{robot}/{name}", callback, qos, raw=True)


def advertise_input(node: Node, robot: Robot, name: str) -> Publisher:
    """Make the publisher of a topic on which people drive a robot."""
    kind = message_class(core.input_topics(robot)[name])
    return node.create_publisher(kind, f"{robot.name}/{name}", HAND)
