"""Messages of a bag by topic, decoded to states, commands, events and facts.

`Content.of` reads all messages of a bag, up to its end or to where it is damaged. Its methods
decode them: `states` the joints, `base` the odometry, `commands`, `events` and `switches` the rest,
and `facts` the scenario and the versions that our own recorder writes. A foreign bag, such as one
of `ros2 bag record`, has no facts; what is assumed of it (the only topic of a type, missing
velocities, a base that is recorded less often) stays, and is logged (test_bag, test_foreign).

A topic of our own bags is added in topics.py, with a method here that reads it. Numbers beyond MOST
are refused before they are multiplied.
"""

from __future__ import annotations

import json
import logging
import struct
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from roboaccord.bag import topics as names
from roboaccord.bag.folder import bag_files, doubts, scan_of, unpacked
from roboaccord.bag.metadata import custom_data, read_metadata
from roboaccord.bag.records import McapScan
from roboaccord.bag.rows import BASE_NUMBERS, decode_padded, interpolate_base, since_reset
from roboaccord.cdr.codecs import TRUE, JointStateCodec, OdometryCodec, read_joint_state
from roboaccord.cdr.messages import decode_events, decode_string
from roboaccord.contract.checks import ROUND_OFF
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import IDENTITY, Array
from roboaccord.contract.trajectory import Event

