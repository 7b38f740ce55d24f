"""Read bags of `ros2 bag record` that are no plain MCAP: sqlite3, and zstd around either.

A bag is a recording of ROS 2. `PackedScan` and `SqliteScan` read one file each and yield its
messages, as the core's McapScan does for plain MCAP; the core finds them by the entry points
`roboaccord.storages`, which name the classes by the ending of a file. Names of tables are those of
rosbag2. `_LONGEST` and `_check_tables` keep a hostile database from filling the memory
(test_malformed).
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mcap.records import Channel, Schema
from roboaccord.bag.folder import PACKED
from roboaccord.bag.records import McapScan, Message
from roboaccord.contract.errors import AccordError
from zstandard import ZstdDecompressor, ZstdError

# Bytes; longest value read from a database: 256 MiB, as the largest file (contract/files.py).
_LONGEST = 1 << 28
_SCHEMA = "SELECT type, sql FROM sqlite_master WHERE name = ?"
_TOPICS = "SELECT id, name, type FROM topics"
_MESSAGES = "SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp, id"


@contextmanager
def _plain(path: Path, scan: McapScan) -> Iterator[Path]:
    """Yield the path of a file, decompressed into a temporary one if it is packed.

    Raises:
        AccordError: if it cannot be decompressed, or unpacks to more than a scan may read.
    """
    if path.suffix != PACKED:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.stem
        try:
            with path.open("rb") as packed, target.open("wb") as plain:
                for block in ZstdDecompressor().read_to_iter(packed):
                    scan.spend(len(block))
                    plain.write(block)
        except (OSError, ZstdError) as error:
            raise AccordError(f"{path} is not a bag: {error}") from None
        yield target


class PackedScan(McapScan):
    """Reader of one MCAP file that is compressed as a whole."""

    def messages(self) -> Iterator[Message]:
        """Yield every message that can be read and trusted."""
        packed = self.path
        with _plain(packed, self) as self.path:
            try:
                yield from super().messages()
            finally:
                self.path = packed


class SqliteScan(McapScan):
    """Reader of one sqlite3 database of rosbag2, which has no checksums."""

    def messages(self) -> Iterator[Message]:
        """Yield every message in the order of the bag's time.

        Raises:
            AccordError: if it is not such a database, or is damaged.
        """
        with _plain(self.path, self) as file:
            try:
                with closing(_connect(file)) as base:
                    self._check_tables(base)
                    for number, topic, kind in base.execute(_TOPICS):
                        if not (isinstance(topic, str) and isinstance(kind, str)):
                            raise AccordError(f"{self.path} is damaged: a topic has no name")
                        self.schemas[number] = Schema(number, b"", "", kind)
                        self.channels[number] = Channel(number, topic, "cdr", {}, number)
                    for channel, time_ns, data in base.execute(_MESSAGES):
                        if channel not in self.channels or type(data) is not bytes:
                            raise AccordError(f"{self.path} is damaged: a message is invalid")
                        self.counts[channel] += 1
                        self.unchecked += 1
                        yield Message(channel, time_ns, data)
            except (sqlite3.Error, OverflowError, UnicodeError) as error:
                raise AccordError(f"{self.path} is not a bag, or damaged: {error}") from None
        self.data_complete = self.complete = True

    def _check_tables(self, base: sqlite3.Connection) -> None:
        """Check that the tables are plain ones: views and computed columns can be of any size.

        Raises:
            AccordError: if a table is missing, or is a view or has computed columns.
        """
        for table in ("topics", "messages"):
            (kind, text) = base.execute(_SCHEMA, (table,)).fetchone() or ("", "")
            if kind != "table" or re.search(r"\b(as|virtual)\b", text, re.IGNORECASE):
                raise AccordError(f"{self.path} is not a bag: it has no table {table} of rosbag2")


def _connect(file: Path) -> sqlite3.Connection:
    """Return a read-only connection to a database, with bounds against hostile content."""
    base = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    base.execute("PRAGMA trusted_schema = OFF")
    return base
