"""Topics of a bag: their names and message types, and which of them are latched.

Constants below name the topics of a robot R, without `/R/` in front; ROS nodes use the same names
(roboaccord_ros, graph/names.py). A latched topic keeps its last message for late subscribers.

A new topic is a name, its type in NAMES_BY_TYPE, and a place in one of the tuples INITIAL_TOPICS,
TICK_TOPICS, OPTIONAL_TOPICS and SECOND. The last has the topics of the reference, the analytical
simulator, which may run beside an engine and is shown as a second robot. Existing names are in
users' bags and stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.scenario.setup import Robot

# Start of the library's name in the header of our own files, which have all checksums.
LIBRARY = "roboaccord"

# At each control tick: joint states, motion of the base, and commanded efforts; then events.
STATES, ODOMETRY, EFFORTS = "joint_states", "odom", "joint_trajectory"
EVENTS = "events"
# Where there are any: motion of the free bodies beside the robot, a message for each at a tick.
BODIES = "bodies"
# Optional: commanded wrench or twist of the base, contact points, faults that the controller
# detected, and targets that people asked for.
WRENCH, TWIST, CONTACTS, FINDINGS = "wrench", "twist", "contacts", "findings"
TARGET_TWIST, TARGET_JOINTS = "target/twist", "target/joints"
# Once: URDF, scenario with versions, and what stands around the robot.
DESCRIPTION, SCENARIO, SURROUNDINGS = "robot_description", "scenario", "surroundings"
# Of the second robot, which shows the reference's motion; also the prefix of its frames.
REFERENCE = "reference"
REFERENCE_STATES = f"{REFERENCE}/{STATES}"
REFERENCE_ODOMETRY = f"{REFERENCE}/{ODOMETRY}"
REFERENCE_BODIES = f"{REFERENCE}/{BODIES}"
REFERENCE_DESCRIPTION = f"{REFERENCE}/{DESCRIPTION}"
# Further topics of ROS: transforms of frames, diagnostics, velocities that people ask for.
TF, TF_STATIC, DIAGNOSTICS, CMD_VEL = "/tf", "/tf_static", "diagnostics", "cmd_vel"

LOST_EVENTS = "lost_events"  # key of the metadata: number of events that could not be recorded
# Suffix to the name of a transport in a bag: the simulator did not wait for commands.
FREE = " (free)"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a bag.

    Args:
        name: full name, which begins with the robot's.
        kind: type of its messages.
        latched: whether late subscribers get its last message.
    """

    name: str
    kind: str
    latched: bool = False


INITIAL_TOPICS = (DESCRIPTION, SCENARIO, SURROUNDINGS)  # one message, before the first state
LATCHED = (*INITIAL_TOPICS, REFERENCE_DESCRIPTION)
TICK_TOPICS = (STATES, ODOMETRY, EFFORTS, EVENTS)  # in every bag, a message at each tick or event
SECOND = (REFERENCE_DESCRIPTION, REFERENCE_ODOMETRY, REFERENCE_STATES)
OPTIONAL_TOPICS = (WRENCH, TWIST, CONTACTS, FINDINGS, TARGET_TWIST, TARGET_JOINTS)
# Topics by message type; then the message type by name of the topic.
NAMES_BY_TYPE = {
    "std_msgs/msg/String": (DESCRIPTION, SCENARIO, REFERENCE_DESCRIPTION),
    "sensor_msgs/msg/JointState": (STATES, TARGET_JOINTS, REFERENCE_STATES),
    "nav_msgs/msg/Odometry": (ODOMETRY, BODIES, REFERENCE_ODOMETRY, REFERENCE_BODIES),
    "trajectory_msgs/msg/JointTrajectory": (EFFORTS,),
    "diagnostic_msgs/msg/DiagnosticArray": (EVENTS, FINDINGS),
    "geometry_msgs/msg/WrenchStamped": (WRENCH,),
    "geometry_msgs/msg/TwistStamped": (TWIST, TARGET_TWIST),
    "visualization_msgs/msg/MarkerArray": (SURROUNDINGS, CONTACTS),
}
TYPES = {name: kind for kind, names in NAMES_BY_TYPE.items() for name in names}


def run_topics(robot: str) -> list[Topic]:
    """Return the topics that are in every bag of a robot."""
    frames = "tf2_msgs/msg/TFMessage"
    transforms = [Topic(TF_STATIC, frames, latched=True), Topic(TF, frames)]
    initial = [topic_of(robot, name) for name in INITIAL_TOPICS]
    return [*initial, *transforms, *(topic_of(robot, name) for name in TICK_TOPICS)]


def optional_topics(robot: str) -> list[Topic]:
    """Return the topics that are in a bag if the robot uses them."""
    return [topic_of(robot, name) for name in OPTIONAL_TOPICS]


def reference_topics(robot: str) -> list[Topic]:
    """Return the topics that are in a bag if the reference ran as a second robot."""
    return [topic_of(robot, name) for name in SECOND]


def topic_of(robot: str, name: str) -> Topic:
    """Return a topic of a robot by its name below /R."""
    return Topic(f"/{robot}/{name}", TYPES[name], name in LATCHED)


def input_topics(robot: Robot) -> dict[str, str]:
    """Return the message types of the topics on which people drive a robot, by name below /R."""
    topics = robot.input_topics
    joints = filter(None, (topics.velocity, topics.position))
    return {
        CMD_VEL: "geometry_msgs/msg/Twist",
        **dict.fromkeys(topics.efforts, "std_msgs/msg/Float64"),
        **dict.fromkeys(joints, "sensor_msgs/msg/JointState"),
    }


def switch_topic(robot: str, switch: str) -> Topic:
    """Return the topic of the state of a switch."""
    return Topic(f"/{robot}/{switch}/state", "std_msgs/msg/Bool", True)
