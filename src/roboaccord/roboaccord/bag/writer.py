"""Recording of a run as a rosbag2 bag, in a thread of its own: a run waits for no disk.

TF_PERIOD, FLUSH_PERIOD, HELD and WAKE may be tuned; FLUSH_PERIOD is what a killed run loses
(docstring of BagWriter, to be changed with it). What else is recorded may be added as a method like
`on_event` with a topic of topics.py. Log times must stay simulated time, and `finish` must write
the hash last: readers take it for the mark of a complete run. Touch the writer only under
`Spool._lock`.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections import deque
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from rosbags.interfaces import Connection
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2.errors import WriterError

from roboaccord.bag import topics as names
from roboaccord.bag.storage import RunWriter
from roboaccord.bag.targets import encode_target
from roboaccord.bag.topics import Topic
from roboaccord.bag.transforms import RobotTransforms
from roboaccord.cdr.codecs import EffortCodec, JointStateCodec, OdometryCodec
from roboaccord.cdr.messages import encode_bool, encode_events, encode_wrench
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.scenario.setup import Setup

TF_PERIOD = 0.02  # s of simulated time
FLUSH_PERIOD = 0.5  # s of wall time: what a killed run loses at most
HELD = 64 << 20  # bytes that may wait for the disk; beyond, the run waits
WAKE = 1 << 20  # bytes that are written before the time has come


class BagWriter:
    """Record a run into a rosbag2 MCAP bag; an observer, and a context manager.

    The log time of a message is its simulated time. The first state reaches the disk at once, and
    everything else within 0.5 s of wall time, however long a step takes, so that a bag cut short
    by a signal can be read, and made valid by `accord recover`.

    Args:
        path: folder of the bag; must not exist.
        setup: robot and scenario.
        engine, engine_version: what simulates.
        transport: `direct` or `ros`.
    """

    def __init__(
        self, path: Path, setup: Setup, engine: str, engine_version: str, transport: str
    ) -> None:
        self.path = Path(path)
        self._setup = setup
        self._robot = setup.robot.name
        self._made_by = engine, engine_version, transport
        self._states = JointStateCodec(setup.joints)
        self._odometry = OdometryCodec()
        self._efforts = EffortCodec(setup.joints)
        self._connections: dict[str, Connection] = {}
        self._switches: dict[str, bool] = {}
        self._next_tf = 0.0
        self._begun = False
        if self.path.exists():
            raise AccordError(f"{self.path} exists already; choose another name for the bag")

    def __enter__(self) -> Self:
        """Create the bag and write its metadata; if that fails, there is none.

        Raises:
            AccordError: if the folder exists or cannot be written.
        """
        self._transforms = RobotTransforms(self._setup.tree, self._setup.joints)
        with ExitStack() as undo:
            try:
                self._writer = RunWriter(self.path, version=9, storage_plugin=StoragePlugin.MCAP)
                self._writer.open()
            except (OSError, WriterError) as error:
                if isinstance(error, OSError):
                    shutil.rmtree(self.path, ignore_errors=True)
                raise AccordError(f"cannot write {self.path}: {_reason(error)}") from None
            undo.callback(shutil.rmtree, self.path, ignore_errors=True)
            self._spool = Spool(self._writer, self.path)
            undo.callback(self._close, complain=False)
            self._begin()
            undo.pop_all()
        return self

    def _begin(self) -> None:
        """Write what stands before the first state."""
        self._spool.note("robot", self._robot)
        for topic in names.run_topics(self._robot):
            self.add_topic(topic)
        states = (names.STATES, names.ODOMETRY, names.EFFORTS)
        self._on_state, self._on_odometry, self._on_command = (
            self._connections[f"/{self._robot}/{name}"] for name in states
        )
        self._on_tf = self._connections[names.TF]
        self._write = self._spool.put
        facts = names.facts(self._setup, *self._made_by)
        for name, data in names.first_messages(self._setup, facts).items():
            self.write_raw(f"/{self._robot}/{name}", 0, data)
        self.write_raw(names.TF_STATIC, 0, self._transforms.static())
        self._writer.write_unfinished(self._robot)
        self.flush()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close the bag, whatever happened: what was recorded is kept."""
        self._close(complain=error is None)

    def _close(self, *, complain: bool) -> None:
        try:
            self._spool.close()
        except AccordError:
            if complain:
                raise

    def finish(self, sha256: str) -> None:
        """Store the hash of the trajectory: the mark of a run that came to its end."""
        self._spool.note("sha256", sha256)

    def note_loss(self, events: int) -> None:
        """Store the number of lost events in the bag."""
        self._spool.note(names.LOST_EVENTS, str(events))

    def on_state(self, state: RobotState) -> None:
        """Record joints, base, and at 50 Hz of simulated time the transforms."""
        time_ns = round(state.time * 1e9)
        self._write(self._on_state, time_ns, self._states.encode(state))
        self._write(self._on_odometry, time_ns, self._odometry.encode(state))
        if state.time >= self._next_tf - 1e-9:
            self._next_tf = state.time + TF_PERIOD
            self._write(self._on_tf, time_ns, self._transforms.encode(state))
        for name, value in state.switches.items():
            if self._switches.get(name) is not value:
                topic = names.switch_topic(self._robot, name)
                self.add_topic(topic)
                self.write_raw(topic.name, time_ns, encode_bool(value))
                self._switches[name] = value
        if not self._begun:
            self._begun = True
            self.flush()

    def on_command(self, state: RobotState, command: Command) -> None:
        """Record efforts, and wrench, twist and findings where the controller gives any."""
        time_ns = round(state.time * 1e9)
        self._write(self._on_command, time_ns, self._efforts.encode(state.time, command.effort))
        # TwistStamped is on the wire as WrenchStamped: a header and six numbers.
        for name, vector in ((names.WRENCH, command.wrench), (names.TWIST, command.twist)):
            if vector is not None:
                self._write_optional(name, time_ns, encode_wrench(state.time, vector))
        if command.findings:
            data = encode_events(command.findings, self._robot)
            self._write_optional(names.FINDINGS, time_ns, data)

    def on_event(self, event: Event) -> None:
        """Record an event."""
        topic = f"/{self._robot}/{names.EVENTS}"
        self.write_raw(topic, round(event.time * 1e9), encode_events([event], self._robot))

    def write_contacts(self, state: RobotState, data: bytes) -> None:
        """Record the contacts of a state, bytes of a MarkerArray."""
        self._write_optional(names.CONTACTS, round(state.time * 1e9), data)

    def write_target(self, time: float, target: Target, before: Target | None) -> None:
        """Record a target that comes into force at the tick of a time [s]."""
        for name, data in encode_target(time, target, before, self._setup.joints).items():
            self._write_optional(name, round(time * 1e9), data)

    def write_raw(self, topic: str, time_ns: int, data: bytes) -> None:
        """Record a message that is bytes already, as a raw ROS subscription gives it.

        Raises:
            AccordError: for a topic that was not added, or a full disk.
        """
        if topic not in self._connections:
            raise AccordError(f"{topic} is not a topic of the bag {self.path.name}")
        self._write(self._connections[topic], time_ns, data)

    def add_topic(self, topic: Topic) -> None:
        """Make a topic ready for `write_raw`, if it is not."""
        if topic.name not in self._connections:
            self._connections[topic.name] = self._spool.add_topic(topic)

    def flush(self) -> None:
        """Hand to the operating system whatever was recorded.

        Raises:
            AccordError: if the disk is full.
        """
        self._spool.flush()

    def _write_optional(self, name: str, time_ns: int, data: bytes) -> None:
        topic = names.topic_of(self._robot, name)
        self.add_topic(topic)
        self.write_raw(topic.name, time_ns, data)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error).splitlines()[0].rstrip(".")


