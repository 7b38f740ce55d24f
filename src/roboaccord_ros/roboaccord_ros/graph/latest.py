"""The newest state of a robot, for who looks at it now and then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rclpy.node import Node
from roboaccord.cdr import JointStateCodec, OdometryCodec, decode_bool
from roboaccord.contract.state import RobotState
from roboaccord.scenario.setup import Setup

from roboaccord_ros.graph import names as graph


class LatestState:
    """Take the newest state without an executor, which would handle a thousand a second.

    Args:
        node: that is not spun.
        setup: robot and scenario.

    Attributes:
        source: subscription to the joint states.
    """

    def __init__(self, node: Node, setup: Setup) -> None:
        self._state = setup.initial
        self._joint_states, self._odometry = JointStateCodec(setup.joints), OdometryCodec()
        robot = setup.robot.name
        self.source, self._base = (watch(node, robot, n) for n in (graph.STATES, graph.ODOMETRY))
        self._switches = {
            name: graph.subscribe_switch(node, robot, name, print)
            for name in setup.initial.switches
        }

    def take(self) -> RobotState:
        """Return the newest state, the same object where nothing came.

        Joints and base can be a control period apart.
        """
        base, joints = newest(self._base), newest(self.source)
        told = {name: newest(subscription) for name, subscription in self._switches.items()}
        changed = {name: decode_bool(data) for name, data in told.items() if data}
        state = self._state
        if changed:
            state = replace(state, switches={**state.switches, **changed})
        if base:
            _, position, orientation, twist = self._odometry.decode(base)
            state = replace(state, position=position, orientation=orientation, twist=twist)
        if joints:
            now, q, qd, effort = self._joint_states.decode(joints)
            state = replace(state, time=now, q=q, qd=qd, effort=effort)
        self._state = state
        return state


def watch(node: Node, robot: str, name: str) -> Any:
    """Subscribe to a robot's topic, of which `newest` takes the last message."""
    return graph.subscribe(node, robot, name, print, qos=graph.GLANCE)


def newest(subscription: Any) -> bytes | None:
    """Return the last message that came since the last call, if any did."""
    data = None
    while found := subscription.handle.take_message(subscription.msg_type, True):
        data = found[0]
    return data
