"""Messages of an MCAP file in the order of the file, checked, up to its end or to a damage.

MCAP is the container format of ROS 2 recordings [mcap.dev/spec]. A file is a sequence of records,
each an opcode (its kind), a length and a content: a header, then the data section (messages, in
compressed chunks or alone, with the schemas and channels that they refer to), then an index, and a
footer with a checksum of the index.

`McapScan.messages` reads record by record (frames.py), unpacks chunks, and compares checksums. It
needs neither footer nor index, so the file of a killed run, which lacks both and may end within a
record, is read like a complete one. Our own files must have all checksums (`is_ours`), foreign ones
need none. Any damage ends in a DamageError of one line; test_damage puts an error in each place.
Data may unpack only to a limited size (`room`), so that a small file cannot fill the memory.
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

# Layouts of MCAP's specification. Head of a message: channel, sequence, log and publish time.
_MESSAGE_HEAD = struct.Struct("<HIQQ")
SEQUENCE = 0xFFFFFFFF  # mask of a sequence number, a uint32 that wraps around
# Head of a chunk: start and end time, unpacked size, checksum, length of the compression's name.
_CHUNK_HEAD = struct.Struct("<QQQII")
_LENGTH = struct.Struct("<Q")  # length of the chunk's records, after the compression's name
_INDEX_HEAD = struct.Struct("<HI")  # channel, number of bytes that follow
_CHECKSUM_SIZE = 4  # bytes of a CRC-32
OPCODES = frozenset(int(opcode) for opcode in Opcode)

# Bytes to which every file may unpack, since small files of few states pack better than
# _LARGEST_RATIO. 64 MiB are no burden; any size from 10 MB to 1 GB would do.
_SMALLEST_ROOM = 1 << 26
# Unpacked over packed size of a larger file at most: four times the 50 of a robot at rest.
_LARGEST_RATIO = 200


class Message(NamedTuple):
    """A message: channel, log time [ns] and bytes."""

    channel: int
    time_ns: int
    data: bytes


@dataclass
class McapScan:
    """Reader of one MCAP file; its fields are filled as the messages are read.

    Args:
        path: of the file.

    Attributes:
        schemas: message types by number.
        channels: topics by number.
        metadata: further texts that the writer stored, by name.
        counts: number of messages by channel.
        is_ours: whether the file states that our recorder wrote it, and so must have all checksums.
        data_complete: whether the data section was read to its end and matched its checksum.
        complete: whether the footer was reached without damage.
        damage: what is damaged, and the offset at which reading ended; "" for no damage.
        unchecked: number of messages that no checksum covers.
        lacks_data_checksum: whether the data section ends without a checksum.
        room: bytes to which compressed data may still unpack.
    """

    path: Path
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    is_ours: bool = False
    data_complete: bool = False
    complete: bool = False
    damage: str = ""
    unchecked: int = 0
    lacks_data_checksum: bool = False
    room: int = 0

    def __post_init__(self) -> None:
        size = check_file(self.path, sys.maxsize).stat().st_size
        self.room = max(_SMALLEST_ROOM, _LARGEST_RATIO * size)

    def spend(self, size: int) -> None:
        """Subtract the size of unpacked data [bytes] from `room`.

        Raises:
            AccordError: if nothing is left: the file unpacks to more than recorded data do.
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
    def rosbag2_metadata(self) -> dict[str, Any]:
        """Metadata that rosbag2 stores in the file itself; known after reading."""
        return load_yaml(self.metadata.get("rosbag2", {}).get("serialized_metadata", ""))

    def _read(self, records: Frames) -> Iterator[Message]:
        """Yield the messages of all records; a damage is stored with its place."""
        try:
            for opcode, content in records:
                try:
                    yield from self._read_record(records, opcode, content)
                except (McapError, struct.error, ValueError):
                    raise DamageError("a record cannot be read") from None
            self.complete = records.ended
        except DamageError as damage:
            self.damage = f"at byte {records.offset}: {damage}"

    def _read_record(self, records: Frames, opcode: int, content: bytes) -> Iterator[Message]:
        """Yield the messages of a top-level record, and store what else it states."""
        stream = ReadDataStream(BytesIO(content))
        if records.cut:
            yield from self._read_cut_record(records, opcode, content)
        elif opcode == Opcode.FOOTER:
            self._check_index(Footer.read(stream), records, content)
        elif self.data_complete:  # behind the data section: the index
            if opcode == Opcode.STATISTICS and self.lacks_data_checksum:
                self._check_count(Statistics.read(stream).message_count)
        elif opcode == Opcode.HEADER:
            self.is_ours = Header.read(stream).library.startswith(LIBRARY)
        elif opcode == Opcode.CHUNK:
            raw, has_checksum = self._open_chunk(Chunk.read(stream), len(content))
            yield from self._messages_in(raw, checked=has_checksum)
        elif opcode == Opcode.DATA_END:
            self._check_data(DataEnd.read(stream).data_section_crc, records)
        else:
            yield from self._read_inner_record(opcode, content, checked=False)

    def _read_cut_record(self, records: Frames, opcode: int, content: bytes) -> Iterator[Message]:
        """Yield the messages of a chunk that was cut; a cut index must agree with its length."""
        if opcode == Opcode.CHUNK and not self.data_complete:
            yield from self._cut_chunk(content, records.length)
        elif opcode == Opcode.MESSAGE_INDEX and len(content) >= _INDEX_HEAD.size:
            _, size = _INDEX_HEAD.unpack_from(content)
            if records.length != _INDEX_HEAD.size + size:
                raise DamageError("an index does not hold together")

    def _read_inner_record(
        self, opcode: int, content: bytes, *, checked: bool
    ) -> Iterator[Message]:
        """Yield or store a record of a kind that occurs in chunks and outside of them."""
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
        elif opcode == 0 or (self.is_ours and opcode not in OPCODES):
            raise DamageError(f"there is no record of kind {opcode}")

    def _message(self, content: bytes) -> Message:
        """Return a message; its sequence number shows whether others are missing."""
        channel, sequence, time_ns, _ = _MESSAGE_HEAD.unpack_from(content)
        if channel not in self.channels:
            raise DamageError(f"a message is of channel {channel}, which is not there")
        self.counts[channel] += 1
        if self.is_ours and sequence != self.counts[channel] & SEQUENCE:
            topic = self.channels[channel].topic
            raise DamageError(f"messages of {topic} are missing or out of order")
        return Message(channel, time_ns, content[_MESSAGE_HEAD.size :])

    def _messages_in(self, raw: bytes, *, checked: bool) -> Iterator[Message]:
        """Yield the messages of the records of a chunk, unpacked."""
        offset = 0
        while offset < len(raw):
            opcode, length = RECORD.unpack_from(raw, offset)
            offset += RECORD.size + length
            if offset > len(raw):
                raise DamageError("a record goes beyond the end of its chunk")
            content = raw[offset - length : offset]
            yield from self._read_inner_record(opcode, content, checked=checked)

    def _open_chunk(self, chunk: Chunk, length: int) -> tuple[bytes, bool]:
        """Return the unpacked records of a chunk, and whether a checksum covers them.

        Args:
            chunk: the record.
            length: of its content [bytes].

        Raises:
            DamageError: if its lengths contradict each other, or it does not match its checksum.
        """
        stated_length = _CHUNK_HEAD.size + len(chunk.compression) + _LENGTH.size + len(chunk.data)
        if chunk.compression not in COMPRESSIONS or length != stated_length:
            raise DamageError("a chunk does not hold together")
        size = chunk.uncompressed_size
        try:
            if chunk.compression:
                self.spend(size)
            raw = unpack(chunk.compression, chunk.data, size)
        except (RuntimeError, ZstdError) as error:
            raise DamageError(f"a chunk cannot be decompressed ({error})") from None
        checksum = chunk.uncompressed_crc
        if len(raw) != size or ((checksum or self.is_ours) and crc32(raw) != checksum):
            raise DamageError("a chunk does not match its checksum")
        return raw, bool(checksum)

    def _cut_chunk(self, content: bytes, length: int) -> Iterator[Message]:
        """Yield the complete messages of a chunk that was cut; zstd unpacks its complete blocks.

        Raises:
            DamageError: if the chunk is shorter than it states.
        """
        try:
            _, _, size, _, name_length = _CHUNK_HEAD.unpack_from(content)
            name_end = _CHUNK_HEAD.size + name_length
            compression = content[_CHUNK_HEAD.size : name_end].decode()
            (packed_size,) = _LENGTH.unpack_from(content, name_end)
        except (struct.error, ValueError):
            return
        data_offset = name_end + _LENGTH.size
        if packed_size != length - data_offset or (not compression and size != packed_size):
            raise DamageError("a chunk does not hold together")
        raw = content[data_offset:]
        try:
            if compression:
                self.spend(size)
                raw = unzstd(raw, size)
            yield from self._messages_in(raw, checked=False)
        except (DamageError, McapError, ZstdError, struct.error, ValueError):
            return  # the chunk was cut here

    def _check_count(self, stated_count: int) -> None:
        """Check the number of messages by that in the index, for data without a checksum."""
        read_count = self.counts.total()
        if stated_count != read_count:
            self.data_complete = False
            raise DamageError(f"{stated_count} messages are counted, {read_count} are there")

    def _check_data(self, checksum: int, records: Frames) -> None:
        """Check the data section by its checksum, which is 0 where there is none."""
        if (checksum or self.is_ours) and checksum != records.checksum:
            raise DamageError("the data do not match their checksum")
        self.data_complete = True
        self.lacks_data_checksum = not checksum
        if checksum:
            self.unchecked = 0

    def _check_index(self, footer: Footer, records: Frames, content: bytes) -> None:
        """Check the index by the checksum in the footer."""
        if not self.data_complete:
            raise DamageError("the file ends before its data do")
        expected = records.checksum_with(content[:-_CHECKSUM_SIZE])
        if (footer.summary_crc or self.is_ours) and footer.summary_crc != expected:
            raise DamageError("the index does not match its checksum")