def write_trajectory(
    path: Path, setup: Setup, engine: str, engine_version: str, trajectory: Trajectory
) -> None:
    """Write a trajectory with its events.

    The command at a sample is the controller's, or else the effort of the next one.

    Raises:
        AccordError: if the folder exists or cannot be written.
    """
    with BagWriter(path, setup, engine, engine_version, "direct") as bag:
        for i in range(len(trajectory)):
            state = trajectory.state(i)
            bag.on_state(state)
            if i + 1 < len(trajectory):
                bag.on_command(state, trajectory.asked(i) or trajectory.command(i))
        for event in trajectory.events:
            bag.on_event(event)
        bag.finish(trajectory.sha256())


class Spool:
    """Take messages at once, and write them in order.

    All that is not a single step is done in the thread, so that a signal which ends the run in the
    middle of a message leaves no half of one.

    Args:
        writer: open; the thread closes it.
        path: of the bag.
    """

    def __init__(self, writer: RunWriter, path: Path) -> None:
        self._writer, self._path = writer, path
        self._waiting: deque[tuple[Connection, int, bytes] | threading.Event] = deque()
        self._taken, self._written = 0, 0  # bytes; one is counted by each thread
        self._lock = threading.Lock()  # over the writer
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
        """Wait until all that was taken is with the operating system.

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
        """Write what waits, and close the bag.

        Raises:
            AccordError: if the disk is full; whole chunks are left, which can be read.
        """
        self._over = True
        self._wake.set()
        try:
            self._ended.wait()  # of `join`, Python 3.11 believes that it is over after a signal
        except BaseException:  # a signal: what is taken is written all the same
            self._ended.wait()
            raise
        if self._failure:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._over:  # half the period is left for a busy machine
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
        """Write what waits, and hand the chunk to the operating system."""
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
