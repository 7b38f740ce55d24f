"""Messages of a simulator as states: complete ones, in order, or the newest one.

Nodes that record or judge take `Inlet`, which skips no state; nodes that only show one take
`LatestState`, which skips messages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rclpy.node import Node
from rclpy.subscription import Subscription
from roboaccord.cdr import JointStateCodec, OdometryCodec, decode_bool
from roboaccord.contract import NO_SWITCHES, Array, RobotState
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.reading import finite, itself, readable


class Inlet:
    """Pair joint states and odometry of the same stamp, whichever comes first.

    Args:
        joints: joint names, in the order of the arrays.
        based: a state needs the odometry; without, its base is at the origin.
        once: ignore a message of the last state that comes again.

    Attributes:
        repeated: time of a message that was ignored [s].
        latest: time of the joint states that came last [s].
        switches: of the states to come.
    """

    def __init__(self, joints: Sequence[str], *, based: bool = True, once: bool = False) -> None:
        self._based, self._once = based, once
        self._paired = -1.0  # time of the last state [s]
        self.repeated: float | None = None
        self._codec = JointStateCodec(joints)
        self._joint_states = finite(self._codec.decode)
        self._odometry = finite(OdometryCodec().decode)
        # Halves of a state that wait for the other: stamp [s], then position (3,), orientation (4,)
        # and twist (6,), or q, qd and effort (n,).
        self._base: tuple[float, Array, Array, Array] | None = None
        self._joints: tuple[float, Array, Array, Array] | None = None
        self.switches: Mapping[str, bool] = NO_SWITCHES
        self._encoders: tuple[tuple[int, float, float], ...] = ()
        self.latest = -1.0

    def take_odometry(self, data: bytes) -> RobotState | None:
        """Return the state if this message completes it."""
        base = self._odometry(data)
        self._base = base if self._is_new(base[0]) else self._base
        return self._pair() if self._base is base else None

    def take_joint_states(self, data: bytes) -> RobotState | None:
        """Return the state if this message completes it."""
        joints = self._joint_states(data)
        self.latest = joints[0]
        if not self._is_new(joints[0]):
            return None
        self._joints, self._encoders = joints, self._codec.encoders
        return self._pair()

    def _is_new(self, time: float) -> bool:
        """Return whether a message of a time [s] is not of the last state again."""
        is_repeated = self._once and time == self._paired > 0.0
        if is_repeated:
            self.repeated = time
        return not is_repeated

    def _pair(self) -> RobotState | None:
        """Return the state of both halves, if they have one time."""
        base, joints = self._base, self._joints
        if joints and not self._based:
            self._joints = None
            return RobotState(*joints, switches=self.switches, encoders=self._encoders)
        if base is None or joints is None or base[0] != joints[0]:
            return None
        self._base = self._joints = None
        self._paired = joints[0]
        return RobotState(*joints, *base[1:], self.switches, self._encoders)


class LatestState:
    """The newest state, taken without an executor, which would handle a thousand a second.

    Args:
        node: is not spun.
        setup: robot and scenario.
        prefix: of the names of the topics, such as `reference/`.

    Attributes:
        source: subscription to the joint states.
    """

    def __init__(self, node: Node, setup: Setup, prefix: str = "") -> None:
        self._state = setup.initial
        robot, decode = setup.robot.name, finite(JointStateCodec(setup.joints).decode)
        self.source, self._base = (
            watch(node, robot, f"{prefix}{name}") for name in (graph.STATES, graph.ODOMETRY)
        )
        self._joint_states = readable(self.source.topic_name, decode, itself)
        self._odometry = readable(self._base.topic_name, finite(OdometryCodec().decode), itself)
        self._switches = {
            name: watch(node, robot, name + graph.SWITCH) for name in setup.initial.switches
        }

    def take(self) -> RobotState:
        """Return the newest state, the same object if nothing has come.

        Joints and base can be a control period apart.
        """
        base, joints = newest(self._base), newest(self.source)
        messages = {name: newest(subscription) for name, subscription in self._switches.items()}
        changed = {name: decode_bool(data) for name, data in messages.items() if data}
        state = self._state
        if changed:
            state = replace(state, switches={**state.switches, **changed})
        if base and (odometry := self._odometry(base)):
            _, position, orientation, twist = odometry
            state = replace(state, position=position, orientation=orientation, twist=twist)
        if joints and (joint_states := self._joint_states(joints)):
            time, q, qd, effort = joint_states
            state = replace(state, time=time, q=q, qd=qd, effort=effort)
        self._state = state
        return state


def watch(node: Node, robot: str, name: str) -> Subscription:
    """Subscribe to a robot's topic, of which `newest` takes the last message."""
    return graph.subscribe(node, robot, name, print, qos=graph.GLANCE)


def newest(subscription: Subscription) -> bytes | None:
    """Return the last message since the last call, if there is one."""
    return next(iter(deque(taken(subscription), maxlen=1)), None)


def taken(subscription: Subscription) -> Iterator[bytes]:
    """Yield the messages that came since the last call."""
    while message := subscription.handle.take_message(subscription.msg_type, True):
        yield message[0]  # the bytes; then its information
