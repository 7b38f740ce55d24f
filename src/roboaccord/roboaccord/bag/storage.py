"""Writer of rosbag2 files for the recorder: fast, checked, flushed on demand, with latched topics.

`RunWriter` writes the bag, `FastMcapWriter` its MCAP file. They override private parts of rosbags
in two ways. rosbags writes each field of a message's header separately; here the header is packed
at once, which makes the recorder a third cheaper. And rosbags leaves all checksums of MCAP at zero
("not available"); here chunks, data section and summary have theirs, and the messages of a channel
are numbered. unfinished.yaml has the metadata of a bag in progress, messages.json definitions and
hashes of the recorded types, since rosbags takes 0.2 s to load all types that it knows.

The layout is fixed, byte for byte, by MCAP and rosbags (test_bag compares). setup.cfg bounds the
version of rosbags (<0.12): check these classes with each new version.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import yaml
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Chunk, ChunkIndex, Header
from rosbags import interfaces as rosbag
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.enums import CompressionMode
from rosbags.rosbag2.metadata import dump_qos_v9
from rosbags.rosbag2.storage_mcap import McapWriter, PendingChunk

from roboaccord.bag.frames import MAGIC, RECORD
from roboaccord.bag.records import SEQUENCE
from roboaccord.bag.run_facts import distribution_version
from roboaccord.bag.topics import LIBRARY, Topic
from roboaccord.bag.typestore import typestore
from roboaccord.contract.files import drafting, writing

# Head of a message's record: opcode and length, then channel, sequence, log and publish time.
_MESSAGE_HEAD = struct.Struct("<BQHIQQ")
_CHUNK_SIZE = 1 << 20  # bytes, as in rosbags
_CRC = struct.Struct("<I")  # checksum
_OFFSET = struct.Struct("<Q")  # in the file
# Head of an index's record: opcode and length, then channel and number of bytes that follow.
_INDEX_HEAD = struct.Struct("<BQHI")
_DATA_END = RECORD.size + _CRC.size  # bytes of the record that ends the data section
_FOOTER = 20  # bytes of the footer's content: two offsets of 8 and a checksum of 4
_FOREVER = rosbag.QosTime(9223372036, 854775807)  # RMW_DURATION_INFINITE
_LATCHED = rosbag.Qos(
    rosbag.QosHistory.KEEP_LAST,
    1,
    rosbag.QosReliability.RELIABLE,
    rosbag.QosDurability.TRANSIENT_LOCAL,
    _FOREVER,
    _FOREVER,
    rosbag.QosLiveliness.AUTOMATIC,
    _FOREVER,
    False,
)
Message = tuple[rosbag.Connection, int, bytes | memoryview]  # connection, time [ns] and data


def _record(record: Header | Chunk | ChunkIndex) -> bytearray:
    """Return the bytes of a record."""
    builder = RecordBuilder()
    record.write(builder)
    return bytearray(builder.end())


class _Section(BytesIO):
    """Buffer for a part of a file that is completed before it is written.

    `tell` returns the offset in the file, from which rosbags computes the offsets that it writes.
    """

    def __init__(self, start: int) -> None:
        super().__init__()
        self._start = start

    def tell(self) -> int:
        """Return the offset in the file."""
        return self._start + super().tell()

    def close(self) -> None:
        """Do nothing: the content is still to be written."""


@cache
def _definitions() -> dict[str, dict[str, Any]]:
    """Return definition and hash of each message type of a run, as arguments of `Writer`."""
    text = files(__package__).joinpath("messages.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


class FastMcapWriter(McapWriter):
    """Writer of an MCAP file with packed headers, all checksums, and chunks compressed by zstd.

    That chunks are compressed is stated in the file and not in metadata.yaml.
    """

    bio: Any  # the file, or the section of it that is being filled

    def __init__(self, path: Path, _: CompressionMode) -> None:
        super().__init__(path, CompressionMode.STORAGE)
        header = Header("ros2", f"{LIBRARY}-{distribution_version('roboaccord')}")
        self.bio = self.bio.detach()  # unbuffered
        self.bio.seek(0)
        self.bio.truncate()
        self._crc = 0
        self._emit(MAGIC + _record(header))

    def write(
        self, connection: rosbag.Connection, timestamp: int, data: bytes | memoryview
    ) -> None:
        """Append a message to the pending chunk."""
        self.write_all([(connection, timestamp, data)])

    def write_all(self, messages: Iterable[Message]) -> None:
        """Append messages to the pending chunk; one that is full is written, and the next begun."""
        counts, pack, opcode = self.channel_stats, _MESSAGE_HEAD.pack, int(Opcode.MESSAGE)
        fixed_length = _MESSAGE_HEAD.size - RECORD.size  # of a record's content, without the data
        chunk, offset = self.chunk, self.chunk.bio.tell()
        parts: list[bytes | memoryview] = []
        first, last = chunk.message_start_time, chunk.message_end_time
        for connection, time, data in messages:
            # Head and data of a message; the index has its time and its offset in the chunk.
            channel, length = connection.id, fixed_length + len(data)
            chunk.msgs[channel].append((time, offset))
            counts[channel] += 1
            sequence = counts[channel] & SEQUENCE
            parts += pack(opcode, length, channel, sequence, time, time), data
            offset += RECORD.size + length
            first = time if time < first else first
            last = time if time > last else last
            if offset > _CHUNK_SIZE:
                self._append(parts, first, last)
                self.close_chunk()
                chunk, offset, parts = self.chunk, 0, []
                first, last = chunk.message_start_time, chunk.message_end_time
        self._append(parts, first, last)

    def _append(self, parts: Sequence[bytes | memoryview], first: int, last: int) -> None:
        """Append bytes to the pending chunk, whose times are now `first` to `last` [ns]."""
        if parts:
            self.chunk.bio.write(b"".join(parts))
            self.chunk.message_start_time, self.chunk.message_end_time = first, last
            self.message_start_time = min(first, self.message_start_time)
            self.message_end_time = max(last, self.message_end_time)

    def close_chunk(self) -> None:
        """Write the pending chunk with its checksum, and its index."""
        chunk, content = self.chunk, self.chunk.bio.getvalue()
        first, last = chunk.message_start_time, chunk.message_end_time
        packed = self.compressor(content)
        # The chunk, and behind it an index of times and offsets for each channel.
        start = self.bio.tell()
        data = _record(Chunk(self.compression, packed, last, first, crc32(content), len(content)))
        chunk_length, index_offsets = len(data), dict[int, int]()
        for channel, messages in chunk.msgs.items():
            index_offsets[channel] = start + len(data)
            index = np.array(messages, "<u8").tobytes()
            length = _INDEX_HEAD.size - RECORD.size + len(index)
            data += _INDEX_HEAD.pack(Opcode.MESSAGE_INDEX, length, channel, len(index)) + index
        # The entry of the chunk in the summary.
        chunk_index = ChunkIndex(
            chunk_length=chunk_length,
            chunk_start_offset=start,
            compression=self.compression,
            compressed_size=len(packed),
            message_end_time=last,
            message_index_length=len(data) - chunk_length,
            message_index_offsets=index_offsets,
            message_start_time=first,
            uncompressed_size=len(content),
        )
        summary = BytesIO()
        summary.write(_record(chunk_index)[RECORD.size :])  # rosbags finds its size by `tell`
        self.chunks.append(summary)
        self._emit(memoryview(data))
        self.chunk = PendingChunk(2**63 - 1, 0, BytesIO(), defaultdict(list))

    def close(self, version: int, metadata: str) -> None:
        """Write the pending chunk, the summary and the footer, with their checksums."""
        if self.chunk.bio.tell():
            self.close_chunk()
        # rosbags writes summary and footer into a section, into which the checksums are then put.
        stream = self.bio
        self.bio = section = _Section(stream.tell())
        start = section.tell()
        try:
            super().close(version, metadata)
        finally:
            self.bio = stream
        data = section.getbuffer()
        footer_offset = len(data) - len(MAGIC) - _FOOTER
        summary_offset = _OFFSET.unpack_from(data, footer_offset)[0] - start
        # Checksum of the data section: of all before its end record; then that of the summary.
        data_checksum = crc32(data[: summary_offset - _DATA_END], self._crc)
        _CRC.pack_into(data, summary_offset - _CRC.size, data_checksum)
        checksum_offset = footer_offset + _FOOTER - _CRC.size
        _CRC.pack_into(data, checksum_offset, crc32(data[summary_offset:checksum_offset]))
        self._emit(data)
        self.bio.close()

    def _emit(self, data: bytes | memoryview) -> None:
        """Write a part of the file, completely or not at all."""
        self._crc = crc32(data, self._crc)
        start, remaining = self.bio.tell(), memoryview(data)
        try:
            while remaining:
                remaining = remaining[self.bio.write(remaining) :]
        except OSError:
            self.bio.truncate(start)
            raise


class RunWriter(Writer):
    """Writer of rosbag2 bags in the MCAP format that can be flushed at any time."""

    STORAGE_PLUGINS: Mapping[StoragePlugin, Any] = {StoragePlugin.MCAP: FastMcapWriter}

    def write_all(self, messages: Sequence[Message]) -> None:
        """Append messages, whose topics must have been added."""
        storage = self.storage
        assert isinstance(storage, FastMcapWriter)
        storage.write_all(messages)
        for connection, time, _ in messages:
            self.counts[connection.id] += 1
            if time < self.min_timestamp:
                self.min_timestamp = time
            if time > self.max_timestamp:
                self.max_timestamp = time

    def flush(self) -> None:
        """Write the pending chunk, and pass it to the operating system."""
        storage = self.storage
        assert isinstance(storage, FastMcapWriter)
        if storage.chunk.msgs:
            storage.close_chunk()

    def close(self) -> None:
        """Write what is pending, and then metadata.yaml, in place of the preliminary one."""
        with drafting(self.path / "metadata.yaml") as self.metapath:
            super().close()

    def abort(self) -> None:
        """Close the file without an index; what was written remains."""
        super().abort()
        self.metapath.with_suffix(".yaml.tmp").unlink(missing_ok=True)

    def add_topic(self, topic: Topic) -> rosbag.Connection:
        """Add a topic of a type that rosbags knows."""
        profiles = [_LATCHED] if topic.latched else []
        definition = _definitions().get(topic.kind) or {"typestore": typestore()}
        return self.add_connection(
            topic.name, topic.kind, offered_qos_profiles=profiles, **definition
        )

    def write_unfinished(self, robot: str) -> None:
        """Write the preliminary metadata.yaml of a bag in progress, with all counts 0.

        Args:
            robot: name of the robot.

        Raises:
            AccordError: if the file cannot be written.
        """
        text = files(__package__).joinpath("unfinished.yaml").read_text(encoding="utf-8")
        data, file = yaml.safe_load(text), f"{self.path.name}.mcap"
        information = data["rosbag2_bagfile_information"]
        information["relative_file_paths"] = [information["files"][0]["path"]] = [file]
        information["custom_data"]["robot"] = robot
        for connection in self.connections:
            ext: Any = connection.ext
            topic = {
                "name": connection.topic,
                "type": connection.msgtype,
                "serialization_format": ext.serialization_format,
                "offered_qos_profiles": dump_qos_v9(ext.offered_qos_profiles),
                "type_description_hash": connection.digest,
            }
            entry = {"topic_metadata": topic, "message_count": 0}
            information["topics_with_message_count"].append(entry)
        with writing(self.path / "metadata.yaml") as draft:
            draft.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
