"""What comes from a simulator: complete states, the newest one, and messages that are lost.

Nothing here is to be tuned. `LatestState` and `newest` skip messages, and are for nodes that only
show; nodes that record or judge take `Inlet`, which skips none. IN_STEP is the order in which
outlet.py publishes a state: change both. test_disorder holds what a `Ledger` counts.
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
        based: whether a state needs the odometry; without, its base is at the origin.
        once: whether a half of the last state that comes again is left out.

    Attributes:
        repeated: time of a half that was left out [s].
    """

    def __init__(self, joints: Sequence[str], *, based: bool = True, once: bool = False) -> None:
        self._based, self._once = based, once
        self._paired = -1.0  # time of the last state [s]
        self.repeated: float | None = None
        self._codec = JointStateCodec(joints)
        self._joint_states = finite(self._codec.decode)
        self._odometry = finite(OdometryCodec().decode)
        self._base: tuple[float, Array, Array, Array] | None = None
        self._joints: tuple[float, Array, Array, Array] | None = None
        self.switches: Mapping[str, bool] = NO_SWITCHES
        self._encoders: tuple[tuple[int, float, float], ...] = ()
        self.latest = -1.0
        """Time of the joint states that came last [s]."""

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
        if again := self._once and time == self._paired > 0.0:
            self.repeated = time
        return not again

    def _pair(self) -> RobotState | None:
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
    """Take the newest state without an executor, which would handle a thousand a second.

    Args:
        node: that is not spun.
        setup: robot and scenario.
        part: of the names of the topics, such as `reference/`.

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
        """Return the newest state, the same object where nothing came.

        Joints and base can be a control period apart.
        """
        base, joints = newest(self._base), newest(self.source)
        messages = {name: newest(subscription) for name, subscription in self._switches.items()}
        changed = {name: decode_bool(data) for name, data in messages.items() if data}
        state = self._state
        if changed:
            state = replace(state, switches={**state.switches, **changed})
        if base and (found := self._odometry(base)):
            _, position, orientation, twist = found
            state = replace(state, position=position, orientation=orientation, twist=twist)
        if joints and (found := self._joint_states(joints)):
            now, q, qd, effort = found
            state = replace(state, time=now, q=q, qd=qd, effort=effort)
        self._state = state
        return state


def watch(node: Node, robot: str, name: str) -> Subscription:
    """Subscribe to a robot's topic, of which `newest` takes the last message."""
    return graph.subscribe(node, robot, name, print, qos=graph.GLANCE)


def newest(subscription: Subscription) -> bytes | None:
    """Return the last message that came since the last call, if any did."""
    return next(iter(deque(taken(subscription), maxlen=1)), None)


def taken(subscription: Subscription) -> Iterator[bytes]:
    """Yield the messages that came since the last call."""
    while found := subscription.handle.take_message(subscription.msg_type, True):
        yield found[0]


IN_STEP = (graph.ODOMETRY, graph.EFFORTS, graph.STATES)


class Ledger:
    """Keep the last stamp of each topic [ns], and count what is wrong with them.

    Args:
        period: control period [ns].

    Attributes:
        lost: messages that were not there, in gaps of the stamps.
        repeated: messages with the stamp of the one before.
        disordered: messages with an earlier stamp, which is not that of a reset.
    """

    def __init__(self, period: int) -> None:
        self._period = period
        self._stamps = dict.fromkeys(IN_STEP, -period)
        self.lost = self.repeated = self.disordered = 0

    @property
    def now(self) -> int:
        """The time of the last joint states."""
        return max(self._stamps[graph.STATES], 0)

    def note(self, name: str, stamp: int) -> bool:
        """Take the stamp of a message, and return whether it is the next one.

        A jump back to the start is a reset, and no loss.
        """
        last = self._stamps[name]
        if stamp == last:
            self.repeated += 1
            return False
        if self._period < stamp < last:
            self.disordered += 1
            return False
        self._stamps[name] = stamp
        if stamp > last + self._period:
            self.lost += (stamp - last) // self._period - 1
        return True

    def summary(self) -> str:
        """Return what went wrong in words; "" where nothing did."""
        counts = {"lost": self.lost, "came twice": self.repeated, "out of order": self.disordered}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)

    def complete(self, end: int) -> bool:
        """Return whether both halves of the state at `end` came."""
        return min(self._stamps[graph.ODOMETRY], self._stamps[graph.STATES]) >= end
