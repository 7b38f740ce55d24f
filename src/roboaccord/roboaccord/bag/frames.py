"""The outermost layer of an MCAP file: records one after the other, and a running checksum.

Opcodes and lengths are fixed by MCAP's specification. A file that was cut, such as a killed run's,
ends within a record or without a footer; any other end is damage.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO
from zlib import crc32

from mcap.opcode import Opcode

MAGIC = b"\x89MCAP0\r\n"  # first and last bytes of a file
RECORD = struct.Struct("<BQ")  # opcode and length


class DamageError(Exception):
    """What is wrong with a file."""


class Frames:
    """Iterator over opcode and content of the records of a file.

    Args:
        stream: after the magic bytes.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = stream.seek(0, 2)
        stream.seek(max(self._size - len(MAGIC), len(MAGIC)))
        self._closed = stream.read() == MAGIC
        self._head = b""
        self.at = stream.seek(len(MAGIC))
        """Offset of the present record."""
        self.checksum = crc32(MAGIC)
        """Of everything before the present record; it restarts after the end of the data."""
        self.cut = False
        """Whether the file was cut within the present record, its last one."""
        self.length = 0
        """Length of the present record's content, as its header states it."""
        self.ended = False
        """Whether the footer was the last record, followed by the magic bytes."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the records.

        Raises:
            DamageError: if a record ends where it cannot.
        """
        while not self.ended:
            self.at = self._stream.tell()
            self._head = self._stream.read(RECORD.size)
            remaining = self._size - self.at - RECORD.size
            opcode, length = RECORD.unpack(self._head) if remaining >= 0 else (0, 0)
            self.length = length
            if length > remaining:
                if self._closed:
                    raise DamageError("a record goes beyond the end of the file")
                self.cut = True
                if remaining >= 0:
                    yield opcode, self._stream.read(remaining)
                return
            content = self._stream.read(length)
            yield opcode, content
            self.checksum = 0 if opcode == Opcode.DATA_END else self.checksum_with(content)
            if opcode == Opcode.FOOTER:
                self._end()

    def checksum_with(self, content: bytes) -> int:
        """Return the checksum up to the end of some first bytes of the present record's content."""
        return crc32(content, crc32(self._head, self.checksum))

    def _end(self) -> None:
        rest = self._size - self._stream.tell()
        magic = self._stream.read(min(rest, len(MAGIC)))
        self.ended = magic == MAGIC and rest == len(MAGIC)
        if not self.ended:
            if rest >= len(MAGIC) or not MAGIC.startswith(magic):
                raise DamageError("the file does not end where its footer states")
            self.cut = True
