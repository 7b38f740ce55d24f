"""Writer of an MCAP file for the recorder: fast, with all checksums, in compressed chunks.

MCAP is the container format of ROS 2 recordings [mcap.dev/spec]. A file is a sequence of records:
messages in chunks, each followed by an index of its messages, then a summary with the index of all
chunks, and a footer. `FastMcapWriter` overrides private parts of the library rosbags in two ways.
rosbags writes each field of a message's header separately; here the header is packed at once, which
makes the recorder a third cheaper. And rosbags leaves all checksums of MCAP at zero ("not
available"); here chunks, data section and summary have theirs, and the messages of a channel are
numbered. records.py reads the file and checks both.

The layout is fixed, byte for byte, by MCAP and rosbags (test_bag compares). setup.cfg bounds the
version of rosbags (<0.12): check this class with each new version.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Chunk, ChunkIndex, Header
from rosbags.interfaces import Connection
from rosbags.rosbag2.enums import CompressionMode
from rosbags.rosbag2.storage_mcap import McapWriter, PendingChunk

from roboaccord.bag.frames import MAGIC, RECORD
from roboaccord.bag.records import SEQUENCE
from roboaccord.bag.run_facts import distribution_version
from roboaccord.bag.topics import LIBRARY

_CHUNK_SIZE = 1 << 20  # bytes from which on a chunk is written, as in rosbags
# Layouts of MCAP's specification. Head of a message's record: opcode and length, then channel,
# sequence, log and publish time.
_MESSAGE_HEAD = struct.Struct("<BQHIQQ")
_CRC = struct.Struct("<I")  # checksum, CRC-32
# Head of an index's record: opcode and length, then channel and number of bytes that follow.
_INDEX_HEAD = struct.Struct("<BQHI")
# Content of the footer: offsets in the file of the summary and of its own index, and checksum.
_FOOTER = struct.Struct("<QQI")
# Topic as rosbags knows it, time [ns] and data of a message that is to be written.
NewMessage = tuple[Connection, int, bytes | memoryview]


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


class FastMcapWriter(McapWriter):
    """Writer of an MCAP file with packed headers, all checksums, and chunks compressed by zstd.

    That chunks are compressed is stated in the file and not in metadata.yaml. The base class has
    `chunk`, the pending chunk, which is not in the file yet; `chunks`, the entries of the summary
    for those that are; and `channel_stats`, the number of messages of each channel.
    """

    bio: Any  # the file, or the section of it that is being filled

    def __init__(self, path: Path, _: CompressionMode) -> None:
        super().__init__(path, CompressionMode.STORAGE)
        header = Header("ros2", f"{LIBRARY}-{distribution_version('roboaccord')}")
        self.bio = self.bio.detach()  # unbuffered
        self.bio.seek(0)
        self.bio.truncate()
        self._crc = 0  # checksum of all that was written
        self._emit(MAGIC + _record(header))

    def write(self, connection: Connection, timestamp: int, data: bytes | memoryview) -> None:
        """Append a message to the pending chunk."""
        self.write_all([(connection, timestamp, data)])

    def write_all(self, messages: Iterable[NewMessage]) -> None:
        """Append messages to the pending chunk; one that is full is written, and the next begun."""
        opcode = int(Opcode.MESSAGE)
        fixed_length = _MESSAGE_HEAD.size - RECORD.size  # of a record's content, without the data
        offset = self.chunk.bio.tell()
        # Bytes and times [ns] of the messages that are not in the chunk yet.
        buffers = list[bytes | memoryview]()
        times = list[int]()
        for connection, time, data in messages:
            # Head and data of a message; the index has its time and its offset in the chunk.
            channel = connection.id
            length = fixed_length + len(data)
            self.chunk.msgs[channel].append((time, offset))
            self.channel_stats[channel] += 1
            sequence = self.channel_stats[channel] & SEQUENCE
            buffers += _MESSAGE_HEAD.pack(opcode, length, channel, sequence, time, time), data
            times.append(time)
            offset += RECORD.size + length
            if offset > _CHUNK_SIZE:
                self._append(buffers, times)
                self.close_chunk()
                buffers.clear()
                times.clear()
                offset = 0
        self._append(buffers, times)

    def _append(self, buffers: Sequence[bytes | memoryview], times: Sequence[int]) -> None:
        """Append the bytes of messages with these times [ns] to the pending chunk."""
        if times:
            self.chunk.bio.write(b"".join(buffers))
            for owner in (self.chunk, self):  # both have first and last time of their messages
                owner.message_start_time = min(owner.message_start_time, *times)
                owner.message_end_time = max(owner.message_end_time, *times)

    def close_chunk(self) -> None:
        """Write the pending chunk with its checksum, and its index."""
        chunk = self.chunk
        content = chunk.bio.getvalue()
        first, last = chunk.message_start_time, chunk.message_end_time  # times [ns]
        packed = self.compressor(content)
        # The chunk, and behind it an index of times and offsets for each channel.
        start = self.bio.tell()
        data = _record(Chunk(self.compression, packed, last, first, crc32(content), len(content)))
        chunk_length = len(data)
        index_offsets = dict[int, int]()
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
        """Write the pending chunk, the summary and the footer, with their checksums.

        rosbags writes the last part of the file into a section, in this order: metadata, the record
        that ends the data section and has its checksum, the summary, the footer, which begins with
        the summary's offset and ends with its checksum, and MAGIC. Both checksums are then put in.
        """
        if self.chunk.bio.tell():
            self.close_chunk()
        stream = self.bio
        start = stream.tell()
        section = _Section(start)
        self.bio = section
        try:
            super().close(version, metadata)
        finally:
            self.bio = stream
        data = section.getbuffer()
        # Offsets in the section; the checksum of the data covers all before their end record.
        footer_offset = len(data) - len(MAGIC) - _FOOTER.size
        summary_offset = _FOOTER.unpack_from(data, footer_offset)[0] - start
        data_checksum_offset = summary_offset - _CRC.size
        data_end = data_checksum_offset - RECORD.size
        _CRC.pack_into(data, data_checksum_offset, crc32(data[:data_end], self._crc))
        checksum_offset = len(data) - len(MAGIC) - _CRC.size
        _CRC.pack_into(data, checksum_offset, crc32(data[summary_offset:checksum_offset]))
        self._emit(data)
        self.bio.close()

    def _emit(self, data: bytes | memoryview) -> None:
        """Write a part of the file, completely or not at all."""
        self._crc = crc32(data, self._crc)
        start = self.bio.tell()
        remaining = memoryview(data)
        try:
            while remaining:
                remaining = remaining[self.bio.write(remaining) :]
        except OSError:
            self.bio.truncate(start)
            raise
