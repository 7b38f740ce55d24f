"""Queue of messages that a thread writes to a bag, so that a run does not wait for the disk.

A bag is the recording of a run, in the format of ROS 2. The recorder (writer.py) calls `put`, which
appends a message and returns at once; the thread writes the queued messages every half of
FLUSH_PERIOD, or earlier if many bytes are waiting, and passes them to the operating system. So a
killed run loses the messages of FLUSH_PERIOD at most, as the docstring of BagWriter states. The
writer may be used only while `Spool._lock` is held.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from pathlib import Path

from rosbags.interfaces import Connection

from roboaccord.bag.storage import RunWriter
from roboaccord.bag.topics import Topic
from roboaccord.contract.errors import AccordError

FLUSH_PERIOD = 0.5  # s of wall time: a killed run loses no more than that
# Bytes that may wait for the disk; if more do, the run waits: 30 s of the snake (2.3 MB/s).
LARGEST_QUEUE = 64 << 20
# Bytes that wake the thread before its period ends: those of a chunk (mcap_writer.py).
WAKING_QUEUE = 1 << 20


class Spool:
    """Queue that accepts messages at once, and whose thread writes them in order.

    Appending to the queue is one step of the interpreter; all else is done in the thread. So a
    signal that ends the run can leave no half of a message.

    Args:
        writer: open writer, which the thread closes.
        path: of the bag, for messages.
    """

    def __init__(self, writer: RunWriter, path: Path) -> None:
        self._writer = writer
        self._path = path
        # Messages (connection, time [ns], data), and events to set once all before them is written.
        self._queue: deque[tuple[Connection, int, bytes] | threading.Event] = deque()
        self._put_bytes = 0  # number of bytes that were queued; only the recording thread counts
        self._written_bytes = 0  # number of bytes that were written; only the writing thread counts
        self._lock = threading.Lock()  # held while the writer is used
        self._wake = threading.Event()
        self._thread_ended = threading.Event()
        self._closing = False
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="bag", daemon=True)
        self._thread.start()

    def put(self, connection: Connection, time_ns: int, data: bytes) -> None:
        """Queue a message; wait only if too many bytes are queued.

        Raises:
            AccordError: if the disk is full.
        """
        if self._failure:
            raise self._failure
        self._queue.append((connection, time_ns, data))
        self._put_bytes += len(data)
        queued_bytes = self._put_bytes - self._written_bytes
        if queued_bytes > WAKING_QUEUE:
            self._wake.set()
        if queued_bytes > LARGEST_QUEUE:
            self.flush()

    def add_topic(self, topic: Topic) -> Connection:
        """Add a topic to the bag, and return its connection."""
        with self._lock:
            return self._writer.add_topic(topic)

    def set_custom_data(self, key: str, value: str) -> None:
        """Store a text in the metadata of the bag."""
        with self._lock:
            self._writer.set_custom_data(key, value)

    def flush(self) -> None:
        """Wait until the operating system has all messages that were queued.

        Raises:
            AccordError: if the disk is full.
        """
        done = threading.Event()
        self._queue.append(done)
        self._wake.set()
        while not done.wait(FLUSH_PERIOD) and self._thread.is_alive():
            continue
        if self._failure:
            raise self._failure

    def close(self) -> None:
        """Write what is queued, and close the bag.

        Raises:
            AccordError: if the disk is full; the chunks that were written can be read.
        """
        self._closing = True
        self._wake.set()
        try:
            self._thread_ended.wait()  # in Python 3.11 `join` returns early after a signal
        except BaseException:  # a signal: what is queued is written all the same
            self._thread_ended.wait()
            raise
        if self._failure:
            raise self._failure

    def _run(self) -> None:
        """Write until the bag is closed; keep a failure for the thread that records."""
        try:
            while not self._closing:  # half a period leaves a margin on a busy machine
                self._wake.wait(FLUSH_PERIOD / 2.0)
                self._wake.clear()
                self._write_queue()
            self._write_queue()
            self._writer.close()
        except OSError as error:
            reason = error.strerror or error
            remedy = f"accord recover {self._path} keeps what was recorded"
            self._failure = AccordError(f"cannot write {self._path}: {reason}; {remedy}")
            with contextlib.suppress(OSError):
                self._writer.abort()
        except Exception as error:  # noqa: BLE001 - a bug is raised in the recording thread
            self._failure = error
        finally:
            self._thread_ended.set()

    def _write_queue(self) -> None:
        """Write what is queued, and pass the chunk to the operating system."""
        while self._queue:
            # Messages up to the next flush, whose event is set once they are written.
            batch: list[tuple[Connection, int, bytes]] = []
            done: threading.Event | None = None
            while self._queue and done is None:
                entry = self._queue.popleft()
                if isinstance(entry, threading.Event):
                    done = entry
                else:
                    batch.append(entry)
            with self._lock:
                self._writer.write_all(batch)
                if done:
                    self._writer.flush()
            self._written_bytes += sum(len(data) for _, _, data in batch)
            if done:
                done.set()
        with self._lock:
            self._writer.flush()
