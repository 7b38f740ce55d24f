"""MCAP records in the order of the file, up to where the file ends or was cut.

A run that was killed leaves a file without footer and index, its last record perhaps cut. Reading
record by record needs neither, so that complete and unfinished files are read in the same way.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import yaml
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.records import Channel, Chunk, Metadata, Schema
from mcap.stream_reader import get_chunk_data_stream

from roboaccord.errors import AccordError

MAGIC = b"\x89MCAP0\r\n"
_HEADER, _FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _METADATA = 1, 2, 3, 4, 5, 6, 12
_RECORD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<HIQQ")
_LIMIT = 1 << 32  # bytes; a longer record is taken for damage
_log = logging.getLogger(__name__)


class Message(NamedTuple):
    """Hold one message: its channel, log time [ns] and bytes."""

    channel: int
    time_ns: int
    data: bytes


@dataclass
class McapScan:
    """Read one MCAP file; schemas, channels and metadata fill as the messages are read.

    Args:
        path: of the file.
    """

    path: Path
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    complete: bool = False
    """Whether the footer was reached."""

    def messages(self) -> Iterator[Message]:
        """Yield every message that can be read, in the order of the file.

        Raises:
            AccordError: if it cannot be opened, or is no MCAP file.
        """
        try:
            with self.path.open("rb") as stream:
                if stream.read(len(MAGIC)) != MAGIC:
                    raise AccordError(f"{self.path} is no bag: it is no MCAP file")
                yield from self._records(stream, nested=False)
        except OSError as error:
            raise AccordError(f"{self.path} is no bag: {error.strerror}") from None

    def data_of_rosbag2(self) -> dict[str, str]:
        """Return the custom data that rosbag2 keeps in the file itself."""
        text = self.metadata.get("rosbag2", {}).get("serialized_metadata", "")
        data = yaml.safe_load(text) if text else None
        return dict((data or {}).get("custom_data") or {})

    def _records(self, stream: BinaryIO, *, nested: bool) -> Iterator[Message]:
        while len(head := stream.read(_RECORD.size)) == _RECORD.size:
            opcode, length = _RECORD.unpack(head)
            if length > _LIMIT:
                _log.warning("%s is damaged; reading stops there", self.path)
                return
            content = stream.read(length)
            if len(content) < length:
                if opcode == _CHUNK and not nested:
                    yield from self._cut_chunk(content)
                return
            if opcode == _MESSAGE:
                channel, _, time_ns, _ = _MESSAGE_HEAD.unpack_from(content)
                yield Message(channel, time_ns, content[_MESSAGE_HEAD.size :])
            elif opcode == _CHUNK and not nested:
                raw = self._open_chunk(content)
                if raw is None:
                    return
                yield from self._records(BytesIO(raw), nested=True)
            elif opcode == _FOOTER:
                self.complete = stream.read(len(MAGIC)) == MAGIC
                return
            else:
                self._note(opcode, content)

    def _note(self, opcode: int, content: bytes) -> None:
        stream = ReadDataStream(BytesIO(content))
        if opcode == _SCHEMA:
            schema = Schema.read(stream)
            self.schemas[schema.id] = schema
        elif opcode == _CHANNEL:
            channel = Channel.read(stream)
            self.channels[channel.id] = channel
        elif opcode == _METADATA:
            metadata = Metadata.read(stream)
            self.metadata[metadata.name] = metadata.metadata

    def _open_chunk(self, content: bytes) -> bytes | None:
        try:
            chunk = Chunk.read(ReadDataStream(BytesIO(content)))
            stream, size = get_chunk_data_stream(chunk, validate_crc=True)
            raw: bytes = stream.read(size)
        except Exception as error:  # noqa: BLE001 - each decompressor raises its own
            if isinstance(error, McapError):
                raise AccordError(f"{self.path}: {error}") from None
            _log.warning("%s: a chunk is damaged (%s); reading stops there", self.path, error)
            return None
        return raw

    def _cut_chunk(self, content: bytes) -> Iterator[Message]:
        """Yield the whole messages of a chunk that was cut, which only plain chunks allow."""
        start = 8 + 8 + 8 + 4  # times, size, checksum; then the compression, then the length
        if content[start : start + 4] == bytes(4):
            yield from self._records(BytesIO(content[start + 4 + 8 :]), nested=True)


def bag_files(bag: Path) -> list[Path]:
    """Return the MCAP files of a bag: a folder, or one file.

    Raises:
        AccordError: if there is none.
    """
    bag = Path(bag)
    if bag.is_file():
        return [bag]
    if not bag.exists():
        raise AccordError(f"{bag} is no bag: it does not exist")
    listed = [bag / name for name in read_metadata(bag).get("relative_file_paths") or []]
    files = [path for path in listed if path.is_file()] or sorted(bag.glob("*.mcap"))
    for path in files:
        if path.suffix != ".mcap":
            raise AccordError(f"{bag} is no bag: {path.name} is not of the MCAP format")
    if not files:
        raise AccordError(f"{bag} is no bag: it holds no MCAP file")
    return files


def read_metadata(bag: Path) -> dict[str, Any]:
    """Return what metadata.yaml of a bag folder says, or nothing where there is none."""
    try:
        data = yaml.safe_load((bag / "metadata.yaml").read_text(encoding="utf-8"))
        found: dict[str, Any] = data["rosbag2_bagfile_information"]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
