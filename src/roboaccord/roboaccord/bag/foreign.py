"""Storage that `ros2 bag record` knows beside plain MCAP: sqlite3, and zstd around either.

rosbag2 compresses whole files, whose names then end in .zstd, or each message by itself.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mcap.records import Channel, Schema
from zstandard import ZstdDecompressor, ZstdError

from roboaccord.bag.records import McapScan, Message
from roboaccord.contract.errors import AccordError

PACKED = ".zstd"
SUFFIXES = (".mcap", ".db3")
_TOPICS = "SELECT id, name, type FROM topics"
_MESSAGES = "SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp, id"
_MAGIC = b"\x28\xb5\x2f\xfd"  # of a frame of zstd [RFC 8878]; a message of CDR begins with 0


def is_storage(path: Path) -> bool:
    """Return whether a file's name is that of a storage file of rosbag2."""
    return Path(path.name.removesuffix(PACKED)).suffix in SUFFIXES


def scan_of(path: Path) -> McapScan:
    """Return what reads a storage file, by its name."""
    sqlite = path.name.removesuffix(PACKED).endswith(".db3")
    kind = _SqliteScan if sqlite else _PackedScan if path.suffix == PACKED else McapScan
    return kind(path)


def unpacked(data: bytes) -> bytes:
    """Return the bytes of a message, which may have been compressed by itself.

    Raises:
        AccordError: if it cannot be decompressed.
    """
    if not data.startswith(_MAGIC):
        return data
    try:
        return bytes(ZstdDecompressor().decompressobj().decompress(data))
    except ZstdError as error:
        raise AccordError(f"a message cannot be decompressed: {error}") from None


@contextmanager
def _plain(path: Path) -> Iterator[Path]:
    """Yield the path of a file's decompressed content.

    Raises:
        AccordError: if it cannot be decompressed.
    """
    if path.suffix != PACKED:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.stem
        try:
            with path.open("rb") as packed, target.open("wb") as plain:
                ZstdDecompressor().copy_stream(packed, plain)
        except (OSError, ZstdError) as error:
            raise AccordError(f"{path} is no bag: {error}") from None
        yield target


class _PackedScan(McapScan):
    """Read one MCAP file that is compressed as a whole."""

    def messages(self) -> Iterator[Message]:
        """Yield every message that can be read and trusted."""
        packed = self.path
        with _plain(packed) as self.path:
            try:
                yield from super().messages()
            finally:
                self.path = packed


class _SqliteScan(McapScan):
    """Read one sqlite3 database of rosbag2, which has no checksums."""

    def messages(self) -> Iterator[Message]:
        """Yield every message in the order of the bag's time.

        Raises:
            AccordError: if it is no such database, or is damaged.
        """
        with _plain(self.path) as file:
            try:
                with closing(
                    sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
                ) as base:
                    for number, topic, kind in base.execute(_TOPICS):
                        self.schemas[number] = Schema(number, b"", "", kind)
                        self.channels[number] = Channel(number, topic, "cdr", {}, number)
                    for message in base.execute(_MESSAGES):
                        self.counts[message[0]] += 1
                        self.unchecked += 1
                        yield Message(*message)
            except sqlite3.Error as error:
                raise AccordError(f"{self.path} is no bag, or damaged: {error}") from None
        self.whole = self.complete = True
