"""The recorder: writes a run into a bag of rosbag2, the recordings of ROS 2, while it goes on.

`BagWriter` is an observer of the run, which the loop calls at each control tick: it encodes states,
commands and events as messages of topics, and puts them into the queue of a thread that writes them
(spool.py). Log times are simulated time. `finish` writes the hash of the trajectory last, by which
readers know that a run is complete. To record more, add a method like `on_event` with a topic of
topics.py.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Self

from rosbags.interfaces import Connection
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2.errors import WriterError

from roboaccord.bag import run_facts
from roboaccord.bag import topics as names
from roboaccord.bag.resampling import SLACK
from roboaccord.bag.spool import Spool
from roboaccord.bag.storage import RunWriter
from roboaccord.bag.targets import encode_target
from roboaccord.bag.topics import Topic
from roboaccord.bag.transforms import RobotTransforms
from roboaccord.cdr.codecs import BodiesCodec, EffortCodec, JointStateCodec, OdometryCodec
from roboaccord.cdr.messages import encode_bool, encode_events, encode_wrench
from roboaccord.contract import AccordError, Command, Event, RobotState, Target, Trajectory
from roboaccord.scenario.setup import Setup

TF_PERIOD = 0.02  # s of simulated time between transforms: 50 Hz, above the 30 frames of a viewer


class BagWriter:
    """Recorder of a run into a rosbag2 MCAP bag; an observer, and a context manager.

    The log time of a message is its simulated time. The first state reaches the disk at once, and
    everything else within 0.5 s of wall time, however long a step takes. So a bag that a signal cut
    short can be read, and repaired by `accord recover`.

    Args:
        path: folder of the bag, which must not exist.
        setup: robot and scenario.
        engine, engine_version: of the run.
        transport: `direct`, `ros`, ...
        controller: name and hash of a user's own, as `scenario.origin_of` returns them.
    """

    def __init__(
        self, path: Path, setup: Setup, engine: str, engine_version: str, transport: str,
        controller: str = "",
    ) -> None:  # fmt: skip
        self.path = Path(path)
        if self.path.exists():
            raise AccordError(f"{self.path} exists already; choose another name for the bag")
        self._setup = setup
        self._robot = setup.robot.name
        self._run_facts = engine, engine_version, transport, controller
        self._states = JointStateCodec(setup.joints)
        self._odometry = OdometryCodec()
        self._efforts = EffortCodec(setup.joints)
        self._bodies = BodiesCodec(setup.body_names)
        self._transforms = RobotTransforms(setup.tree, setup.joints, bodies=setup.body_names)
        self._spool: Spool  # from `__enter__` on
        self._connections: dict[str, Connection] = {}  # by name of the topic
        self._switches: dict[str, bool] = {}  # as last recorded
        self._next_tf = 0.0  # time from which on transforms are due [s]
        self._has_state = False

    def __enter__(self) -> Self:
        """Create the bag and write what comes before the first state; no bag remains if that fails.

        Raises:
            AccordError: if the folder exists or cannot be written.
        """
        with ExitStack() as undo:  # what is to be undone if the block fails, last step first
            try:
                writer = RunWriter(self.path, version=9, storage_plugin=StoragePlugin.MCAP)
                writer.open()
            except (OSError, WriterError) as error:
                if isinstance(error, OSError):
                    shutil.rmtree(self.path, ignore_errors=True)
                raise AccordError(f"cannot write {self.path}: {_reason(error)}") from None
            undo.callback(shutil.rmtree, self.path, ignore_errors=True)
            self._spool = Spool(writer, self.path)
            undo.push(self.__exit__)
            self._write_first_messages()
            writer.write_unfinished(self._robot)
            self.flush()
            undo.pop_all()  # all went well: nothing is undone
        return self

    def _write_first_messages(self) -> None:
        """Write the topics of every bag, the facts of the run and the fixed transforms."""
        self._spool.set_custom_data("robot", self._robot)
        for topic in names.run_topics(self._robot):
            self.add_topic(topic)
        facts = run_facts.facts(self._setup, *self._run_facts)
        for name, data in run_facts.first_messages(self._setup, facts).items():
            self.write_raw(self._topic(name), 0, data)
        self.write_raw(names.TF_STATIC, 0, self._transforms.static())

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close the bag, after an error too: the recorded messages remain."""
        # An error of closing is not raised over another error.
        with nullcontext() if error is None else suppress(AccordError):
            self._spool.close()

    def finish(self, sha256: str) -> None:
        """Store the hash of the trajectory, which marks the run as complete."""
        self._spool.set_custom_data("sha256", sha256)

    def note_loss(self, events: int) -> None:
        """Store the number of events that could not be recorded."""
        self._spool.set_custom_data(names.LOST_EVENTS, str(events))

    def on_state(self, state: RobotState) -> None:
        """Record joints, base, bodies, changed switches, and the transforms if they are due."""
        time_ns = round(state.time * 1e9)
        self.write_raw(self._topic(names.STATES), time_ns, self._states.encode(state))
        self.write_raw(self._topic(names.ODOMETRY), time_ns, self._odometry.encode(state))
        for data in self._bodies.encode(state):
            self._write_optional(names.BODIES, time_ns, data)
        if state.time >= self._next_tf - SLACK:
            self._next_tf = state.time + TF_PERIOD
            self.write_raw(names.TF, time_ns, self._transforms.encode(state))
        for name, value in state.switches.items():
            if self._switches.get(name) is not value:
                topic = names.switch_topic(self._robot, name)
                self.add_topic(topic)
                self.write_raw(topic.name, time_ns, encode_bool(value))
                self._switches[name] = value
        if not self._has_state:  # a bag that is cut short has at least one state
            self._has_state = True
            self.flush()

    def on_command(self, state: RobotState, command: Command) -> None:
        """Record efforts, and wrench, twist and findings where the controller has any."""
        time_ns = round(state.time * 1e9)
        efforts = self._efforts.encode(state.time, command.effort)
        self.write_raw(self._topic(names.EFFORTS), time_ns, efforts)
        # A TwistStamped has the same layout as a WrenchStamped: a header and six numbers.
        for name, vector in ((names.WRENCH, command.wrench), (names.TWIST, command.twist)):
            if vector is not None:
                self._write_optional(name, time_ns, encode_wrench(state.time, vector))
        if command.findings:
            data = encode_events(command.findings, self._robot)
            self._write_optional(names.FINDINGS, time_ns, data)

    def on_event(self, event: Event) -> None:
        """Record an event."""
        data = encode_events([event], self._robot)
        self.write_raw(self._topic(names.EVENTS), round(event.time * 1e9), data)

    def write_contacts(self, state: RobotState, data: bytes) -> None:
        """Record the contacts in a state, given as the bytes of a MarkerArray."""
        self._write_optional(names.CONTACTS, round(state.time * 1e9), data)

    def write_target(self, time: float, target: Target, before: Target | None) -> None:
        """Record a target that is in force from the tick at `time` [s] on, after `before`."""
        for name, data in encode_target(time, target, before, self._setup.joints).items():
            self._write_optional(name, round(time * 1e9), data)

    def write_raw(self, topic: str, time_ns: int, data: bytes) -> None:
        """Record a message that is given as bytes, as by a raw ROS subscription.

        Raises:
            AccordError: for a topic that was not added, or a full disk.
        """
        if topic not in self._connections:
            raise AccordError(f"{topic} is not a topic of the bag {self.path.name}")
        self._spool.put(self._connections[topic], time_ns, data)

    def add_topic(self, topic: Topic) -> None:
        """Add a topic to the bag, unless it is there."""
        if topic.name not in self._connections:
            self._connections[topic.name] = self._spool.add_topic(topic)

    def flush(self) -> None:
        """Pass all recorded messages to the operating system.

        Raises:
            AccordError: if the disk is full.
        """
        self._spool.flush()

    def _topic(self, name: str) -> str:
        """Return the full name of one of the robot's topics."""
        return f"/{self._robot}/{name}"

    def _write_optional(self, name: str, time_ns: int, data: bytes) -> None:
        """Record a message on a topic that is added when it is first used."""
        topic = names.topic_of(self._robot, name)
        self.add_topic(topic)
        self.write_raw(topic.name, time_ns, data)


def _reason(error: Exception) -> str:
    """Return the reason of an error in one line."""
    return getattr(error, "strerror", None) or str(error).splitlines()[0].rstrip(".")


def write_trajectory(
    path: Path, setup: Setup, engine: str, engine_version: str, trajectory: Trajectory
) -> None:
    """Write a trajectory with its events as a bag.

    The command at a sample is the controller's if it is known, else the one in force until the next
    sample.

    Raises:
        AccordError: if the folder exists or cannot be written.
    """
    with BagWriter(path, setup, engine, engine_version, "direct") as bag:
        for i in range(len(trajectory)):
            state = trajectory.state(i)
            bag.on_state(state)
            if i + 1 < len(trajectory):
                bag.on_command(state, trajectory.requested(i) or trajectory.command(i))
        for event in trajectory.events:
            bag.on_event(event)
        bag.finish(trajectory.sha256())
