"""Codecs of the ROS messages that are sent at every control tick: states, odometry, efforts.

Within a run only the time stamp and the numbers of such a message change, not the names in it. Each
codec therefore makes its message once, as a template, and overwrites stamp and numbers. Decoding
first compares the other bytes with the template (`wire.FixedBytes`), which is fast; a message of
another layout, for instance with joints in another order, is read item by item. A codec has one
buffer: use one codec per thread.

Layouts are those of ROS (test_cdr). TRUE is in bags and stays. The purpose of this module is speed:
measure it with `make speed` after a change.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from roboaccord.cdr import wire
from roboaccord.contract import BODY_TWIST, AccordError, Array, RobotState

# The numbers of a nav_msgs/Odometry: position (3), orientation (4), their covariance (6 x 6), twist
# (6) and its covariance (6 x 6).
_COVARIANCE_COUNT = 36
_ODOMETRY_COUNT = 7 + _COVARIANCE_COUNT + 6 + _COVARIANCE_COUNT
_POSITION, _ORIENTATION, _POSE = slice(0, 3), slice(3, 7), slice(0, 7)
_TWIST = slice(7 + _COVARIANCE_COUNT, 7 + _COVARIANCE_COUNT + 6)
TRUE = "/true"  # suffix to the name of a joint whose encoder has failed, for its true values


def read_joint_state(data: bytes) -> tuple[float, list[str], Array, Array, Array]:
    """Return time [s], names, positions, velocities and efforts of any JointState, unchanged."""
    reader = wire.CdrReader(data, "JointState")
    time, names = reader.header(), reader.strings()
    return time, names, reader.sequence(), reader.sequence(), reader.sequence()


class JointStateCodec:
    """Converts between states and sensor_msgs/msg/JointState.

    A joint whose encoder has failed is sent twice: with the encoder's values under its name, and
    with its true values under its name with the suffix `TRUE`.

    Args:
        joints: joint names, n of them, in the order of the arrays.
        frame_id: frame in the header.

    Attributes:
        encoders: failed encoders of the last decoded message, as in `RobotState`.
    """

    def __init__(self, joints: Sequence[str], frame_id: str = "") -> None:
        self.joints = tuple(joints)
        count = len(self.joints)
        # The template, with the offsets of positions, velocities and efforts.
        writer = wire.CdrWriter(frame_id=frame_id)
        writer.strings(self.joints)
        starts = []
        for _ in range(3):
            writer.count(count)
            starts.append(writer.doubles(count))
        self._buffer = writer.data
        # Views of the numbers in the buffer (n,).
        self._q, self._qd, self._effort = (wire.doubles_in(self._buffer, s, count) for s in starts)
        self._start = starts[0]
        self._fixed = wire.FixedBytes(writer, self._start)
        # Reads the stamp and the counts of velocities and efforts, each at the end of the numbers
        # before; the count of positions is among the fixed bytes.
        ends = [start + 8 * count for start in starts[:2]]
        gap = ends[1] - ends[0] - 4
        self._stamp_and_counts = struct.Struct(f"<4xiI{ends[0] - wire.FRAME_AT}xI{gap}xI")
        self._stride = (starts[1] - starts[0]) // 8  # from a position to its velocity [numbers]
        self._frame_id = frame_id
        # Codec of a sender with other names or another order, and for each joint the index there
        # of its true values and of those that its encoder measured (n,).
        self._sender_codec: JointStateCodec | None = None
        self._order, self._measured = np.zeros((2, count), np.intp)
        # Codec with more names, for states with failed encoders.
        self._extended_codec: JointStateCodec | None = None
        self.encoders: tuple[tuple[int, float, float], ...] = ()

    def encode(self, state: RobotState) -> bytes:
        """Return a state as message bytes."""
        if state.encoders:
            return self._encode_extended(state)
        wire.stamp_into(self._buffer, state.time)
        self._q[:] = state.q
        self._qd[:] = state.qd
        self._effort[:] = state.effort
        return bytes(self._buffer)

    def _encode_extended(self, state: RobotState) -> bytes:
        """Return a state with failed encoders as message bytes, by a codec with more names."""
        failed = [joint for joint, *_ in state.encoders]
        names = (*self.joints, *(self.joints[joint] + TRUE for joint in failed))
        if self._extended_codec is None or self._extended_codec.joints != names:
            self._extended_codec = JointStateCodec(names, self._frame_id)
        measured = state.measured
        q = np.concatenate([measured.q, state.q[failed]])
        qd = np.concatenate([measured.qd, state.qd[failed]])
        effort = np.concatenate([state.effort, state.effort[failed]])
        return self._extended_codec.encode(RobotState(state.time, q, qd, effort))

    def decode(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return time [s], q, qd and effort (n,) of a message, whose joints may be in any order.

        The values are the true ones where an encoder has failed; see `encoders`.

        Raises:
            AccordError: naming a joint that is missing or has no value.
        """
        self.encoders = ()
        values = self._decode_by_template(data)
        if values is None and self._sender_codec is not None:
            values = self._sender_codec._decode_by_template(data)
            if values is not None:
                return self._from_sender(*values)
        return values or self._decode_by_item(data)

    def _from_sender(
        self, time: float, q: Array, qd: Array, effort: Array
    ) -> tuple[float, Array, Array, Array]:
        """Return values of a sender with another order in our order, and set `encoders`."""
        measured, order = self._measured, self._order
        self.encoders = tuple(
            (j, float(q[measured[j]]), float(qd[measured[j]]))
            for j in np.flatnonzero(measured != order).tolist()
        )
        return time, q[order], qd[order], effort[order]

    def _decode_by_template(self, data: bytes) -> tuple[float, Array, Array, Array] | None:
        """Return the content of a message with the layout of the template; None for any other."""
        if not self._fixed.are_in(data):
            return None
        n, stride = len(self.joints), self._stride
        sec, nanosec, velocities, efforts = self._stamp_and_counts.unpack_from(data)
        if velocities != n or efforts != n:
            return None
        numbers = np.frombuffer(data, wire.DOUBLE, n + 2 * stride, self._start)
        return (  # copies, which a state makes read-only
            wire.unstamp(sec, nanosec),
            numbers[:n].copy(),
            numbers[stride : stride + n].copy(),
            numbers[2 * stride :].copy(),
        )

    def _decode_by_item(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return the content of a message of another layout, and keep a codec for its sender."""
        time, names, q, qd, effort = read_joint_state(data)
        measured = wire.indices_of(self.joints, names, "JointState")
        true_names = [name + TRUE if name + TRUE in names else name for name in self.joints]
        order = wire.indices_of(true_names, names, "JointState")
        for values, field in ((q, "position"), (qd, "velocity"), (effort, "effort")):
            wire.check_length(values, names, field, "JointState")
        self._measured = np.array(measured, np.intp)
        self._order = np.array(order, np.intp)
        self._sender_codec = JointStateCodec(names)  # further messages will have this layout
        return self._from_sender(time, q, qd, effort)


class OdometryCodec:
    """Converts between the base of a state and nav_msgs/msg/Odometry; covariances are zero.

    Args:
        frame_id: frame of the pose.
        child_frame_id: frame of the base and of the twist.
    """

    def __init__(self, frame_id: str = "odom", child_frame_id: str = "base_link") -> None:
        writer = wire.CdrWriter(frame_id=frame_id)
        writer.string(child_frame_id)
        self._start = writer.doubles(_ODOMETRY_COUNT)
        self._buffer = writer.data
        self._fixed = wire.FixedBytes(writer, self._start)
        self._numbers = wire.doubles_in(self._buffer, self._start, _ODOMETRY_COUNT)

    def encode(self, state: RobotState) -> bytes:
        """Return pose and twist of a state as message bytes."""
        wire.stamp_into(self._buffer, state.time)
        self._numbers[_POSITION] = state.position
        self._numbers[_ORIENTATION] = state.orientation
        self._numbers[_TWIST] = state.twist
        return bytes(self._buffer)

    def encode_body(self, time: float, motion: Array) -> bytes:
        """Return the motion of a body (13,), a row of `RobotState.bodies`, as message bytes."""
        wire.stamp_into(self._buffer, time)
        self._numbers[_POSE] = motion[_POSE]
        self._numbers[_TWIST] = motion[BODY_TWIST]
        return bytes(self._buffer)

    def decode(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return time [s], position (3,), orientation x y z w (4,) and twist (6,) of a message.

        Raises:
            AccordError: if the message is cut off.
        """
        if self._fixed.are_in(data):
            time = wire.unstamp(*wire.STAMP.unpack_from(data, wire.STAMP_AT))
            numbers = np.frombuffer(data, wire.DOUBLE, _ODOMETRY_COUNT, self._start)
        else:
            reader = wire.CdrReader(data, "Odometry")
            time = reader.header()
            reader.string()  # child frame
            numbers = reader.doubles(_ODOMETRY_COUNT)
        position, orientation = numbers[_POSITION].copy(), numbers[_ORIENTATION].copy()
        return time, position, orientation, numbers[_TWIST].copy()


class BodiesCodec:
    """Converts the free bodies beside a robot to nav_msgs/msg/Odometry, a message for each.

    Args:
        names: of the bodies, in the order of `RobotState.bodies`.
        prefix: put in front of the names of their frames, which are those of the bodies.
    """

    def __init__(self, names: Sequence[str], prefix: str = "") -> None:
        self._codecs = [OdometryCodec(child_frame_id=prefix + name) for name in names]

    def encode(self, state: RobotState) -> list[bytes]:
        """Return the bytes of a message for each body of a state."""
        pairs = zip(self._codecs, state.bodies, strict=True)
        return [codec.encode_body(state.time, motion) for codec, motion in pairs]


def read_body(data: bytes) -> tuple[float, Array, str]:
    """Return time [s], motion (13,) and name of the free body in an Odometry message.

    The name is that of the frame, without a prefix as of the second robot.

    Raises:
        AccordError: if the message is cut off, or a number is not finite.
    """
    reader = wire.CdrReader(data, "Odometry")
    time, frame, numbers = reader.header(), reader.string(), reader.doubles(_ODOMETRY_COUNT)
    motion, name = np.concatenate([numbers[_POSE], numbers[_TWIST]]), frame.rpartition("/")[2]
    if not np.isfinite(motion).all():
        raise AccordError(f"pose or twist of {name} is not finite at t = {time:g} s")
    return time, motion, name


class EffortCodec:
    """Converts between efforts and trajectory_msgs/msg/JointTrajectory with one point.

    Args:
        joints: joint names, n of them, in the order of the arrays.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self.joints = tuple(joints)
        writer = wire.CdrWriter()
        writer.strings(self.joints)
        writer.count(1)
        for _ in ("positions", "velocities", "accelerations"):
            writer.count(0)
        writer.count(len(self.joints))
        self._start = writer.doubles(len(self.joints))
        writer.data += wire.STAMP.pack(0, 0)  # time_from_start
        self._buffer = writer.data
        self._fixed = wire.FixedBytes(writer, self._start)
        self._effort = wire.doubles_in(self._buffer, self._start, len(self.joints))

    def encode(self, time: float, effort: Array) -> bytes:
        """Return efforts (n,) [N m] that answer the state at `time` [s] as message bytes."""
        wire.stamp_into(self._buffer, time)
        self._effort[:] = effort
        return bytes(self._buffer)

    def decode(self, data: bytes) -> tuple[float, Array]:
        """Return the time of the answered state [s] and the efforts (n,); joints in any order.

        Raises:
            AccordError: naming a joint that is missing, unknown, or has no effort.
        """
        if self._fixed.are_in(data):
            time = wire.unstamp(*wire.STAMP.unpack_from(data, wire.STAMP_AT))
            effort = np.frombuffer(data, wire.DOUBLE, len(self.joints), self._start).copy()
            return time, effort
        return self._decode_by_item(data)

    def _decode_by_item(self, data: bytes) -> tuple[float, Array]:
        """Return time and efforts of a message of another layout."""
        kind = "JointTrajectory"
        reader = wire.CdrReader(data, kind)
        time = reader.header()
        names = reader.strings()
        order = wire.indices_of(self.joints, names, kind)
        for name in names:
            if name not in self.joints:
                raise AccordError(f"{name} in a {kind} is not a joint of this robot")
        points = reader.count()
        if points != 1:
            first = f" for {self.joints[0]}" if self.joints else ""
            raise AccordError(f"a {kind} has {points} points{first}, one is wanted")
        for _ in ("positions", "velocities", "accelerations"):
            reader.sequence()
        effort = reader.sequence()
        wire.check_length(effort, names, "effort", kind)
        return time, effort[order]
