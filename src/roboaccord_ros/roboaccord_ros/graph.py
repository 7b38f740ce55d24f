"""The ROS graph of a run: topics, qualities of service, and whether the peers are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

HISTORY = 5000  # messages that a subscriber may lag behind before one is lost
DELIVERY = 5.0  # s; a message lost on the wire is asked for again within Fast DDS's 3 s

RELIABLE = QoSProfile(depth=HISTORY)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LIVE = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST = QoSProfile(depth=1)
HAND = QoSProfile(depth=20)

STATES, ODOMETRY, EFFORTS = "joint_states", "odom", "joint_trajectory"
EVENTS, TARGET, WRENCH, TWIST = "events", "cmd_vel", "wrench", "twist"
CONTACTS = "contacts"
DESCRIPTION, SCENARIO, RESULT = "robot_description", "scenario", "result"
ERROR = "crosscheck/error"
GZ_STATES, GZ_ODOMETRY, GZ_EFFORTS = "gz/joint_states", "gz/odom", "gz/joint_trajectory"
GZ_SWITCH = {True: "attach", False: "detach"}  # topics of a switch in Gazebo

TYPES: dict[str, Any] = {
    STATES: JointState,
    ODOMETRY: Odometry,
    EFFORTS: JointTrajectory,
    EVENTS: DiagnosticArray,
    TARGET: Twist,
    CONTACTS: MarkerArray,
    WRENCH: WrenchStamped,
    TWIST: TwistStamped,
    DESCRIPTION: String,
    SCENARIO: String,
    RESULT: String,
    ERROR: JointState,
    GZ_STATES: JointState,
    GZ_ODOMETRY: Odometry,
    GZ_EFFORTS: JointTrajectory,
}
ALL_LATCHED = (DESCRIPTION, SCENARIO, RESULT)

Send = Callable[[bytes], None]
Take = Callable[[bytes], None]


def advertise(node: Node, robot: str, name: str) -> tuple[Publisher, Send]:
    """Make a publisher of a robot's topic; return it, and the quick way to publish bytes."""
    qos = LATCHED if name in ALL_LATCHED else RELIABLE
    publisher = node.create_publisher(TYPES[name], f"/{robot}/{name}", qos)
    return publisher, publisher.handle.publish_raw


def advertise_clock(node: Node) -> Send:
    """Make the publisher of `/clock`."""
    publisher = node.create_publisher(Clock, "/clock", RELIABLE)
    send: Send = publisher.handle.publish_raw
    return send


def subscribe(node: Node, robot: str, name: str, take: Take, *, qos: QoSProfile = RELIABLE) -> Any:
    """Subscribe to the bytes of a robot's topic.

    With `LIVE` messages are lost rather than waited for; with `NEWEST` old ones are left out.
    """
    qos = LATCHED if name in ALL_LATCHED else qos
    return node.create_subscription(TYPES[name], f"/{robot}/{name}", take, qos, raw=True)


def advertise_switch(node: Node, robot: str, switch: str) -> tuple[Publisher, Send]:
    """Make the publisher of the state of a switch; return it, and how to publish bytes."""
    publisher = node.create_publisher(Bool, f"/{robot}/{switch}/state", LATCHED)
    return publisher, publisher.handle.publish_raw


def subscribe_switch(node: Node, robot: str, switch: str, take: Take) -> None:
    """Subscribe to the bytes of the state of a switch."""
    node.create_subscription(Bool, f"/{robot}/{switch}/state", take, LATCHED, raw=True)


def subscribe_number(node: Node, robot: str, name: str, take: Callable[[Float64], None]) -> None:
    """Subscribe to a number that a person sends."""
    node.create_subscription(Float64, f"/{robot}/{name}", take, NEWEST)


def subscribe_joints(node: Node, robot: str, name: str, take: Callable[[JointState], None]) -> None:
    """Subscribe to what people send for joints; several of them can, each for some."""
    node.create_subscription(JointState, f"/{robot}/{name}", take, HAND)


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


def deliver(*publishers: Publisher) -> None:
    """Wait until every subscriber has what the publishers sent, but not for ever."""
    for publisher in publishers:
        publisher.wait_for_all_acked(Duration(seconds=DELIVERY))
