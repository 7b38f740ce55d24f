"""Messages of an MCAP file in the order of the file, checked, up to its end or to a damage.

Structures, opcodes and checksums are fixed by MCAP's specification. `_FLOOR` and `_RATIO`, the
limits to which a file may unpack, may be tuned. Any damage ends in a DamageError with one line;
test_damage puts an error in each place. Our own files must have all checksums (`own`), foreign ones
need none.

A killed run leaves a file without footer and index, and perhaps with a cut record. Reading record
by record needs neither, so complete and unfinished files are read alike.
"""

from __future__ import annotations

import struct
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, DataEnd, Footer, Header, Metadata, Schema, Statistics
from zstandard import ZstdError

from roboaccord.bag.frames import MAGIC, RECORD, DamageError, Frames
from roboaccord.bag.metadata import load_yaml
from roboaccord.bag.topics import LIBRARY
from roboaccord.bag.unpacking import COMPRESSIONS, unpack, unzstd
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_file

_MESSAGE_HEAD = struct.Struct("<HIQQ")
SEQUENCE = 0xFFFFFFFF  # mask of a sequence number, an uint32 that wraps around
_CHUNK_FIXED = 8 + 8 + 8 + 4 + 4 + 8  # bytes of a chunk besides its compression and records
_CHUNK_HEAD = struct.Struct("<QQQII")  # times, size, checksum, length of the compression's name
_PLACE = struct.Struct("<Q")  # length of the records
_INDEX_HEAD = struct.Struct("<HI")  # channel, bytes that follow
_CHECKSUM = 4  # bytes
_FLOOR = 1 << 26  # bytes to which any file may unpack
_RATIO = 200  # bytes to which each byte of a larger file may unpack: a robot at rest needs 50
KNOWN = frozenset(int(opcode) for opcode in Opcode)


class Message(NamedTuple):
    """Message: channel, log time [ns] and bytes."""

    channel: int
    time_ns: int
    data: bytes


