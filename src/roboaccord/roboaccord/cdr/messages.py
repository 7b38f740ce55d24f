"""Codecs of occasional messages: clock, text, switches, twists, wrenches, events."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from roboaccord.cdr.wire import DOUBLE, HEADER, STAMP, CdrReader, CdrWriter, stamp
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event


def encode_clock(time: float) -> bytes:
    """Return a time [s] as rosgraph_msgs/msg/Clock."""
    return HEADER + STAMP.pack(*stamp(time))


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
    return HEADER + np.asarray(twist, DOUBLE).tobytes()


def decode_twist(data: bytes) -> Array:
    """Return the six numbers of a geometry_msgs/msg/Twist [m/s, rad/s]."""
    return CdrReader(data, "Twist").doubles(6)


def encode_wrench(time: float, wrench: Array, frame_id: str = "odom") -> bytes:
    """Return force and torque (6,) [N, N m] at a time [s] as geometry_msgs/msg/WrenchStamped."""
    writer = CdrWriter(time)
    writer.string(frame_id)
    writer.align(8)
    return bytes(writer.data) + np.asarray(wrench, DOUBLE).tobytes()


def decode_wrench(data: bytes) -> tuple[float, Array]:
    """Return time [s], and force and torque (6,) [N, N m], of a WrenchStamped."""
    reader = CdrReader(data, "WrenchStamped")
    time = reader.time()
    reader.string()
    return time, reader.doubles(6)


def encode_events(events: Sequence[Event], robot: str) -> bytes:
    """Return events as a diagnostic_msgs/msg/DiagnosticArray with a status each, level OK.

    The message has the time of the first one; a status of another time states it as a value.
    """
    writer = CdrWriter(events[0].time)
    first = stamp(events[0].time)
    writer.string("")
    writer.count(len(events))
    for event in events:
        writer.data += b"\0"
        for text in (event.kind, event.subject, robot):
            writer.string(text)
        values = {"impulse": repr(float(event.impulse))}
        if event.energy:
            values["energy"] = repr(float(event.energy))
        if (own := stamp(event.time)) != first:
            values["time"] = f"{own[0]}.{own[1]:09d}"
        writer.count(len(values))
        for text in (text for pair in values.items() for text in pair):
            writer.string(text)
    return bytes(writer.data)


def decode_events(data: bytes) -> list[Event]:
    """Return the events of a DiagnosticArray that `encode_events` made.

    Raises:
        AccordError: if it holds no status, or a value that is no number.
    """
    reader = CdrReader(data, "DiagnosticArray")
    time = reader.time()
    reader.string()
    events = [_decode_status(reader, time) for _ in range(reader.count())]
    if not events:
        raise AccordError("a DiagnosticArray holds no status")
    return events


def _decode_status(reader: CdrReader, time: float) -> Event:
    reader.raw(1)
    kind, subject = reader.string(), reader.string()
    reader.string()
    values = {reader.string(): reader.string() for _ in range(reader.count())}
    try:
        when = float(values.get("time", time))
        impulse, energy = (float(values.get(name, "0")) for name in ("impulse", "energy"))
        return Event(when, kind, subject, impulse, energy)
    except ValueError:
        raise AccordError(f"{kind} event has values {values!r}, not all numbers") from None
