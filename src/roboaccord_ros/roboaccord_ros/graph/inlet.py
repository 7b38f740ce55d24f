"""Assembles states of the robot from a simulator's messages.

A state comes as messages with the same stamp (its time): joint states, odometry, the motion of the
base, and one for each free body, plus a message for each switch that changes. Nodes that record or
judge use `Inlet`, which skips no state; nodes that only show the robot use `LatestState`, which
takes the newest messages. Messages are bytes, decoded by codecs of the core (roboaccord.cdr).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from roboaccord.cdr import JointStateCodec, OdometryCodec, decode_bool, read_body
from roboaccord.contract import NO_SWITCHES, Array, RobotState
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.reading import finite_only, itself, readable


class Inlet:
    """Pairs joint states, odometry and bodies of the same stamp, in any order.

    Args:
        joints: joint names, in the order of the arrays.
        bodies: names of the free bodies, likewise.
        ignores_repeated: whether a repeated message of the last state is ignored.

    Attributes:
        repeated: time of a message that was ignored [s], or None.
        switches: values of the switches for the states to come.
    """

    def __init__(
        self, joints: Sequence[str], bodies: Sequence[str] = (), *, ignores_repeated: bool = False
    ) -> None:
        self._ignores_repeated = ignores_repeated
        self._last_time = -1.0  # of the last state that was returned [s]
        self.repeated: float | None = None
        self._codec = JointStateCodec(joints)
        self._decode_joint_states = finite_only(self._codec.decode)
        self._decode_odometry = finite_only(OdometryCodec().decode)
        self._bodies = dict.fromkeys(bodies, (-1.0, np.empty(0)))  # stamp [s] and motion (13,)
        # Halves of a state that wait for the other: stamp [s], then position (3,), orientation (4,)
        # and twist (6,) of the base, or q, qd and effort (n,) of the joints.
        self._base: tuple[float, Array, Array, Array] | None = None
        self._joints: tuple[float, Array, Array, Array] | None = None
        self.switches: Mapping[str, bool] = NO_SWITCHES
        # What failed encoders report in the last joint states (`RobotState.encoders`).
        self._encoders: tuple[tuple[int, float, float], ...] = ()

    def take_odometry(self, data: bytes) -> RobotState | None:
        """Return the state if this message completes it."""
        base = self._decode_odometry(data)
        if not self._is_new(base[0]):
            return None
        self._base = base
        return self._pop_pair()

    def take_joint_states(self, data: bytes) -> RobotState | None:
        """Return the state if this message completes it."""
        joints = self._decode_joint_states(data)
        if not self._is_new(joints[0]):
            return None
        self._joints, self._encoders = joints, self._codec.encoders
        return self._pop_pair()

    def take_body(self, data: bytes) -> RobotState | None:
        """Return the state if this message completes it; a body that is not known is ignored."""
        time, motion, name = read_body(data)
        if name not in self._bodies or not self._is_new(time):
            return None
        self._bodies[name] = time, motion
        return self._pop_pair()

    def _is_new(self, time: float) -> bool:
        """Return whether a message of a time [s] is new, not a repetition of the last state."""
        is_repeated = self._ignores_repeated and time == self._last_time > 0.0
        if is_repeated:
            self.repeated = time
        return not is_repeated

    def _pop_pair(self) -> RobotState | None:
        """Return the state if all parts are there and have the same time, else None."""
        base, joints = self._base, self._joints
        if base is None or joints is None or base[0] != joints[0]:
            return None
        if any(time != joints[0] for time, _ in self._bodies.values()):
            return None
        self._base = self._joints = None
        self._last_time = joints[0]
        bodies = np.array([motion for _, motion in self._bodies.values()])
        # Both halves are in the order of RobotState: time and joints, then the base without time.
        state = RobotState(*joints, *base[1:], self.switches, self._encoders)
        return replace(state, bodies=bodies) if self._bodies else state


class LatestState:
    """The newest state; messages are taken on demand, not by callbacks, up to 1000 per second.

    Args:
        node: node of the subscriptions, which no executor spins.
        setup: robot and scenario.
        prefix: prefix of the topics' names, such as `reference/`.

    Attributes:
        source: subscription to the joint states.
    """

    def __init__(self, node: Node, setup: Setup, prefix: str = "") -> None:
        self._state = setup.initial
        robot, decode = setup.robot.name, finite_only(JointStateCodec(setup.joints).decode)
        self.source = watch(node, robot, f"{prefix}{graph.STATES}")
        self._base = watch(node, robot, f"{prefix}{graph.ODOMETRY}")
        self._decode_joint_states = readable(self.source.topic_name, decode, itself)
        decode_odometry = finite_only(OdometryCodec().decode)
        self._decode_odometry = readable(self._base.topic_name, decode_odometry, itself)
        self._switches = {n: watch(node, robot, n + graph.SWITCH) for n in setup.initial.switches}
        self._body_names = setup.body_names
        self._decode_body = readable(graph.BODIES, read_body, itself)
        topics = [f"{prefix}{graph.BODIES}"] if setup.bodies else []
        self._bodies = [watch(node, robot, topic, graph.LIVE) for topic in topics]

    def take(self) -> RobotState:
        """Return the newest state; the same object as before if no message has come.

        Joints and base are each the newest, so they can be a control period apart.
        """
        base, joints = newest(self._base), newest(self.source)
        messages = {name: newest(subscription) for name, subscription in self._switches.items()}
        changed = {name: decode_bool(data) for name, data in messages.items() if data}
        state = self._state
        if changed:
            state = replace(state, switches={**state.switches, **changed})
        odometry = self._decode_odometry(base) if base else None
        if odometry:
            _, position, orientation, twist = odometry
            state = replace(state, position=position, orientation=orientation, twist=twist)
        for data in chain.from_iterable(map(taken, self._bodies)):
            body = self._decode_body(data)  # time, motion and name
            if body and body[2] in self._body_names:
                bodies = state.bodies.copy()
                bodies[self._body_names.index(body[2])] = body[1]
                state = replace(state, bodies=bodies)
        joint_states = self._decode_joint_states(joints) if joints else None
        if joint_states:
            time, q, qd, effort = joint_states
            state = replace(state, time=time, q=q, qd=qd, effort=effort)
        self._state = state
        return state


def watch(node: Node, robot: str, name: str, qos: QoSProfile = graph.GLANCE) -> Subscription:
    """Subscribe to a robot's topic, whose messages `newest` takes; the callback is never called."""
    return graph.subscribe(node, robot, name, itself, qos=qos)


def newest(subscription: Subscription) -> bytes | None:
    """Return the last message since the last call, if there is one."""
    messages = [*taken(subscription)]
    return messages[-1] if messages else None


def taken(subscription: Subscription) -> Iterator[bytes]:
    """Yield the bytes of the messages that have come since the last call."""
    while message := subscription.handle.take_message(subscription.msg_type, True):
        yield message[0]  # the bytes; then its information
