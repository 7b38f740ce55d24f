"""Fast codecs between the core's types and the bytes of ROS messages.

Generic conversion of a JointState costs about 25 us each way in Python, which bounds lockstep to
some 1,100 ticks a second. Names never change within a run, so here a message is a template whose
numbers are overwritten. Bytes are little-endian CDR (OMG DDSI-RTPS 2.2, chapter 10) behind the
4-byte encapsulation header, as ROS middlewares and rosbag2 have them; alignment counts from the
end of that header. A codec has one buffer: use one codec a thread.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from roboaccord.errors import AccordError
from roboaccord.state import Array, RobotState
from roboaccord.trajectory import Event

HEADER = b"\x00\x01\x00\x00"
NANOSECONDS = 1_000_000_000
_DOUBLE = np.dtype("<f8")
_STAMP = struct.Struct("<iI")
_STAMP_AT = len(HEADER)
_FRAME_AT = _STAMP_AT + _STAMP.size
_POSE, _TWIST, _COVARIANCE = 7, 6, 36  # numbers of an Odometry, in this order, each with the last


def stamp(time: float) -> tuple[int, int]:
    """Return a time [s] as the seconds and nanoseconds of a ROS time stamp."""
    return divmod(round(time * 1e9), NANOSECONDS)


def unstamp(sec: int, nanosec: int) -> float:
    """Return the time [s] of a ROS time stamp; exact for the control ticks of a run."""
    return (sec * NANOSECONDS + nanosec) / NANOSECONDS


class CdrWriter:
    """Build a message, item by item."""

    def __init__(self, time: float = 0.0) -> None:
        self.data = bytearray(HEADER + _STAMP.pack(*stamp(time)))
        self.padding: list[int] = []

    def align(self, size: int) -> None:
        pad = -(len(self.data) - len(HEADER)) % size
        self.padding += range(len(self.data), len(self.data) + pad)
        self.data += bytes(pad)

    def count(self, number: int) -> None:
        self.align(4)
        self.data += struct.pack("<I", number)

    def string(self, text: str) -> None:
        raw = text.encode() + b"\0"
        self.count(len(raw))
        self.data += raw

    def strings(self, texts: Sequence[str]) -> None:
        self.count(len(texts))
        for text in texts:
            self.string(text)

    def doubles(self, number: int) -> int:
        """Make room for that many zeros, and return where they start."""
        if number:  # an empty sequence is not aligned
            self.align(8)
        start = len(self.data)
        self.data += bytes(8 * number)
        return start


class CdrReader:
    """Take a message of any publisher apart, item by item."""

    def __init__(self, data: bytes, kind: str) -> None:
        self.data = data
        self.at = len(HEADER)
        self.kind = kind
        if bytes(data[:2]) != HEADER[:2]:
            raise AccordError(f"a {kind} is no little-endian CDR message")

    def raw(self, size: int, align: int = 1) -> bytes:
        self.at += -(self.at - len(HEADER)) % align
        part = bytes(self.data[self.at : self.at + size])
        if len(part) != size:
            raise AccordError(f"a {self.kind} is cut off after {len(self.data)} bytes")
        self.at += size
        return part

    def count(self) -> int:
        return int.from_bytes(self.raw(4, 4), "little")

    def time(self) -> float:
        return unstamp(*_STAMP.unpack(self.raw(_STAMP.size, 4)))

    def string(self) -> str:
        return self.raw(self.count())[:-1].decode(errors="replace")

    def strings(self) -> list[str]:
        return [self.string() for _ in range(self.count())]

    def doubles(self, number: int) -> Array:
        raw = self.raw(8 * number, 8) if number else b""
        return np.frombuffer(raw, _DOUBLE).copy()

    def sequence(self) -> Array:
        return self.doubles(self.count())


def _view(buffer: bytearray, start: int, number: int) -> Array:
    return np.ndarray((number,), _DOUBLE, buffer, start)


class _Fixed:
    """Hold the bytes between stamp and numbers, which are the same in every message of a run.

    What a writer leaves in the padding differs: zeros here, whatever was in memory in rclpy.
    """

    def __init__(self, writer: CdrWriter, stop: int) -> None:
        self.data = bytes(writer.data[_FRAME_AT:stop])
        self._bytes = np.frombuffer(self.data, np.uint8)
        self._mask = np.full(len(self.data), 255, dtype=np.uint8)
        self._mask[[at - _FRAME_AT for at in writer.padding if at < stop]] = 0

    def equals_but_for_padding(self, part: bytes) -> bool:
        if len(part) != len(self.data):
            return False
        return not ((np.frombuffer(part, np.uint8) ^ self._bytes) & self._mask).any()


def _by_name(names: Sequence[str], joints: Sequence[str], kind: str) -> list[int]:
    place = {name: i for i, name in enumerate(names)}
    for joint in joints:
        if joint not in place:
            raise AccordError(f"{joint} is missing in a {kind}")
    return [place[joint] for joint in joints]


def _check_length(values: Array, names: Sequence[str], field: str, kind: str) -> None:
    if len(values) < len(names):
        raise AccordError(f"{names[len(values)]} has no {field} in a {kind}")
    if len(values) > len(names):
        last = f" after {names[-1]}" if names else ""
        raise AccordError(f"{len(values) - len(names)} {field} values too many{last} in a {kind}")


def read_joint_state(data: bytes) -> tuple[float, list[str], Array, Array, Array]:
    """Return time [s], names, positions, velocities and efforts of any JointState, as they are."""
    reader = CdrReader(data, "JointState")
    time = reader.time()
    reader.string()
    return time, reader.strings(), reader.sequence(), reader.sequence(), reader.sequence()


class JointStateCodec:
    """Convert between states and sensor_msgs/msg/JointState.

    Args:
        joints: joint names, n of them, in the order of the arrays.
        frame_id: of the header.
    """

    def __init__(self, joints: Sequence[str], frame_id: str = "") -> None:
        self.joints = tuple(joints)
        count = len(self.joints)
        writer = CdrWriter()
        writer.string(frame_id)
        writer.strings(self.joints)
        starts = []
        for _ in range(3):
            writer.count(count)
            starts.append(writer.doubles(count))
        self._buffer = writer.data
        self._q, self._qd, self._effort = (_view(self._buffer, s, count) for s in starts)
        self._start = starts[0]
        self._fixed = _Fixed(writer, self._start)
        # Beyond the names only two counts are fixed: those of velocity and effort.
        ends = [start + 8 * count for start in starts[:2]]
        gap = ends[1] - ends[0] - 4
        self._head = struct.Struct(f"<2s2xiI{ends[0] - _FRAME_AT}xI{gap}xI")
        self._stride = (starts[1] - starts[0]) // 8
        self._expected = (count, count)

    def encode(self, state: RobotState) -> bytes:
        """Return a state as message bytes."""
        _STAMP.pack_into(self._buffer, _STAMP_AT, *divmod(round(state.time * 1e9), NANOSECONDS))
        self._q[:] = state.q
        self._qd[:] = state.qd
        self._effort[:] = state.effort
        return bytes(self._buffer)

    def decode(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return time [s], q, qd and effort (n,) of a message, by name in any order.

        Raises:
            AccordError: naming the joint that is missing, or has no value.
        """
        fixed = data[_FRAME_AT : self._start]
        if len(data) >= len(self._buffer) and (
            fixed == self._fixed.data or self._fixed.equals_but_for_padding(fixed)
        ):
            order, sec, nanosec, *counts = self._head.unpack_from(data)
            if order == HEADER[:2] and (counts[0], counts[1]) == self._expected:
                n, stride = len(self.joints), self._stride
                numbers = np.frombuffer(data, _DOUBLE, n + 2 * stride, self._start).copy()
                return (
                    (sec * NANOSECONDS + nanosec) / NANOSECONDS,
                    numbers[:n],
                    numbers[stride : stride + n],
                    numbers[2 * stride :],
                )
        return self._decode_foreign(data)

    def _decode_foreign(self, data: bytes) -> tuple[float, Array, Array, Array]:
        time, names, q, qd, effort = read_joint_state(data)
        order = _by_name(names, self.joints, "JointState")
        for values, field in ((q, "position"), (qd, "velocity"), (effort, "effort")):
            _check_length(values, names, field, "JointState")
        return time, q[order], qd[order], effort[order]