_STAMP = struct.Struct("<4xiI")  # seconds and nanoseconds of a time stamp, behind the header of CDR
MOST = 1e75  # largest number in a state: a product of four such numbers, 1e300, is finite
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Content:
    """Messages of a bag by topic.

    Args:
        bag: folder or file.
        messages: bytes of the messages by topic.
        places: their positions in the order of all messages, by topic.
        kinds: message type by topic.
        custom: custom data that the writer stored in the file.
        hashes: hashes of the trajectory that the bag states.
        scans: readers of the files, with what they found.
    """

    bag: Path
    messages: Mapping[str, list[bytes]]
    places: Mapping[str, list[int]]
    kinds: Mapping[str, str]
    custom: Mapping[str, str]
    hashes: frozenset[str]
    scans: tuple[McapScan, ...]

    @classmethod
    def of(cls, bag: Path) -> Content:
        """Read a bag up to its end, or to where it is damaged.

        Raises:
            AccordError: if it is not a bag.
        """
        messages: dict[str, list[bytes]] = defaultdict(list)
        places: dict[str, list[int]] = defaultdict(list)
        count = 0
        kinds: dict[str, str] = {}
        custom: dict[str, str] = {}
        scans = [scan_of(file) for file in bag_files(bag)]
        for scan in scans:
            for message in scan.messages():
                topic = scan.channels[message.channel].topic
                messages[topic].append(unpacked(message.data, scan))
                places[topic].append(count)
                count += 1
            for channel in scan.channels.values():
                schema = scan.schemas.get(channel.schema_id)
                kinds[channel.topic] = schema.name if schema else ""
            custom.update(custom_data(scan.of_rosbag2))
        beside = custom_data(read_metadata(bag)) if bag.is_dir() else {}
        hashes = frozenset(d["sha256"] for d in (custom, beside) if "sha256" in d)
        return cls(bag, messages, places, kinds, custom, hashes, tuple(scans))

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
        states = [t for t, kind in self.kinds.items() if _is_state(t, kind)]
        prefixes = sorted(t.removesuffix(f"/{names.STATES}") for t in states if self.raw(t))
        candidates = [n for n in prefixes if self.raw(f"{n}/{names.SCENARIO}")] or prefixes
        if len(candidates) > 1:
            _log.warning(
                "%s holds %s; %s is read", self.bag, " and ".join(candidates), candidates[0]
            )
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

    def of_kind(self, name: str) -> list[bytes]:
        """Return the messages of our topic, or of the only topic that has its type."""
        return self.raw(self.topic_of_kind(name))

    def topic_of_kind(self, name: str) -> str:
        """Return our topic, or the only one that has its type; "" where there is neither."""
        ours = f"{self.namespace}/{name}"
        if ours in self.kinds:
            return ours
        same = [
            topic
            for topic, kind in self.kinds.items()
            if kind == names.KINDS[name] and self.raw(topic) and not _is_second(topic)
        ]
        return same[0] if len(same) == 1 else ""

    def decode(self, name: str, decode: Callable[[bytes], T]) -> list[T]:
        """Return the decoded messages of `of_kind`; an error names the bag."""
        try:
            return [decode(data) for data in self.of_kind(name)]
        except AccordError as error:
            raise AccordError(f"{self.bag}: {error}") from None

    def commands(
        self, name: str, decode: Callable[[bytes], tuple[float, Array]]
    ) -> list[tuple[float, Array]]:
        """Return (time, values) of the commands on one of our topics.

        Those of a foreign bag that cannot be decoded are left out.
        """
        try:
            rows = [decode(data) for data in self.raw(f"{self.namespace}/{name}")]
            if not all(np.isfinite(row[1]).all() for row in rows):
                raise AccordError(f"a message of {name} holds a number that is not finite")
            return rows
        except AccordError as error:
            if self.facts():
                raise AccordError(f"{self.bag}: {error}") from None
            _log.warning("%s: commands are left out: %s", self.bag, error)
            return []

    def events(self, name: str = names.EVENTS) -> list[Event]:
        """Return the events of the run, or the findings of its controller (FINDINGS).

        Diagnostics of other publishers are not read.
        """
        since = self.since_reset(name)
        events = [event for data in since for event in decode_events(data)]
        return sorted(events, key=lambda event: event.time)

    def since_reset(self, name: str) -> list[bytes]:
        """Return the messages of one of our topics since the last jump back in time, or to 0."""
        topic, states = f"{self.namespace}/{name}", self.topic_of_kind(names.STATES)
        stamps = [_STAMP.unpack_from(data) for data in self.raw(states)]
        jumps = [i for i in range(1, len(stamps)) if stamps[i] < max(stamps[i - 1], (0, 1))]
        start = self.places[states][jumps[-1]] if jumps else 0
        places = self.places.get(topic, [])
        return [data for data, place in zip(self.raw(topic), places) if place >= start]

    def states(self, facts: Mapping[str, Any]) -> tuple[tuple[str, ...], Sequence[Array]]:
        """Return the names of n joints, and time (k,), q, qd and effort (k, n) of their states."""
        if not (messages := self.of_kind(names.STATES)):
            raise AccordError(f"{self.bag} holds no joint states")
        _, all_names, q, qd, effort = read_joint_state(messages[0])
        joints = [name for name in all_names if not name.endswith(TRUE)]
        foreign = not facts and (len(qd) < len(q) or len(effort) < len(q))
        codec = JointStateCodec(joints)
        decode = decode_padded(joints) if foreign else codec.decode
        rows = since_reset(self.decode(names.STATES, decode), self.bag)
        time, *values = [np.array(column) for column in zip(*rows, strict=True)]
        if not facts and not np.isfinite(values[2]).all():
            _log.warning("%s: efforts that are not finite are read as zero", self.bag)
            values[2] = np.where(np.isfinite(values[2]), values[2], 0.0)
        for columns, what in zip(values, ("angles", "rates", "efforts"), strict=True):
            self._check_finite(time, columns, what)
        return tuple(joints), [time, *values]

    def _check_finite(self, time: Array, values: Array, what: str) -> None:
        """Refuse values (k, m) that are not finite, or larger than MOST.

        Raises:
            AccordError: naming the first time.
        """
        is_bad = ~(np.abs(values) < MOST).all(axis=1)
        if is_bad.any():
            first = int(is_bad.argmax())
            reason = f"beyond {MOST:g}" if np.isfinite(values[first]).all() else "not finite"
            raise AccordError(f"{self.bag}: {what} are {reason} at t = {time[first]:g} s")

    def switches(self, facts: Mapping[str, Any], time: Array) -> dict[str, NDArray[np.bool_]]:
        """Return the state of each switch at each time (k,), from the events.

        Events have time stamps; messages of a switch's own topic have none. A switch acts from the
        start of a step: the state at the time of the event still has the old value.
        """
        initial: Mapping[str, bool] = facts.get("switches", {})
        switches = {name: np.full(len(time), on) for name, on in initial.items()}
        for event in self.events():
            turn = event.kind.rpartition("_")[2]
            if event.subject in switches and turn in ("on", "off"):
                switches[event.subject][time > event.time + ROUND_OFF] = turn == "on"
        return switches

    def base(self, time: Array) -> tuple[Array, bool, slice, Array]:
        """Return the motion of the base at the times of the joint states.

        Args:
            time: of the joint states [s].

        Returns:
            times (k,) that odometry covers [s]; whether there is any odometry; the slice of joint
            states at these times; position, orientation and twist (k, 13), those of a base at rest
            at the origin where there is no odometry.
        """
        rows = since_reset(self.decode(names.ODOMETRY, OdometryCodec().decode), self.bag)
        times = np.array([row[0] for row in rows])
        values = np.array([np.concatenate(row[1:]) for row in rows]).reshape(-1, BASE_NUMBERS)
        self._check_finite(times, values, "poses or twists of the base")
        first, last = 0, len(time)
        if len(times):
            first = int(np.searchsorted(time, times[0]))
            last = int(np.searchsorted(time, times[-1], side="right"))
        if first >= last or not len(times):
            base = np.tile(np.concatenate([np.zeros(3), IDENTITY, np.zeros(6)]), (len(time), 1))
            return time, False, slice(None), base
        keep = slice(first, last)
        time = time[keep]
        # Odometry may go on after the last joint state.
        inside = (times >= time[0]) & (times <= time[-1])
        if np.array_equal(time, times[inside]):
            return time, True, keep, values[inside]
        return time, True, keep, interpolate_base(time, times, values)


def _is_state(topic: str, kind: str) -> bool:
    """Return whether a topic has the joint states of a robot that is not the second one."""
    ours = topic.endswith(f"/{names.STATES}") and not topic.endswith(f"/gz/{names.STATES}")
    return ours and kind == names.KINDS[names.STATES] and not _is_second(topic)


def _is_second(topic: str) -> bool:
    """Return whether a topic is the second robot's; the namespace itself may have that name."""
    return f"/{names.REFERENCE}/" in topic[1:]
