"""Topics that the recorder writes, and the time of each message.

STAMPED are the topics of simulator and controller, whose messages carry the time of a state;
`other_topics` lists those of people, of the cross-check and of the second robot, which shows the
reference. /clock is not recorded, for each message has its time, and /tf is made by frames.py.

Another topic is added to `other_topics`, or to OTHERS if the simulator or the controller publishes
it, and its type to bag/topics.py of the core. STAMP and FIRST_STAMP are layouts of CDR, the
encoding of ROS messages.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from rclpy.qos import QoSProfile
from roboaccord import bag as bags
from roboaccord.contract import NANOSECONDS, AccordError
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph

STAMP = struct.Struct("<4xiI")  # stamp of a message with a header: seconds, nanoseconds
FIRST_STAMP = struct.Struct("<8xiI")  # stamp of the first message in an array
TARGETS = (graph.TARGET_TWIST, graph.TARGET_JOINTS)
COMMANDS = (graph.WRENCH, graph.TWIST, graph.FINDINGS, graph.EFFORTS)
OTHERS = (graph.EVENTS, graph.CONTACTS, *TARGETS, *COMMANDS)
# The states come last: a run starts when somebody listens to them.
STAMPED = (*OTHERS, graph.BODIES, graph.ODOMETRY, graph.STATES)


class OtherTopic(NamedTuple):
    """A topic that is recorded if somebody publishes it.

    Args:
        name: name relative to the node's namespace, which the bag leaves out.
        kind: type of its messages.
        stamped: whether messages carry the time of a state; if not, the last state's is used.
        qos: quality of service of the subscription.
    """

    name: str
    kind: str
    stamped: bool = False
    qos: QoSProfile = graph.HAND


def stamped_topics(setup: Setup) -> list[str]:
    """Return the topics of simulator and controller of a run: without that of bodies, if none."""
    return [name for name in STAMPED if setup.bodies or name != graph.BODIES]


def topics_to_add(setup: Setup) -> list[bags.Topic]:
    """Return the topics of a bag on which there may be no message."""
    robot = setup.robot.name
    switches = [bags.switch_topic(robot, name) for name in setup.initial.switches]
    bodies = [bags.topics.topic_of(robot, graph.BODIES)] if setup.bodies else []
    result = bags.Topic(f"/{robot}/{graph.RESULT}", graph.KINDS[graph.RESULT], True)
    return [result, *bags.optional_topics(robot), *switches, *bodies]


def other_topics(setup: Setup) -> list[OtherTopic]:
    """Return the topics that neither the simulator nor the controller publishes."""
    robot = setup.robot
    inputs, kinds = bags.input_topics(robot).items(), graph.KINDS
    second = f"{robot.name}/{bags.REFERENCE}"  # prefix of the topics of the second robot
    motions = [graph.BODIES, graph.ODOMETRY] if setup.bodies else [graph.ODOMETRY]
    return [
        *(OtherTopic(f"{robot.name}/{name}", kind, qos=graph.LIVE) for name, kind in inputs),
        OtherTopic(f"{robot.name}/{graph.ERROR}", kinds[graph.ERROR], True, graph.DEEP),
        OtherTopic(graph.DIAGNOSTICS, kinds[graph.EVENTS]),
        OtherTopic(f"{second}/{graph.DESCRIPTION}", kinds[graph.DESCRIPTION], qos=graph.LATCHED),
        *(OtherTopic(f"{second}/{name}", kinds[name], True, graph.DEEP) for name in motions),
        OtherTopic(f"{second}/{graph.STATES}", kinds[graph.STATES], True, graph.DEEP),
    ]


def time_of(name: str, data: bytes) -> int:
    """Return the stamp of a message on a topic [ns]; of an array, that of its first message.

    Raises:
        AccordError: if it is before 0, which no bag can hold.
    """
    sec, nanosec = (FIRST_STAMP if name == graph.CONTACTS else STAMP).unpack_from(data)
    if sec < 0:
        raise AccordError(f"its time is {sec} s")
    return int(sec) * NANOSECONDS + int(nanosec)
