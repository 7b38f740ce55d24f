"""The outermost layer of an MCAP file: records one after the other, and a running checksum.

MCAP is the container format of ROS 2 recordings. A record is an opcode (its kind), a length and a
content, as MCAP's specification [mcap.dev/spec] fixes; its layout inside is read in records.py.
`Frames` iterates over the records of a file. A file that was cut, such as that of a killed run,
ends within a record or without a footer; any other irregular end is damage.
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
    """A file is damaged; the text says what is wrong."""


class Frames:
    """Iterator over opcode and content of the records of a file.

    Args:
        stream: of the file, behind the magic bytes at its start.

    Attributes:
        offset: of the current record [bytes].
        checksum: CRC-32 of everything before the current record; it restarts after the end of the
            data section.
        cut: whether the file was cut within the current record, which is the last one.
        length: length of the content [bytes], as the head of the current record states it.
        ended: whether the last record was the footer, followed by the magic bytes.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = stream.seek(0, 2)
        stream.seek(max(self._size - len(MAGIC), len(MAGIC)))
        self._is_closed = stream.read() == MAGIC  # the file ends as one that was closed
        self._record_head = b""  # opcode and length of the current record
        self.offset = stream.seek(len(MAGIC))
        self.checksum = crc32(MAGIC)
        self.cut = False
        self.length = 0
        self.ended = False

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield opcode and content of each record, and of a cut one the bytes that remain.

        Raises:
            DamageError: if a record goes beyond the end of a file that was closed.
        """
        while not self.ended:
            self.offset = self._stream.tell()
            self._record_head = self._stream.read(RECORD.size)
            remaining = self._size - self.offset - RECORD.size
            opcode, length = RECORD.unpack(self._record_head) if remaining >= 0 else (0, 0)
            self.length = length
            if length > remaining:
                if self._is_closed:
                    raise DamageError("a record goes beyond the end of the file")
                self.cut = True
                if remaining >= 0:
                    yield opcode, self._stream.read(remaining)
                return
            content = self._stream.read(length)
            yield opcode, content
            self.checksum = 0 if opcode == Opcode.DATA_END else self.checksum_with(content)
            if opcode == Opcode.FOOTER:
                self._check_end()

    def checksum_with(self, content: bytes) -> int:
        """Return the checksum up to the end of `content`, the first bytes of the current record."""
        return crc32(content, crc32(self._record_head, self.checksum))

    def _check_end(self) -> None:
        """Check that only the magic bytes follow the footer."""
        remaining = self._size - self._stream.tell()
        magic = self._stream.read(min(remaining, len(MAGIC)))
        self.ended = magic == MAGIC and remaining == len(MAGIC)
        if not self.ended:
            if remaining >= len(MAGIC) or not MAGIC.startswith(magic):
                raise DamageError("the file does not end where its footer states")
            self.cut = True
