"""The wire format of ROS 2 messages: little-endian CDR (OMG DDSI-RTPS 2.2, chapter 10).

codecs.py and messages.py write messages by `CdrWriter` and read them by `CdrReader`, item by item.
A message starts with an encapsulation header of 4 bytes; after it, each item is aligned to a
multiple of its size, counted from the end of the header. Strings and sequences begin with their
length. Messages may come from any sender, so each length is checked. `stamp` and `unstamp` must
return the times of ticks exactly, because hashes of runs over ROS would otherwise differ from those
of direct runs (test_cdr).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Self

import numpy as np

from roboaccord.contract import AccordError, Array

HEADER = b"\x00\x01\x00\x00"  # encapsulation: little-endian CDR, no options
NANOSECONDS = 1_000_000_000  # in a second
DOUBLE = np.dtype("<f8")  # type of numbers: little-endian, 8 bytes
STAMP = struct.Struct("<iI")  # seconds and nanoseconds
STAMP_AT = len(HEADER)  # offset of the time stamp in a message
FRAME_AT = STAMP_AT + STAMP.size  # offset of what follows it


def stamp(time: float) -> tuple[int, int]:
    """Return a time [s] as the seconds and nanoseconds of a ROS time stamp."""
    return divmod(round(time * 1e9), NANOSECONDS)


def unstamp(sec: int, nanosec: int) -> float:
    """Return the time [s] of a ROS time stamp, exactly for the control ticks of a run."""
    return (sec * NANOSECONDS + nanosec) / NANOSECONDS


def stamp_into(buffer: bytearray, time: float) -> None:
    """Overwrite the time stamp of a message by that of a time [s]."""
    STAMP.pack_into(buffer, STAMP_AT, *stamp(time))


class CdrWriter:
    """Writer of a message that begins with a std_msgs/Header, item by item.

    Args:
        time: of the time stamp in the std_msgs/Header [s].
        frame_id: frame in the std_msgs/Header.

    Attributes:
        data: bytes of the message that have been written.
        padding: offsets of the bytes that were inserted for alignment.
    """

    def __init__(self, time: float = 0.0, frame_id: str = "") -> None:
        self.data = bytearray(HEADER + STAMP.pack(*stamp(time)))
        self.padding: list[int] = []
        self.string(frame_id)

    @classmethod
    def without_stamp(cls) -> Self:
        """Return a writer of a message without a std_msgs/Header, such as an array."""
        writer = cls()
        del writer.data[len(HEADER) :]
        return writer

    def align(self, size: int) -> None:
        """Insert bytes up to the next multiple of `size`."""
        pad = -(len(self.data) - len(HEADER)) % size
        self.padding += range(len(self.data), len(self.data) + pad)
        self.data += bytes(pad)

    def count(self, number: int) -> None:
        """Write the length of the following string or sequence."""
        self.align(4)
        self.data += struct.pack("<I", number)

    def string(self, text: str) -> None:
        """Write a text with its length."""
        raw = text.encode() + b"\0"
        self.count(len(raw))
        self.data += raw

    def strings(self, texts: Sequence[str]) -> None:
        """Write a sequence of texts."""
        self.count(len(texts))
        for text in texts:
            self.string(text)

    def doubles(self, number: int) -> int:
        """Append `number` doubles that are zero, and return the offset of the first."""
        if number:  # an empty sequence is not aligned
            self.align(8)
        start = len(self.data)
        self.data += bytes(8 * number)
        return start

    def numbers(self, values: Array) -> None:
        """Write the values as doubles, without their number in front."""
        start = self.doubles(values.size)
        self.data[start:] = np.asarray(values, DOUBLE).tobytes()


class CdrReader:
    """Reader of a message of any publisher, item by item, from the first item on.

    Args:
        data: bytes of the message.
        kind: name of its type, for error messages.

    Attributes:
        offset: of the next item [bytes].
    """

    def __init__(self, data: bytes, kind: str) -> None:
        self.data = data
        self.offset = len(HEADER)
        self.kind = kind
        if bytes(data[:2]) != HEADER[:2]:
            raise AccordError(f"a {kind} is not a little-endian CDR message")

    def raw(self, size: int, align: int = 1) -> bytes:
        """Return the next `size` bytes, from a multiple of `align` on.

        Raises:
            AccordError: if the message is too short.
        """
        self.offset += -(self.offset - len(HEADER)) % align  # bytes for alignment
        content = bytes(self.data[self.offset : self.offset + size])
        if len(content) != size:
            raise AccordError(f"a {self.kind} is cut off after {len(self.data)} bytes")
        self.offset += size
        return content

    def count(self) -> int:
        """Return the length of the following string or sequence."""
        return int.from_bytes(self.raw(4, 4), "little")

    def time(self) -> float:
        """Return a time stamp [s]."""
        return unstamp(*STAMP.unpack(self.raw(STAMP.size, 4)))

    def header(self) -> float:
        """Return the time [s] in a std_msgs/Header, and skip its frame."""
        time = self.time()
        self.string()
        return time

    def string(self) -> str:
        """Return a text."""
        return self.raw(self.count())[:-1].decode(errors="replace")

    def strings(self) -> list[str]:
        """Return a sequence of texts."""
        return [self.string() for _ in range(self.count())]

    def doubles(self, number: int) -> Array:
        """Return `number` doubles."""
        return np.frombuffer(self.raw(8 * number, 8) if number else b"", DOUBLE).copy()

    def sequence(self) -> Array:
        """Return a sequence of doubles."""
        return self.doubles(self.count())


def doubles_in(buffer: bytearray, start: int, number: int) -> Array:
    """Return a view of `number` doubles from an offset on, to overwrite them in place."""
    return np.ndarray((number,), DOUBLE, buffer, start)


class FixedBytes:
    """The bytes between stamp and numbers, which are the same in every message of a run.

    A codec (codecs.py) compares them to know whether a message has the layout of its template.
    Bytes for alignment are not compared: they are zero here, and arbitrary in rclpy's messages.

    Args:
        writer: a writer that has written such a message.
        stop: offset of the numbers.
    """

    def __init__(self, writer: CdrWriter, stop: int) -> None:
        self._message_size, self._stop = len(writer.data), stop
        self._expected = bytes(writer.data[FRAME_AT:stop])
        self._expected_array = np.frombuffer(self._expected, np.uint8)
        self._mask = np.full(len(self._expected), 255, dtype=np.uint8)  # 0 at bytes for alignment
        self._mask[[at - FRAME_AT for at in writer.padding if at < stop]] = 0

    def are_in(self, data: bytes) -> bool:
        """Return whether a message has these bytes, and is complete."""
        if len(data) < self._message_size or data[:2] != HEADER[:2]:
            return False
        content = data[FRAME_AT : self._stop]
        if content == self._expected:
            return True
        different_bits = np.frombuffer(content, np.uint8) ^ self._expected_array
        return not (different_bits & self._mask).any()


def indices_of(joints: Sequence[str], names: Sequence[str], kind: str) -> list[int]:
    """Return the index in `names` of each joint; `kind` of message is for the error.

    Raises:
        AccordError: naming a joint that is missing.
    """
    index = {name: i for i, name in enumerate(names)}
    for joint in joints:
        if joint not in index:
            raise AccordError(f"{joint} is missing in a {kind}")
    return [index[joint] for joint in joints]


def check_length(values: Array, names: Sequence[str], field: str, kind: str) -> None:
    """Refuse a field of a message that has more or fewer values than there are names.

    Raises:
        AccordError: naming the joint without a value, or the number of superfluous values.
    """
    if len(values) < len(names):
        raise AccordError(f"{names[len(values)]} has no {field} in a {kind}")
    if len(values) > len(names):
        last = f" after {names[-1]}" if names else ""
        raise AccordError(f"{len(values) - len(names)} {field} values too many{last} in a {kind}")
