"""The wire format: little-endian CDR (OMG DDSI-RTPS 2.2, chapter 10).

Alignment, header and stamps are fixed by the standard, and test_cdr compares bytes with rosbags. A
primitive type may be added: a method of CdrWriter and one of CdrReader, aligned by its size.
`stamp` and `unstamp` must return times of ticks exactly, or hashes of runs over ROS would differ
from direct ones. Messages come from anybody, so each length is checked.

A message starts with a 4-byte encapsulation header, after which alignment counts, as in ROS
middlewares and rosbag2.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Self

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

HEADER = b"\x00\x01\x00\x00"  # encapsulation: little-endian CDR, no options
NANOSECONDS = 1_000_000_000
DOUBLE = np.dtype("<f8")
STAMP = struct.Struct("<iI")
STAMP_AT = len(HEADER)
FRAME_AT = STAMP_AT + STAMP.size


def stamp(time: float) -> tuple[int, int]:
    """Return a time [s] as the seconds and nanoseconds of a ROS time stamp."""
    return divmod(round(time * 1e9), NANOSECONDS)


def unstamp(sec: int, nanosec: int) -> float:
    """Return the time [s] of a ROS time stamp; exact for the control ticks of a run."""
    return (sec * NANOSECONDS + nanosec) / NANOSECONDS


class CdrWriter:
    """Writer of a message, item by item."""

    def __init__(self, time: float = 0.0) -> None:
        self.data = bytearray(HEADER + STAMP.pack(*stamp(time)))
        self.padding: list[int] = []

    @classmethod
    def without_stamp(cls) -> Self:
        """Begin a message without a stamp, such as an array."""
        writer = cls()
        del writer.data[len(HEADER) :]
        return writer

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
        """Reserve a number of zero doubles, and return their offset."""
        if number:  # an empty sequence is not aligned
            self.align(8)
        start = len(self.data)
        self.data += bytes(8 * number)
        return start

    def numbers(self, values: Array) -> None:
        """Write numbers without their count."""
        start = self.doubles(values.size)
        self.data[start:] = np.asarray(values, DOUBLE).tobytes()


class CdrReader:
    """Reader of a message of any publisher, item by item."""

    def __init__(self, data: bytes, kind: str) -> None:
        self.data = data
        self.at = len(HEADER)
        self.kind = kind
        if bytes(data[:2]) != HEADER[:2]:
            raise AccordError(f"a {kind} is not a little-endian CDR message")

    def raw(self, size: int, align: int = 1) -> bytes:
        self.at += -(self.at - len(HEADER)) % align
        content = bytes(self.data[self.at : self.at + size])
        if len(content) != size:
            raise AccordError(f"a {self.kind} is cut off after {len(self.data)} bytes")
        self.at += size
        return content

    def count(self) -> int:
        return int.from_bytes(self.raw(4, 4), "little")

    def time(self) -> float:
        return unstamp(*STAMP.unpack(self.raw(STAMP.size, 4)))

    def string(self) -> str:
        return self.raw(self.count())[:-1].decode(errors="replace")

    def strings(self) -> list[str]:
        return [self.string() for _ in range(self.count())]

    def doubles(self, number: int) -> Array:
        raw = self.raw(8 * number, 8) if number else b""
        return np.frombuffer(raw, DOUBLE).copy()

    def sequence(self) -> Array:
        return self.doubles(self.count())


def view(buffer: bytearray, start: int, number: int) -> Array:
    """Return a view of numbers in a buffer, to read or overwrite them in place."""
    return np.ndarray((number,), DOUBLE, buffer, start)


class Fixed:
    """Bytes between stamp and numbers, which are the same in every message of a run.

    Padding is not compared: it is zero here, and whatever was in memory in rclpy.
    """

    def __init__(self, writer: CdrWriter, stop: int) -> None:
        self._size, self._stop = len(writer.data), stop
        self.data = bytes(writer.data[FRAME_AT:stop])
        self._bytes = np.frombuffer(self.data, np.uint8)
        self._mask = np.full(len(self.data), 255, dtype=np.uint8)
        self._mask[[at - FRAME_AT for at in writer.padding if at < stop]] = 0

    def begins(self, data: bytes) -> bool:
        """Return whether a message has this layout and is complete."""
        if len(data) < self._size or data[:2] != HEADER[:2]:
            return False
        fixed = data[FRAME_AT : self._stop]
        if fixed == self.data:
            return True
        return not ((np.frombuffer(fixed, np.uint8) ^ self._bytes) & self._mask).any()


def stamp_into(buffer: bytearray, time: float) -> None:
    """Write the stamp of a time [s] into the header of a message."""
    STAMP.pack_into(buffer, STAMP_AT, *divmod(round(time * 1e9), NANOSECONDS))


def by_name(names: Sequence[str], joints: Sequence[str], kind: str) -> list[int]:
    """Return the index of each joint among names.

    Raises:
        AccordError: for a joint that is missing.
    """
    index = {name: i for i, name in enumerate(names)}
    for joint in joints:
        if joint not in index:
            raise AccordError(f"{joint} is missing in a {kind}")
    return [index[joint] for joint in joints]


def check_length(values: Array, names: Sequence[str], field: str, kind: str) -> None:
    """Refuse a field with more or fewer values than names.

    Raises:
        AccordError: naming the joint.
    """
    if len(values) < len(names):
        raise AccordError(f"{names[len(values)]} has no {field} in a {kind}")
    if len(values) > len(names):
        last = f" after {names[-1]}" if names else ""
        raise AccordError(f"{len(values) - len(names)} {field} values too many{last} in a {kind}")
