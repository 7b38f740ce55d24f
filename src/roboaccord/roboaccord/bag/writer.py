"""Recorder: writes a run into a bag while it runs."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml
from rosbags.interfaces import Connection
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2.errors import WriterError
from rosbags.typesys import Stores, get_typestore

from roboaccord.bag import topics as names
from roboaccord.bag.spool import Spool
from roboaccord.bag.storage import RunWriter
from roboaccord.bag.targets import encode_target
from roboaccord.bag.topics import Topic
from roboaccord.bag.transforms import RobotTransforms
from roboaccord.cdr import (
    EffortCodec,
    JointStateCodec,
    OdometryCodec,
    encode_bool,
    encode_events,
    encode_wrench,
)
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import writing
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.scenario.setup import Setup

TF_PERIOD = 0.02  # s of simulated time


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
        self._facts = names.facts(setup, engine, engine_version, transport)
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
        self._typestore = get_typestore(Stores.ROS2_JAZZY)
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
        for name, data in names.first_messages(self._setup, self._facts).items():
            self.write_raw(f"/{self._robot}/{name}", 0, data)
        self.write_raw(names.TF_STATIC, 0, self._transforms.static())
        self._write_preliminary_metadata()
        self.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
        if state.switches:
            self._record_switches(state, time_ns)
        if not self._begun:
            self._begun = True
            self.flush()

    def on_command(self, state: RobotState, command: Command) -> None:
        """Record efforts, and wrench, twist and findings where the controller gives any."""
        time_ns = round(state.time * 1e9)
        self._write(self._on_command, time_ns, self._efforts.encode(state.time, command.effort))
        if command.wrench is not None:
            data = encode_wrench(state.time, command.wrench)
            self._write_optional(names.WRENCH, time_ns, data)
        if command.twist is not None:
            # TwistStamped is on the wire as WrenchStamped: a header and six numbers.
            self._write_optional(names.TWIST, time_ns, encode_wrench(state.time, command.twist))
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
            raise AccordError(f"{topic} is no topic of the bag {self.path.name}")
        self._write(self._connections[topic], time_ns, data)

    def add_topic(self, topic: Topic) -> None:
        """Make a topic ready for `write_raw`, if it is not."""
        if topic.name not in self._connections:
            self._connections[topic.name] = self._spool.add_topic(topic, self._typestore)

    def flush(self) -> None:
        """Hand to the operating system whatever was recorded.

        Raises:
            AccordError: if the disk is full.
        """
        self._spool.flush()

    def _write_optional(self, name: str, time_ns: int, data: bytes) -> None:
        for topic in names.optional_topics(self._robot):
            if topic.name == f"/{self._robot}/{name}":
                self.add_topic(topic)
                self.write_raw(topic.name, time_ns, data)

    def _record_switches(self, state: RobotState, time_ns: int) -> None:
        for name, value in state.switches.items():
            if self._switches.get(name) is not value:
                topic = names.switch_topic(self._robot, name)
                self.add_topic(topic)
                self.write_raw(topic.name, time_ns, encode_bool(value))
                self._switches[name] = value

    def _write_preliminary_metadata(self) -> None:
        known = self._writer.topic_metadata()
        data = names.preliminary_metadata(f"{self.path.name}.mcap", self._robot, known)
        text = yaml.safe_dump(data, sort_keys=False)
        with writing(self.path / "metadata.yaml") as draft:
            draft.write_text(text, encoding="utf-8")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error).splitlines()[0].rstrip(".")


def write_trajectory(
    path: Path, setup: Setup, engine: str, engine_version: str, trajectory: Trajectory
) -> None:
    """Write a trajectory with its events.

    The command at a sample is the effort of the next one.

    Raises:
        AccordError: if the folder exists or cannot be written.
    """
    with BagWriter(path, setup, engine, engine_version, "direct") as bag:
        for i in range(len(trajectory)):
            state = trajectory.state(i)
            bag.on_state(state)
            if i + 1 < len(trajectory):
                bag.on_command(state, trajectory.command(i))
        for event in trajectory.events:
            bag.on_event(event)
        bag.finish(trajectory.sha256())