class OdometryCodec:
    """Convert between the base of a state and nav_msgs/msg/Odometry, covariances zero.

    Args:
        frame_id: frame of the pose.
        child_frame_id: the base, in whose axes the twist is.
    """

    def __init__(self, frame_id: str = "odom", child_frame_id: str = "base_link") -> None:
        writer = CdrWriter()
        writer.string(frame_id)
        writer.string(child_frame_id)
        self._start = writer.doubles(_POSE + _TWIST + 2 * _COVARIANCE)
        self._buffer = writer.data
        self._fixed = _Fixed(writer, self._start)
        numbers = _view(self._buffer, self._start, _POSE + _TWIST + 2 * _COVARIANCE)
        self._position, self._orientation = numbers[:3], numbers[3:_POSE]
        self._twist = numbers[_POSE + _COVARIANCE : _POSE + _COVARIANCE + _TWIST]

    def encode(self, state: RobotState) -> bytes:
        """Return pose and twist of a state as message bytes."""
        _STAMP.pack_into(self._buffer, _STAMP_AT, *divmod(round(state.time * 1e9), NANOSECONDS))
        self._position[:] = state.position
        self._orientation[:] = state.orientation
        self._twist[:] = state.twist
        return bytes(self._buffer)

    def decode(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return time [s], position (3,), orientation x y z w (4,) and twist (6,) of a message.

        Raises:
            AccordError: if it is cut off.
        """
        size = _POSE + _TWIST + 2 * _COVARIANCE
        fixed = data[_FRAME_AT : self._start]
        if (
            len(data) >= len(self._buffer)
            and data[:2] == HEADER[:2]
            and (fixed == self._fixed.data or self._fixed.equals_but_for_padding(fixed))
        ):
            sec, nanosec = _STAMP.unpack_from(data, _STAMP_AT)
            time = (sec * NANOSECONDS + nanosec) / NANOSECONDS
            numbers = np.frombuffer(data, _DOUBLE, size, self._start).copy()
        else:
            reader = CdrReader(data, "Odometry")
            time = reader.time()
            reader.string()
            reader.string()
            numbers = reader.doubles(size)
        twist = numbers[_POSE + _COVARIANCE : _POSE + _COVARIANCE + _TWIST]
        return time, numbers[:3], numbers[3:_POSE], twist


class EffortCodec:
    """Convert between efforts and trajectory_msgs/msg/JointTrajectory with one point.

    Args:
        joints: joint names, n of them, in the order of the arrays.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self.joints = tuple(joints)
        writer = CdrWriter()
        writer.string("")
        writer.strings(self.joints)
        writer.count(1)
        for _ in ("positions", "velocities", "accelerations"):
            writer.count(0)
        writer.count(len(self.joints))
        self._start = writer.doubles(len(self.joints))
        writer.data += _STAMP.pack(0, 0)  # time_from_start
        self._buffer = writer.data
        self._fixed = _Fixed(writer, self._start)
        self._effort = _view(self._buffer, self._start, len(self.joints))

    def encode(self, time: float, effort: Array) -> bytes:
        """Return efforts (n,) [N m] that answer the state of `time` [s] as message bytes."""
        _STAMP.pack_into(self._buffer, _STAMP_AT, *divmod(round(time * 1e9), NANOSECONDS))
        self._effort[:] = effort
        return bytes(self._buffer)

    def decode(self, data: bytes) -> tuple[float, Array]:
        """Return the time of the state answered [s] and the efforts (n,), by name in any order.

        Raises:
            AccordError: naming the joint that is missing, unknown, or has no effort.
        """
        fixed = data[_FRAME_AT : self._start]
        if (
            len(data) >= len(self._buffer)
            and data[:2] == HEADER[:2]
            and (fixed == self._fixed.data or self._fixed.equals_but_for_padding(fixed))
        ):
            sec, nanosec = _STAMP.unpack_from(data, _STAMP_AT)
            effort = np.frombuffer(data, _DOUBLE, len(self.joints), self._start).copy()
            return (sec * NANOSECONDS + nanosec) / NANOSECONDS, effort
        return self._decode_foreign(data)

    def _decode_foreign(self, data: bytes) -> tuple[float, Array]:
        kind = "JointTrajectory"
        reader = CdrReader(data, kind)
        time = reader.time()
        reader.string()
        names = reader.strings()
        order = _by_name(names, self.joints, kind)
        for name in names:
            if name not in self.joints:
                raise AccordError(f"{name} in a {kind} is no joint of this robot")
        points = reader.count()
        if points != 1:
            first = f" for {self.joints[0]}" if self.joints else ""
            raise AccordError(f"a {kind} has {points} points{first}, one is wanted")
        for _ in ("positions", "velocities", "accelerations"):
            reader.sequence()
        effort = reader.sequence()
        _check_length(effort, names, "effort", kind)
        return time, effort[order]


def encode_clock(time: float) -> bytes:
    """Return a time [s] as rosgraph_msgs/msg/Clock."""
    return HEADER + _STAMP.pack(*stamp(time))


def decode_clock(data: bytes) -> float:
    """Return the time [s] of a rosgraph_msgs/msg/Clock."""
    return CdrReader(data, "Clock").time()


def encode_string(text: str) -> bytes:
    """Return a text as std_msgs/msg/String."""
    raw = text.encode() + b"\0"
    return HEADER + struct.pack("<I", len(raw)) + raw


def decode_string(data: bytes) -> str:
    """Return the text of a std_msgs/msg/String."""
    return CdrReader(data, "String").string()


def encode_bool(value: bool) -> bytes:
    """Return a flag as std_msgs/msg/Bool."""
    return HEADER + bytes([value])


def decode_bool(data: bytes) -> bool:
    """Return the flag of a std_msgs/msg/Bool."""
    return CdrReader(data, "Bool").raw(1) != b"\0"


def encode_twist(twist: Array) -> bytes:
    """Return linear and angular velocity (6,) [m/s, rad/s] as geometry_msgs/msg/Twist."""
    return HEADER + np.asarray(twist, _DOUBLE).tobytes()


def decode_twist(data: bytes) -> Array:
    """Return the six numbers of a geometry_msgs/msg/Twist [m/s, rad/s]."""
    return CdrReader(data, "Twist").doubles(6)


def encode_wrench(time: float, wrench: Array, frame_id: str = "odom") -> bytes:
    """Return force and torque (6,) [N, N m] at a time [s] as geometry_msgs/msg/WrenchStamped."""
    writer = CdrWriter(time)
    writer.string(frame_id)
    writer.align(8)
    return bytes(writer.data) + np.asarray(wrench, _DOUBLE).tobytes()


def decode_wrench(data: bytes) -> tuple[float, Array]:
    """Return time [s], and force and torque (6,) [N, N m], of a WrenchStamped."""
    reader = CdrReader(data, "WrenchStamped")
    time = reader.time()
    reader.string()
    return time, reader.doubles(6)


def encode_event(event: Event, robot: str) -> bytes:
    """Return an event as a diagnostic_msgs/msg/DiagnosticArray with one status, level OK."""
    writer = CdrWriter(event.time)
    writer.string("")
    writer.count(1)
    writer.data += b"\0"
    for text in (event.kind, event.subject, robot):
        writer.string(text)
    writer.count(1)
    writer.string("impulse")
    writer.string(repr(float(event.impulse)))
    return bytes(writer.data)


def decode_event(data: bytes) -> Event:
    """Return the event of a DiagnosticArray that `encode_event` made.

    Raises:
        AccordError: if it holds no status, or an impulse that is no number.
    """
    reader = CdrReader(data, "DiagnosticArray")
    time = reader.time()
    reader.string()
    if not reader.count():
        raise AccordError("a DiagnosticArray holds no status")
    reader.raw(1)
    kind, subject = reader.string(), reader.string()
    reader.string()
    values = {reader.string(): reader.string() for _ in range(reader.count())}
    try:
        return Event(time, kind, subject, float(values.get("impulse", "0")))
    except ValueError:
        raise AccordError(f"{kind} event has impulse {values['impulse']!r}, no number") from None
