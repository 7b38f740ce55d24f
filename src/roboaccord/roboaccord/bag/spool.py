"""Queue of messages that a thread writes to a bag, so that a run does not wait for the disk.

FLUSH_PERIOD, HELD and WAKE may be tuned; FLUSH_PERIOD is what a killed run loses (docstring of
BagWriter, to be changed with it). Use the writer only under `Spool._lock`.
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

FLUSH_PERIOD = 0.5  # s of wall time: what a killed run loses at most
HELD = 64 << 20  # bytes that may wait for the disk; with more, the run waits
WAKE = 1 << 20  # bytes from which the thread writes before its period ends: one chunk


class Spool:
    """Queue that takes messages at once and writes them in order.

    Everything but a single step is done in the thread, so that a signal that ends the run within a
    message leaves no half of one.

    Args:
        writer: open; the thread closes it.
        path: of the bag.
    """

    def __init__(self, writer: RunWriter, path: Path) -> None:
        self._writer, self._path = writer, path
        self._waiting: deque[tuple[Connection, int, bytes] | threading.Event] = deque()
        self._taken, self._written = 0, 0  # bytes; each is counted by one thread
        self._lock = threading.Lock()  # for the writer
        self._wake, self._ended, self._over = threading.Event(), threading.Event(), False
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="bag", daemon=True)
        self._thread.start()

    def put(self, connection: Connection, time_ns: int, data: bytes) -> None:
        """Take a message.

        Raises:
            AccordError: if the disk is full.
        """
        if self._failure:
            raise self._failure
        self._waiting.append((connection, time_ns, data))
        self._taken += len(data)
        if self._taken - self._written > WAKE:
            self._wake.set()
            if self._taken - self._written > HELD:
                self.flush()

    def add_topic(self, topic: Topic) -> Connection:
        """Add a topic."""
        with self._lock:
            return self._writer.add_topic(topic)

    def note(self, key: str, value: str) -> None:
        """Store a fact in the metadata of the bag."""
        with self._lock:
            self._writer.set_custom_data(key, value)

    def flush(self) -> None:
        """Wait until the operating system has everything that was taken.

        Raises:
            AccordError: if the disk is full.
        """
        done = threading.Event()
        self._waiting.append(done)
        self._wake.set()
        while not done.wait(FLUSH_PERIOD) and self._thread.is_alive():
            continue
        if self._failure:
            raise self._failure

    def close(self) -> None:
        """Write what is queued, and close the bag.

        Raises:
            AccordError: if the disk is full; whole chunks remain, which can be read.
        """
        self._over = True
        self._wake.set()
        try:
            self._ended.wait()  # in Python 3.11 `join` returns early after a signal
        except BaseException:  # a signal: everything taken is written all the same
            self._ended.wait()
            raise
        if self._failure:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._over:  # half the period is a margin for a busy machine
                self._wake.wait(FLUSH_PERIOD / 2.0)
                self._wake.clear()
                self._write()
            self._write()
            self._writer.close()
        except OSError as error:
            reason = error.strerror or error
            cure = f"accord recover {self._path} keeps what was recorded"
            self._failure = AccordError(f"cannot write {self._path}: {reason}; {cure}")
            with contextlib.suppress(OSError):
                self._writer.abort()
        except Exception as error:  # noqa: BLE001 - a bug is raised where messages are given
            self._failure = error
        finally:
            self._ended.set()

    def _write(self) -> None:
        """Write what is queued, and pass the chunk to the operating system."""
        waiting = self._waiting
        while waiting:
            batch: list[tuple[Connection, int, bytes]] = []
            done: threading.Event | None = None
            while waiting and done is None:
                item = waiting.popleft()
                if isinstance(item, threading.Event):
                    done = item
                else:
                    batch.append(item)
            with self._lock:
                self._writer.write_all(batch)
            self._written += sum(len(data) for _, _, data in batch)
            if done:
                self._flush()
                done.set()
        self._flush()

    def _flush(self) -> None:
        with self._lock:
            self._writer.flush()