@dataclass
class McapScan:
    """Reader of one MCAP file; its fields are filled as the messages are read.

    Args:
        path: of the file.
    """

    path: Path
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    """Number of messages by channel."""
    own: bool = False
    """Whether the file states that our recorder wrote it, which writes all checksums."""
    whole: bool = False
    """Whether the data section was read to its end and matched its checksum."""
    complete: bool = False
    """Whether the footer was reached without damage."""
    damage: str = ""
    """Damage and its place, where reading ended."""
    unchecked: int = 0
    """Number of messages that no checksum covers."""
    unchecked_whole: bool = False
    """Whether the data section ends without a checksum."""
    room: int = 0
    """Bytes to which compressed data may still unpack."""

    def __post_init__(self) -> None:
        self.room = max(_FLOOR, _RATIO * check_file(self.path, sys.maxsize).stat().st_size)

    def spend(self, size: int) -> None:
        """Subtract the size of unpacked data [bytes] from `room`.

        Raises:
            AccordError: if that is far more than recorded data unpack to.
        """
        self.room -= size
        if self.room < 0:
            raise AccordError(f"{self.path} unpacks to far more than recorded data do")

    def messages(self) -> Iterator[Message]:
        """Yield every message that can be read and trusted, in the order of the file.

        Raises:
            AccordError: if it cannot be opened, or is not an MCAP file.
        """
        try:
            with self.path.open("rb") as stream:
                if stream.read(len(MAGIC)) != MAGIC:
                    raise AccordError(f"{self.path} is not a bag: it is not an MCAP file")
                yield from self._read(Frames(stream))
        except OSError as error:
            raise AccordError(f"{self.path} is not a bag: {error.strerror}") from None

    @cached_property
    def of_rosbag2(self) -> dict[str, Any]:
        """Metadata that rosbag2 stores in the file itself; known after reading."""
        return load_yaml(self.metadata.get("rosbag2", {}).get("serialized_metadata", ""))

    def _read(self, records: Frames) -> Iterator[Message]:
        try:
            for opcode, content in records:
                try:
                    yield from self._take(records, opcode, content)
                except (McapError, struct.error, ValueError):
                    raise DamageError("a record cannot be read") from None
            self.complete = records.ended
        except DamageError as damage:
            self.damage = f"at byte {records.at}: {damage}"

    def _take(self, records: Frames, opcode: int, content: bytes) -> Iterator[Message]:
        stream = ReadDataStream(BytesIO(content))
        if records.cut:
            if opcode == Opcode.CHUNK and not self.whole:
                yield from self._cut_chunk(content, records.length)
            elif (
                opcode == Opcode.MESSAGE_INDEX
                and len(content) >= (head := _INDEX_HEAD.size)
                and records.length != head + _INDEX_HEAD.unpack_from(content)[1]
            ):
                raise DamageError("an index does not hold together")
        elif opcode == Opcode.FOOTER:
            self._end(Footer.read(stream), records, content)
        elif self.whole:
            if opcode == Opcode.STATISTICS and self.unchecked_whole:
                count, present = Statistics.read(stream).message_count, self.counts.total()
                if count != present:
                    self.whole = False
                    raise DamageError(f"{count} messages are counted, {present} are there")
        elif opcode == Opcode.HEADER:
            self.own = Header.read(stream).library.startswith(LIBRARY)
        elif opcode == Opcode.CHUNK:
            raw, checked = self._open_chunk(Chunk.read(stream), len(content))
            yield from self._records(raw, checked=checked)
        elif opcode == Opcode.DATA_END:
            self._end_data(DataEnd.read(stream).data_section_crc, records)
        else:
            yield from self._record(opcode, content, checked=False)

    def _record(self, opcode: int, content: bytes, *, checked: bool) -> Iterator[Message]:
        """Take a record of a kind that occurs in chunks and outside."""
        stream = ReadDataStream(BytesIO(content))
        if opcode == Opcode.MESSAGE:
            self.unchecked += not checked
            yield self._message(content)
        elif opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            self.schemas[schema.id] = schema
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            self.channels[channel.id] = channel
        elif opcode == Opcode.METADATA:
            metadata = Metadata.read(stream)
            self.metadata[metadata.name] = metadata.metadata
        elif opcode == 0 or (self.own and opcode not in KNOWN):
            raise DamageError(f"there is no record of kind {opcode}")

    def _message(self, content: bytes) -> Message:
        channel, sequence, time_ns, _ = _MESSAGE_HEAD.unpack_from(content)
        if channel not in self.channels:
            raise DamageError(f"a message is of channel {channel}, which is not there")
        self.counts[channel] += 1
        if self.own and sequence != self.counts[channel] & SEQUENCE:
            topic = self.channels[channel].topic
            raise DamageError(f"messages of {topic} are missing or out of order")
        return Message(channel, time_ns, content[_MESSAGE_HEAD.size :])

    def _records(self, raw: bytes, *, checked: bool) -> Iterator[Message]:
        at = 0
        while at < len(raw):
            opcode, length = RECORD.unpack_from(raw, at)
            at += RECORD.size + length
            if at > len(raw):
                raise DamageError("a record goes beyond the end of its chunk")
            yield from self._record(opcode, raw[at - length : at], checked=checked)

    def _open_chunk(self, chunk: Chunk, length: int) -> tuple[bytes, bool]:
        """Return the unpacked records of a chunk, and whether a checksum covers them."""
        if chunk.compression not in COMPRESSIONS or length != _CHUNK_FIXED + len(
            chunk.compression
        ) + len(chunk.data):
            raise DamageError("a chunk does not hold together")
        size = chunk.uncompressed_size
        try:
            if chunk.compression:
                self.spend(size)
            raw = unpack(chunk.compression, chunk.data, size)
        except (RuntimeError, ZstdError) as error:
            raise DamageError(f"a chunk cannot be decompressed ({error})") from None
        checksum = chunk.uncompressed_crc
        if len(raw) != size or ((checksum or self.own) and crc32(raw) != checksum):
            raise DamageError("a chunk does not match its checksum")
        return raw, bool(checksum)

    def _cut_chunk(self, content: bytes, length: int) -> Iterator[Message]:
        """Yield the whole messages of a chunk that was cut; zstd unpacks its whole blocks.

        Raises:
            DamageError: if the chunk is shorter than it states.
        """
        try:
            _, _, size, _, letters = _CHUNK_HEAD.unpack_from(content)
            compression = content[_CHUNK_HEAD.size : _CHUNK_HEAD.size + letters].decode()
            at = _CHUNK_HEAD.size + letters + _PLACE.size
            (packed,) = _PLACE.unpack_from(content, at - _PLACE.size)
        except (struct.error, ValueError):
            return
        if packed != length - at or (not compression and size != packed):
            raise DamageError("a chunk does not hold together")
        raw = content[at:]
        try:
            if compression:
                self.spend(size)
                raw = unzstd(raw, size)
            yield from self._records(raw, checked=False)
        except (DamageError, McapError, ZstdError, struct.error, ValueError):
            return  # the chunk was cut here

    def _end_data(self, checksum: int, records: Frames) -> None:
        if (checksum or self.own) and checksum != records.checksum:
            raise DamageError("the data do not match their checksum")
        self.whole, self.unchecked_whole = True, not checksum
        if checksum:
            self.unchecked = 0

    def _end(self, footer: Footer, records: Frames, content: bytes) -> None:
        if not self.whole:
            raise DamageError("the file ends before its data do")
        expected = records.checksum_with(content[:-_CHECKSUM])
        if (footer.summary_crc or self.own) and footer.summary_crc != expected:
            raise DamageError("the index does not match its checksum")
