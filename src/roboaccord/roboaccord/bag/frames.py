"""The outermost layer of an MCAP file: records one behind the other, and a running checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO
from zlib import crc32

from mcap.opcode import Opcode

__all__ = ["KNOWN", "MAGIC", "RECORD", "DamageError", "Frames", "Opcode"]

MAGIC = b"\x89MCAP0\r\n"
RECORD = struct.Struct("<BQ")  # opcode and length
KNOWN = frozenset(int(opcode) for opcode in Opcode)


class DamageError(Exception):
    """Say what is wrong with a file."""


class Frames:
    """Iterate over opcode and content of the records of a file, whose magic is read already.

    Args:
        stream: behind the magic.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = stream.seek(0, 2)
        stream.seek(max(self._size - len(MAGIC), len(MAGIC)))
        self._closed = stream.read() == MAGIC
        self._head = b""
        self.at = stream.seek(len(MAGIC))
        """Where the present record starts."""
        self.checksum = crc32(MAGIC)
        """Of everything before the present record; begins anew behind the end of the data."""
        self.cut = False
        """Whether the present record is the last of a file that was cut, and short of its end."""
        self.length = 0
        """Of the content of the present record, as it says itself."""
        self.ended = False
        """Whether the footer was the last record, and the magic stood behind it."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the records.

        Raises:
            DamageError: if a record ends where it cannot.
        """
        while not self.ended:
            self.at = self._stream.tell()
            self._head = self._stream.read(RECORD.size)
            left = self._size - self.at - RECORD.size
            opcode, length = RECORD.unpack(self._head) if left >= 0 else (0, 0)
            self.length = length
            if length > left:
                if self._closed:
                    raise DamageError("a record goes beyond the end of the file")
                self.cut = True
                if left >= 0:
                    yield opcode, self._stream.read(left)
                return
            content = self._stream.read(length)
            yield opcode, content
            self.checksum = 0 if opcode == Opcode.DATA_END else self.checksum_with(content)
            if opcode == Opcode.FOOTER:
                self._end()

    def checksum_with(self, content: bytes) -> int:
        """Return the checksum up to a place in the present record, whose content starts so."""
        return crc32(content, crc32(self._head, self.checksum))

    def _end(self) -> None:
        rest = self._size - self._stream.tell()
        behind = self._stream.read(min(rest, len(MAGIC)))
        self.ended = behind == MAGIC and rest == len(MAGIC)
        if not self.ended:
            if rest >= len(MAGIC) or not MAGIC.startswith(behind):
                raise DamageError("the file does not end where its footer says")
            self.cut = True
