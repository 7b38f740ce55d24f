"""Contacts and surroundings as visualization_msgs/msg/MarkerArray.

A contact is a sphere at its point and an arrow by its force, a surface a list of triangles.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from roboaccord.cdr.wire import STAMP, CdrWriter, stamp
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.state import IDENTITY, ORIGIN, Array
from roboaccord.contract.surface import Surface

NAMESPACE = "contacts"
ARROW, SPHERE, TRIANGLES = 0, 2, 11  # types of a marker
ADD, DELETE_ALL = 0, 3  # actions of a marker
DIAMETER = 0.012  # m, of a sphere
ARROW_SIZE = np.array([0.006, 0.014, 0.02])  # shaft and head across, head along [m]
LENGTH_PER_FORCE = 0.002  # m/N: the weight of 5 kg is an arrow of 10 cm
SHORTEST, LONGEST = 0.03, 0.5  # m; the shortest also shows a normal whose force is unknown
RED, ORANGE = (0.9, 0.1, 0.1, 1.0), (1.0, 0.6, 0.0, 1.0)
NONE = (0.0, 0.0, 0.0, 0.0)
NO_POINTS = np.zeros((0, 3))
ONES = np.ones(3)


def encode_contacts(time: float, contacts: Sequence[ContactPoint], frame_id: str = "odom") -> bytes:
    """Return the contacts at a time [s] as message bytes; the first marker deletes all others.

    Of each contact the sphere has an even number and the arrow the next one.
    """
    writer = CdrWriter.without_stamp()
    writer.count(1 + 2 * len(contacts))
    _write(writer, time, frame_id, _Marker(0, ARROW, action=DELETE_ALL))
    for i, contact in enumerate(contacts):
        size = np.full(3, DIAMETER)
        ball = _Marker(2 * i, SPHERE, position=contact.position, scale=size, colour=RED)
        _write(writer, time, frame_id, ball)
        points = contact_arrow(contact)
        arrow = _Marker(2 * i + 1, ARROW, scale=ARROW_SIZE, colour=ORANGE, points=points)
        _write(writer, time, frame_id, arrow)
    return bytes(writer.data)


def contact_arrow(contact: ContactPoint) -> Array:
    """Return start and end (2, 3) [m] of the arrow that shows a contact."""
    length = min(max(LENGTH_PER_FORCE * contact.force, SHORTEST), LONGEST)
    return np.stack([contact.position, contact.position + length * contact.normal])


def encode_surfaces(surfaces: Sequence[Surface], frame_id: str = "odom") -> bytes:
    """Return surfaces as message bytes: of each the triangles, in a namespace of its name."""
    writer = CdrWriter.without_stamp()
    writer.count(len(surfaces))
    for surface in surfaces:
        points = surface.vertices[surface.triangles].reshape(-1, 3)
        colour = (*surface.colour, 1.0)
        triangles = _Marker(
            0, TRIANGLES, namespace=surface.name, scale=ONES, colour=colour, points=points
        )
        _write(writer, 0.0, frame_id, triangles)
    return bytes(writer.data)


class _Marker(NamedTuple):
    number: int
    kind: int
    action: int = ADD
    namespace: str = NAMESPACE
    position: Array = ORIGIN
    scale: Array = ORIGIN
    colour: Sequence[float] = NONE
    points: Array = NO_POINTS


def _write(writer: CdrWriter, time: float, frame_id: str, marker: _Marker) -> None:
    """Append a visualization_msgs/msg/Marker, field by field."""
    writer.align(4)
    writer.data += STAMP.pack(*stamp(time))
    writer.string(frame_id)
    writer.string(marker.namespace)
    writer.align(4)
    writer.data += struct.pack("<iii", marker.number, marker.kind, marker.action)
    writer.numbers(np.concatenate([marker.position, IDENTITY, marker.scale]))
    writer.data += struct.pack("<4f", *marker.colour)
    writer.data += STAMP.pack(0, 0)  # lifetime: until it is deleted
    writer.data += b"\0"  # frame_locked
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
