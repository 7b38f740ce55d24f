"""Topics that the recorder writes, and the time of each message.

To record another topic, add it to `topics_beside`, or to OTHERS if the simulator or the controller
sends it, and its type to bag/topics.py of the core. STAMP and FIRST_STAMP are layouts of CDR.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from rclpy.qos import QoSProfile
from roboaccord import bag as bags
from roboaccord.contract import NANOSECONDS, AccordError
from roboaccord.scenario import Robot

from roboaccord_ros.graph import names as graph

STAMP = struct.Struct("<4xiI")
# /clock is left out, as every message carries its time; /tf is made here, with or without tf2.
# The states come last: a run starts when somebody listens to them.
TARGETS = (graph.TARGET_TWIST, graph.TARGET_JOINTS)
ASKED = (graph.WRENCH, graph.TWIST, graph.FINDINGS, graph.EFFORTS)
OTHERS = (graph.EVENTS, graph.CONTACTS, *TARGETS, *ASKED)
STAMPED = (*OTHERS, graph.ODOMETRY, graph.STATES)
FIRST_STAMP = struct.Struct("<8xiI")  # of an array of messages that have stamps


class Beside(NamedTuple):
    """Name a topic that is recorded where it is published, and where its time comes from.

    Args:
        name: below the namespace of the node, which the bag leaves out.
        kind: type of its messages.
        stamped: whether their stamp is the time of a state; else the last state's time counts.
        qos: of the subscription.
    """

    name: str
    kind: str
    stamped: bool = False
    qos: QoSProfile = graph.HAND


def topics_beside(robot: Robot) -> list[Beside]:
    """Return the topics recorded beside those of the simulator and the controller."""
    inputs, second = bags.input_topics(robot).items(), f"{robot.name}/{bags.REFERENCE}"
    return [
        *(Beside(f"{robot.name}/{name}", kind, qos=graph.LIVE) for name, kind in inputs),
        Beside(f"{robot.name}/{graph.ERROR}", graph.KINDS[graph.ERROR], True, graph.DEEP),
        Beside(graph.DIAGNOSTICS, graph.KINDS[graph.EVENTS]),
        Beside(f"{second}/{graph.DESCRIPTION}", graph.KINDS[graph.DESCRIPTION], qos=graph.LATCHED),
        Beside(f"{second}/{graph.ODOMETRY}", graph.KINDS[graph.ODOMETRY], True, graph.DEEP),
        Beside(f"{second}/{graph.STATES}", graph.KINDS[graph.STATES], True, graph.DEEP),
    ]


def time_of(data: bytes, layout: struct.Struct = STAMP) -> int:
    """Return the stamp of a message [ns].

    Raises:
        AccordError: if it is before 0, which no bag can hold.
    """
    sec, nanosec = layout.unpack_from(data)
    if sec < 0:
        raise AccordError(f"its time is {sec} s")
    return int(sec) * NANOSECONDS + int(nanosec)
