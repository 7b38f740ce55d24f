"""MCAP records in the order of the file, checked, up to where the file ends or is damaged.

Structures, opcodes and checksums are fixed by MCAP's specification. `_FLOOR` and `_RATIO`, how far
a file unpacks at most, may be tuned. Every way a file can be damaged ends in a DamageError with one
line; test_damage puts an error in each place. Our own files must have all checksums (`own`),
foreign ones need none: keep the two apart.

A run that was killed leaves a file without footer and index, its last record perhaps cut. Reading
record by record needs neither, so that complete and unfinished files are read alike.
The outermost layer of an MCAP file is records one behind the other, and a running checksum.
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
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

import yaml
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, DataEnd, Footer, Header, Metadata, Schema, Statistics
from zstandard import ZstdDecompressor, ZstdError, frame_content_size

from roboaccord.bag.topics import LIBRARY
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_file
from roboaccord.description.yaml_files import parse_record

_MESSAGE_HEAD = struct.Struct("<HIQQ")
SEQUENCE = 0xFFFFFFFF  # it is an uint32, and goes round
_CHUNK_FIXED = 8 + 8 + 8 + 4 + 4 + 8  # bytes of a chunk beside its compression and its records
_CHUNK_HEAD = struct.Struct("<QQQII")  # times, size, checksum, length of the compression's name
_PLACE = struct.Struct("<Q")  # length of the records
_INDEX_HEAD = struct.Struct("<HI")  # channel, bytes that follow
_COMPRESSIONS = ("", "lz4", "zstd")
_CHECKSUM = 4  # bytes
_FLOOR, _RATIO = 1 << 26, 200  # bytes that any file may unpack to; of a large one per own byte
MAGIC = b"\x89MCAP0\r\n"
RECORD = struct.Struct("<BQ")  # opcode and length
KNOWN = frozenset(int(opcode) for opcode in Opcode)


def load_yaml(text: str) -> dict[str, Any]:
    """Return the mapping that a text states, nothing where it states none."""
    try:
        data = parse_record(text)
    except yaml.YAMLError:
        return {}
    return data if isinstance(data, dict) else {}


def unzstd(data: bytes, most: int) -> bytes:
    """Return what a frame of zstd holds, its whole blocks where it was cut, up to a size [bytes].

    Raises:
        ZstdError: if it is none, or damaged.
    """
    stated = frame_content_size(data)
    size = most if stated < 0 else min(stated, most)
    raw: bytes = ZstdDecompressor().stream_reader(data).read(size)
    return raw


class Message(NamedTuple):
    """Hold one message: its channel, log time [ns] and bytes."""

    channel: int
    time_ns: int
    data: bytes


@dataclass
class McapScan:
    """Read one MCAP file; everything else fills as the messages are read.

    Args:
        path: of the file.
    """

    path: Path
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    """Messages by channel."""
    own: bool = False
    """Whether the file states that our recorder wrote it, whose checksums are all there."""
    whole: bool = False
    """Whether the data section was read to its end, and matched its checksum."""
    complete: bool = False
    """Whether the footer was reached, and nothing is damaged."""
    damage: str = ""
    """What is damaged, and where; reading ended there."""
    unchecked: int = 0
    """Messages that no checksum covers."""
    unchecked_whole: bool = False
    """Whether the data section ends without a checksum."""
    room: int = 0
    """Bytes that compressed data may still unpack to: a robot at rest is packed by 50."""

    def __post_init__(self) -> None:
        self.room = max(_FLOOR, _RATIO * check_file(self.path, sys.maxsize).stat().st_size)

    def spend(self, size: int) -> None:
        """Take note that compressed data unpack to a size [bytes].

        Raises:
            AccordError: if that is far more than recorded data can.
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
        """The metadata that rosbag2 keeps in the file itself; to be asked for after reading."""
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
                count, there = Statistics.read(stream).message_count, self.counts.total()
                if count != there:
                    self.whole = False
                    raise DamageError(f"{count} messages are counted, {there} are there")
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
        """Take a record of those that stand in chunks and outside."""
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
        """Return the records of a chunk, and whether a checksum covers them."""
        if chunk.compression not in _COMPRESSIONS or length != _CHUNK_FIXED + len(
            chunk.compression
        ) + len(chunk.data):
            raise DamageError("a chunk does not hold together")
        size = chunk.uncompressed_size
        try:
            raw = self._unpack(chunk)
        except (RuntimeError, ZstdError) as error:
            raise DamageError(f"a chunk cannot be decompressed ({error})") from None
        checksum = chunk.uncompressed_crc
        if len(raw) != size or ((checksum or self.own) and crc32(raw) != checksum):
            raise DamageError("a chunk does not match its checksum")
        return raw, bool(checksum)

    def _unpack(self, chunk: Chunk) -> bytes:
        """Return the records of a chunk, one byte more at most than it states."""
        if not chunk.compression:
            return chunk.data
        size = chunk.uncompressed_size
        self.spend(size)
        if chunk.compression == "zstd":
            return unzstd(chunk.data, size + 1)
        from lz4.frame import LZ4FrameDecompressor

        raw: bytes = LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
        return raw

    def _cut_chunk(self, content: bytes, length: int) -> Iterator[Message]:
        """Yield the whole messages of a chunk that was cut; zstd gives its whole blocks.

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
            return  # there it was cut

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


class DamageError(Exception):
    """State what is wrong with a file."""


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
        """Of everything before the present record; restarts behind the end of the data."""
        self.cut = False
        """Whether the present record is the last of a file that was cut, and short of its end."""
        self.length = 0
        """Of the content of the present record, as its header states it."""
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
                raise DamageError("the file does not end where its footer states")
            self.cut = True
