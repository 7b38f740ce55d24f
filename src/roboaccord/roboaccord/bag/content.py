"""Messages of a bag by topic, decoded to states, commands, events and facts.

A bag is a recording of ROS 2: messages, each of a topic (a channel with a name and a message type).
`Content.of` reads all messages of a bag, up to its end or to where it is damaged. Its methods
decode them: `states` the joints, `base` the odometry and the free bodies, then `commands`,
`events` and `switches`, and `facts` the scenario and the versions that our own recorder writes.
reader.py makes a run of them.

A foreign bag, such as one of `ros2 bag record`, has no facts; what is assumed of it (the only topic
of a type, missing velocities, a base that is recorded less often) stays, and is logged (test_bag,
test_foreign). A bag may also have the motion of the reference, the analytical simulator, which is
shown as a second robot (second_robot.py): its topics are not read here.

A topic of our own bags is added in topics.py, with a method here that reads it.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from roboaccord.bag import topics as names
from roboaccord.bag.folder import bag_files, doubts, find_bag, scan_of, unpacked
from roboaccord.bag.metadata import custom_data, read_metadata
from roboaccord.bag.records import McapScan
from roboaccord.bag.rows import check_finite, decode_padded, motions_at, rows_since_reset
from roboaccord.cdr.codecs import (
    TRUE,
    JointStateCodec,
    OdometryCodec,
    read_body,
    read_joint_state,
)
from roboaccord.cdr.messages import decode_events, decode_string
from roboaccord.cdr.wire import STAMP, STAMP_AT
from roboaccord.contract import IDENTITY, AccordError, Array, Event
from roboaccord.contract.checks import ROUND_OFF

BASE = "the base"  # its name in errors, which no body has
_log = logging.getLogger(__name__)
T = TypeVar("T")


class JointStates(NamedTuple):
    """Recorded joint states: names of n joints, times (k,) [s] and values (k, n).

    Positions q are in [rad or m], rates qd in [rad/s or m/s] and efforts in [N m or N].
    """

    joints: tuple[str, ...]
    time: Array
    q: Array
    qd: Array
    effort: Array


class BaseMotion(NamedTuple):
    """The base, and the free bodies, at the times of joint states.

    Args:
        time: of those k joint states that odometry and bodies cover (k,) [s].
        is_recorded: whether there is any odometry; otherwise the base rests at the origin.
        states: slice of the joint states at these times.
        values: position [m], quaternion, and twist [m/s, rad/s] in the base's axes (k, 13).
        bodies: likewise, by name of each body.
    """

    time: Array
    is_recorded: bool
    states: slice
    values: Array
    bodies: Mapping[str, Array]


@dataclass(frozen=True)
class Content:
    """Messages of a bag by topic.

    Args:
        bag: folder or file.
        messages: bytes of the messages by topic.
        sequence_numbers: number of each message in the order of all messages, by topic.
        kinds: message type by topic.
        custom: custom data that the writer stored in the file.
        hashes: hashes of the trajectory that the bag states.
        scans: readers of the files, with what they found.
    """

    bag: Path
    messages: Mapping[str, list[bytes]]
    sequence_numbers: Mapping[str, list[int]]
    kinds: Mapping[str, str]
    custom: Mapping[str, str]
    hashes: frozenset[str]
    scans: tuple[McapScan, ...]

    @classmethod
    def of(cls, bag: Path) -> Content:
        """Read a bag, or that of a run folder, up to its end, or to where it is damaged.

        Raises:
            AccordError: if it is not a bag.
        """
        messages: dict[str, list[bytes]] = defaultdict(list)
        sequence_numbers: dict[str, list[int]] = defaultdict(list)
        kinds: dict[str, str] = {}
        custom: dict[str, str] = {}
        count = 0
        bag = find_bag(Path(bag))
        scans = [scan_of(file) for file in bag_files(bag)]
        for scan in scans:
            for message in scan.messages():
                topic = scan.channels[message.channel].topic
                messages[topic].append(unpacked(message.data, scan))
                sequence_numbers[topic].append(count)
                count += 1
            for channel in scan.channels.values():
                schema = scan.schemas.get(channel.schema_id)
                kinds[channel.topic] = schema.name if schema else ""
            custom.update(custom_data(scan.rosbag2_metadata))
        in_yaml = custom_data(read_metadata(bag)) if bag.is_dir() else {}
        hashes = frozenset(data["sha256"] for data in (custom, in_yaml) if "sha256" in data)
        return cls(bag, messages, sequence_numbers, kinds, custom, hashes, tuple(scans))

    @property
    def complete(self) -> bool:
        """Whether every file was closed properly and none is damaged."""
        return all(scan.complete for scan in self.scans)

    @property
    def count(self) -> int:
        """Number of messages read."""
        return sum(scan.counts.total() for scan in self.scans)

    @cached_property
    def namespace(self) -> str:
        """Prefix of the robot's topics, such as `/snake`; "" where topics have none.

        Where the bag does not state it, it is found by the topics of joint states: of several
        robots the first one with a scenario, or else the first. Gazebo's own joint states do not
        count, because the adapter publishes them again, nor do those of the reference, which is a
        second robot.
        """
        if "robot" in self.custom:
            return f"/{self.custom['robot']}"
        topics = [topic for topic, kind in self.kinds.items() if _is_state(topic, kind)]
        prefixes = sorted(t.removesuffix(f"/{names.STATES}") for t in topics if self.raw(t))
        with_scenario = [name for name in prefixes if self.raw(f"{name}/{names.SCENARIO}")]
        candidates = with_scenario or prefixes
        if len(candidates) > 1:
            robots = " and ".join(candidates)
            _log.warning("%s holds %s; %s is read", self.bag, robots, candidates[0])
        return candidates[0] if candidates else ""

    @property
    def robot(self) -> str:
        """Name of the robot: the last part of the namespace."""
        return self.namespace.rpartition("/")[2]

    def log_doubts(self) -> None:
        """Log warnings about a bag whose messages can be read."""
        for line in doubts(self.bag, self.scans):
            _log.warning("%s", line)

    def raw(self, topic: str) -> list[bytes]:
        """Return the messages of a topic; none for an unknown one."""
        return self.messages.get(topic, [])

    def facts(self) -> dict[str, Any]:
        """Return the content of the scenario topic; empty for a foreign bag."""
        texts = self.raw(f"{self.namespace}/{names.SCENARIO}")
        try:
            data = json.loads(decode_string(texts[-1])) if texts else {}
        except ValueError:
            raise AccordError(f"{self.bag}: the scenario in the bag is not JSON") from None
        return data if isinstance(data, dict) else {}

    def find_topic(self, name: str) -> str:
        """Return our topic, or the only one that has its type; "" where there is neither."""
        own_topic = f"{self.namespace}/{name}"
        if own_topic in self.kinds or name == names.BODIES:
            return own_topic
        of_same_type = [topic for topic, kind in self.kinds.items() if kind == names.TYPES[name]]
        candidates = [t for t in of_same_type if self.raw(t) and not _is_other(t)]
        return candidates[0] if len(candidates) == 1 else ""

    def decode(self, name: str, decode: Callable[[bytes], T]) -> list[T]:
        """Return the decoded messages of the topic that `find_topic` finds; an error names the bag.

        Raises:
            AccordError: for a message that cannot be decoded.
        """
        try:
            return [decode(data) for data in self.raw(self.find_topic(name))]
        except AccordError as error:
            raise AccordError(f"{self.bag}: {error}") from None

    def commands(
        self, name: str, decode: Callable[[bytes], tuple[float, Array]]
    ) -> list[tuple[float, Array]]:
        """Return (time, values) of the commands on one of our topics.

        Those of a foreign bag that cannot be decoded are left out.
        """
        try:
            commands = [decode(data) for data in self.raw(f"{self.namespace}/{name}")]
            if not all(np.isfinite(values).all() for _, values in commands):
                raise AccordError(f"a message of {name} holds a number that is not finite")
            return commands
        except AccordError as error:
            if self.facts():
                raise AccordError(f"{self.bag}: {error}") from None
            _log.warning("%s: commands are left out: %s", self.bag, error)
            return []

    def events(self, name: str = names.EVENTS) -> list[Event]:
        """Return the events of the run, or the findings of its controller (FINDINGS).

        Diagnostics of other publishers are not read.
        """
        messages = self.messages_since_reset(name)
        events = [event for data in messages for event in decode_events(data)]
        return sorted(events, key=lambda event: event.time)

    def messages_since_reset(self, name: str) -> list[bytes]:
        """Return the messages of one of our topics since the last jump back in time, or to 0."""
        topic = f"{self.namespace}/{name}"
        states = self.find_topic(names.STATES)
        stamps = [STAMP.unpack_from(data, STAMP_AT) for data in self.raw(states)]  # (s, ns)
        # Indices of joint states that are earlier than the one before, or than 1 ns.
        jumps = [i for i in range(1, len(stamps)) if stamps[i] < max(stamps[i - 1], (0, 1))]
        first_number = self.sequence_numbers[states][jumps[-1]] if jumps else 0
        numbers = self.sequence_numbers.get(topic, [])
        return [data for data, number in zip(self.raw(topic), numbers) if number >= first_number]

    def states(self, facts: Mapping[str, Any]) -> JointStates:
        """Return the joint states since the last reset; `facts` are those of the bag.

        Raises:
            AccordError: if there are none, or a value is not finite or too large.
        """
        messages = self.raw(self.find_topic(names.STATES))
        if not messages:
            raise AccordError(f"{self.bag} holds no joint states")
        _, all_names, *first_values = read_joint_state(messages[0])
        joints = [name for name in all_names if not name.endswith(TRUE)]
        lengths = [len(values) for values in first_values]  # of positions, velocities and efforts
        lacks_values = not facts and min(lengths) < lengths[0]
        decode: Callable[[bytes], tuple[Any, ...]] = JointStateCodec(joints).decode
        if lacks_values:
            _log.warning("the joint states lack velocities or efforts; they are read as zero")
            decode = partial(decode_padded, joints=joints)
        rows = rows_since_reset(self.decode(names.STATES, decode), self.bag)
        time, q, qd, effort = (np.array(column) for column in zip(*rows, strict=True))
        if not facts and not np.isfinite(effort).all():
            _log.warning("%s: efforts that are not finite are read as zero", self.bag)
            effort = np.where(np.isfinite(effort), effort, 0.0)
        for values, quantity in ((q, "angles"), (qd, "rates"), (effort, "efforts")):
            check_finite(time, values, quantity, self.bag)
        return JointStates(tuple(joints), time, q, qd, effort)

    def switches(self, facts: Mapping[str, Any], time: Array) -> dict[str, NDArray[np.bool_]]:
        """Return the state of each switch at each time (k,), from the events.

        Events have time stamps; messages of a switch's own topic have none. A switch acts from the
        start of a step: the state at the time of the event still has the old value.
        """
        initial: Mapping[str, bool] = facts.get("switches", {})
        switches = {name: np.full(len(time), on) for name, on in initial.items()}
        for event in self.events():
            new_state = event.kind.rpartition("_")[2]
            if event.subject in switches and new_state in ("on", "off"):
                switches[event.subject][time > event.time + ROUND_OFF] = new_state == "on"
        return switches

    def base(self, facts: Mapping[str, Any], state_times: Array) -> BaseMotion:
        """Return the motion of base and bodies at the times of the joint states [s].

        Bodies that are not in the scenario of the bag, if it has one, are left out.
        """
        odometry = self.decode(names.ODOMETRY, OdometryCodec().decode)
        rows = defaultdict(list, {BASE: [(row[0], np.concatenate(row[1:])) for row in odometry]})
        known = facts.get("scenario", {}).get("bodies", {}) if facts else None
        for time, motion, name in self.decode(names.BODIES, read_body):
            if known is None or name in known:
                rows[name].append((time, motion))
        covered, motions = motions_at(state_times, rows, self.bag)
        times, base = state_times[covered], motions.pop(BASE, None)
        at_origin = np.concatenate([np.zeros(3), IDENTITY, np.zeros(6)])
        values = np.tile(at_origin, (len(times), 1)) if base is None else base
        return BaseMotion(times, base is not None, covered, values, motions)


def _is_state(topic: str, kind: str) -> bool:
    """Return whether a topic has joint states, neither Gazebo's own nor the reference's."""
    ours = topic.endswith(f"/{names.STATES}") and not topic.endswith(f"/gz/{names.STATES}")
    return ours and kind == names.TYPES[names.STATES] and not _is_other(topic)


def _is_other(topic: str) -> bool:
    """Return whether a topic is the reference's, or of bodies; a namespace may have that name."""
    return f"/{names.REFERENCE}/" in topic[1:] or topic.endswith(f"/{names.BODIES}")
