"""Codecs of occasional ROS messages: clock, text, switches, wrenches, events, markers.

Nodes and bags convert each message by a pair of functions `encode_...` and `decode_...`, or only
the first. An event is sent as a diagnostic status, with its figures as values. Their names are in
bags and stay; a new value is written if it is not 0 and read with a default, like `size`. In RViz a
contact is shown by two markers, a sphere at its point and an arrow for its force, whose appearance
is set by the constants below; a surface is a list of triangles. Layouts are those of ROS
(test_cdr).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from roboaccord.cdr.wire import DOUBLE, HEADER, STAMP, CdrReader, CdrWriter, stamp
from roboaccord.contract import IDENTITY, ORIGIN, AccordError, Array, ContactPoint, Event
from roboaccord.description.solids import Surface

NAMESPACE = "contacts"  # of the markers of contacts
ARROW, SPHERE, TRIANGLES = 0, 2, 11  # types of a marker in visualization_msgs
ADD, DELETE_ALL = 0, 3  # actions of a marker in visualization_msgs
# [m] Diameters of the sphere: twice that of the arrow's shaft, so that it is visible around it.
SPHERE_SIZE = np.full(3, 0.012)
# [m] Arrow: diameters of shaft and head, length of the head. By eye, for robots of 0.1 to 2 m.
ARROW_SIZE = np.array([0.006, 0.014, 0.02])
# [m/N] Length of an arrow per force: 10 cm for the weight of 5 kg.
LENGTH_PER_FORCE = 0.002
# [m] Limits of the length, reached at the weights of 1.5 and 25 kg: more than the head, less than a
# robot. The shortest arrow also stands for an unknown force.
SHORTEST_ARROW, LONGEST_ARROW = 0.03, 0.5
# Colours (r, g, b, opacity) of sphere and arrow, chosen by eye to differ from those of links.
RED, ORANGE = (0.9, 0.1, 0.1, 1.0), (1.0, 0.6, 0.0, 1.0)
INVISIBLE = (0.0, 0.0, 0.0, 0.0)  # colour of a marker that only deletes others
NO_POINTS = np.zeros((0, 3))
ONES = np.ones(3)  # scale of triangles, whose points are in metres


def encode_clock(time: float) -> bytes:
    """Return a time [s] as rosgraph_msgs/msg/Clock."""
    return HEADER + STAMP.pack(*stamp(time))


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


def encode_wrench(time: float, wrench: Array, frame_id: str = "odom") -> bytes:
    """Return force and torque (6,) [N, N m] at a time [s] as geometry_msgs/msg/WrenchStamped."""
    writer = CdrWriter(time, frame_id)
    writer.align(8)
    return bytes(writer.data) + np.asarray(wrench, DOUBLE).tobytes()


def decode_wrench(data: bytes) -> tuple[float, Array]:
    """Return time [s], and force and torque (6,) [N, N m], of a WrenchStamped."""
    reader = CdrReader(data, "WrenchStamped")
    return reader.header(), reader.doubles(6)


class Status(NamedTuple):
    """A diagnostic_msgs/msg/DiagnosticStatus, whose fields it has; level 0 means OK, 1 WARN."""

    name: str
    message: str
    hardware_id: str
    values: Mapping[str, str]
    level: int = 0


def encode_statuses(time: float, statuses: Sequence[Status]) -> bytes:
    """Return statuses at a time [s] as diagnostic_msgs/msg/DiagnosticArray."""
    writer = CdrWriter(time)
    writer.count(len(statuses))
    for name, message, hardware_id, values, level in statuses:
        writer.data += bytes([level])
        for text in (name, message, hardware_id):
            writer.string(text)
        writer.count(len(values))
        for key, value in values.items():
            writer.string(key)
            writer.string(value)
    return bytes(writer.data)


def decode_statuses(data: bytes) -> tuple[float, list[Status]]:
    """Return time [s] and statuses of a diagnostic_msgs/msg/DiagnosticArray.

    Raises:
        AccordError: if it is cut off.
    """
    reader = CdrReader(data, "DiagnosticArray")
    time = reader.header()
    statuses = []
    for _ in range(reader.count()):
        level = reader.raw(1)[0]
        name, message, hardware_id = reader.string(), reader.string(), reader.string()
        values = {reader.string(): reader.string() for _ in range(reader.count())}
        statuses.append(Status(name, message, hardware_id, values, level))
    return time, statuses


def encode_events(events: Sequence[Event], robot: str) -> bytes:
    """Return events as a diagnostic_msgs/msg/DiagnosticArray, with a status of level OK for each.

    The time stamp is that of the first event; the time of any other is a value of its status.
    """
    first = events[0].time
    return encode_statuses(first, [_status(event, robot, stamp(first)) for event in events])


def _status(event: Event, robot: str, first: tuple[int, int]) -> Status:
    """Return the status of an event; `first` is the time stamp of the message."""
    values = {"impulse": repr(float(event.impulse))}
    for name, value in (("energy", event.energy), ("size", event.size)):
        if value:
            values[name] = repr(float(value))
    seconds, nanoseconds = stamp(event.time)
    if (seconds, nanoseconds) != first:
        values["time"] = f"{seconds}.{nanoseconds:09d}"
    return Status(event.kind, event.subject, robot, values)


def decode_events(data: bytes) -> list[Event]:
    """Return the events of a DiagnosticArray that `encode_events` made.

    Raises:
        AccordError: if there is no status, or a value that is not a number.
    """
    time, statuses = decode_statuses(data)
    if not statuses:
        raise AccordError("a DiagnosticArray holds no status")
    return [_event(status, time) for status in statuses]


def _event(status: Status, time: float) -> Event:
    """Return the event of a status; `time` is that of the message [s]."""
    values = status.values
    try:
        event_time = float(values.get("time", time))
        numbers = (float(values.get(name, "0")) for name in ("impulse", "energy", "size"))
        return Event(event_time, status.name, status.message, *numbers)
    except ValueError:
        raise AccordError(f"{status.name} event has values {values!r}, not all numbers") from None


def encode_contacts(time: float, contacts: Sequence[ContactPoint], frame_id: str = "odom") -> bytes:
    """Return contacts at a time [s] as the bytes of a MarkerArray.

    The first marker deletes all earlier ones. The sphere of a contact has an even number, its arrow
    the next one.
    """
    writer = CdrWriter.without_stamp()
    writer.count(1 + 2 * len(contacts))
    _write_marker(writer, time, frame_id, _Marker(0, ARROW, action=DELETE_ALL))
    for i, contact in enumerate(contacts):
        sphere = _Marker(2 * i, SPHERE, position=contact.position, scale=SPHERE_SIZE, colour=RED)
        _write_marker(writer, time, frame_id, sphere)
        points = contact_arrow(contact)
        arrow = _Marker(2 * i + 1, ARROW, scale=ARROW_SIZE, colour=ORANGE, points=points)
        _write_marker(writer, time, frame_id, arrow)
    return bytes(writer.data)


def contact_arrow(contact: ContactPoint) -> Array:
    """Return start and end (2, 3) [m] of the arrow that shows a contact."""
    length = min(max(LENGTH_PER_FORCE * contact.force, SHORTEST_ARROW), LONGEST_ARROW)
    return np.stack([contact.position, contact.position + length * contact.normal])


def encode_surfaces(surfaces: Sequence[Surface], frame_id: str = "odom") -> bytes:
    """Return surfaces as the bytes of a MarkerArray, each a list of triangles in a namespace.

    That of a free body is locked to the body's frame, and moves with it.
    """
    writer = CdrWriter.without_stamp()
    writer.count(len(surfaces))
    for surface in surfaces:
        points = surface.vertices[surface.triangles].reshape(-1, 3)
        colour = (*surface.colour, 1.0)
        triangles = _Marker(
            0, TRIANGLES, namespace=surface.name, scale=ONES, colour=colour, points=points,
            locked=bool(surface.frame),
        )  # fmt: skip
        _write_marker(writer, 0.0, surface.frame or frame_id, triangles)
    return bytes(writer.data)


class _Marker(NamedTuple):
    """The fields of a visualization_msgs/msg/Marker that differ between our markers.

    Args:
        number: tells it from others of its namespace.
        kind: ARROW, SPHERE or TRIANGLES.
        action: ADD or DELETE_ALL.
        namespace: group of markers, which viewers switch on and off together.
        position: of its frame (3,) [m].
        scale: size along its axes, or sizes of an arrow (3,) [m].
        colour: red, green, blue, opacity.
        points: ends of an arrow, or corners of triangles (m, 3) [m].
        locked: whether it moves with its frame.
    """

    number: int
    kind: int
    action: int = ADD
    namespace: str = NAMESPACE
    position: Array = ORIGIN
    scale: Array = ORIGIN
    colour: Sequence[float] = INVISIBLE
    points: Array = NO_POINTS
    locked: bool = False


def _write_marker(writer: CdrWriter, time: float, frame_id: str, marker: _Marker) -> None:
    """Append a visualization_msgs/msg/Marker to a message, field by field."""
    writer.align(4)
    writer.data += STAMP.pack(*stamp(time))
    writer.string(frame_id)
    writer.string(marker.namespace)
    writer.align(4)
    writer.data += struct.pack("<iii", marker.number, marker.kind, marker.action)
    writer.numbers(np.concatenate([marker.position, IDENTITY, marker.scale]))
    writer.data += struct.pack("<4f", *marker.colour)
    writer.data += STAMP.pack(0, 0)  # lifetime: until it is deleted
    writer.data += bytes([marker.locked])  # frame_locked
    writer.count(len(marker.points))
    writer.numbers(marker.points)
    writer.count(0)  # colors
    writer.string("")  # texture_resource
    writer.align(4)
    writer.data += STAMP.pack(0, 0)  # texture: stamp, frame, format and data
    writer.string("")
    writer.string("")
    writer.count(0)
    writer.count(0)  # uv_coordinates
    for _ in ("text", "mesh_resource", "mesh_file.filename"):
        writer.string("")
    writer.count(0)  # mesh_file.data
    writer.data += b"\0"  # mesh_use_embedded_materials
