"""Messages of a bag by topic, decoded to states, commands and facts.

A topic of our own bags may be added, and is read by a method like `commands` or `events` here,
under its name of topics.py. What is guessed of foreign bags (the only topic of a type, missing
velocities, a slower base) is fixed by test_bag and test_foreign: guess more only with a line in the
log. MOST may be changed: numbers beyond it, or not finite, are refused before anything multiplies
them.
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
from roboaccord.bag.folder import bag_files, custom_data, doubts, read_metadata, scan_of, unpacked
from roboaccord.bag.records import McapScan
from roboaccord.cdr.codecs import TRUE, JointStateCodec, OdometryCodec, read_joint_state
from roboaccord.cdr.messages import decode_events, decode_string
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import IDENTITY, Array
from roboaccord.contract.trajectory import Event

_STAMP = struct.Struct("<4xiI")  # behind the header of CDR
_ROUND_OFF = 1e-7  # s: a stamp is exact to 1 ns, and the clock of an engine sums up round-off
MOST = 1e75  # of a number of a state: products of four are finite
_BASE = 13  # numbers of position, orientation and twist
_log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Content:
    """Hold the messages of a bag by topic with their places in the file, and the topics' types."""

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
        """True if every file was closed properly and none is damaged."""
        return all(scan.complete for scan in self.scans)

    @property
    def count(self) -> int:
        """Number of messages read."""
        return sum(scan.counts.total() for scan in self.scans)

    @cached_property
    def namespace(self) -> str:
        """Prefix of the robot's topics, such as `/snake`, as the bag states it where it does.

        Of several robots that is the first which has a scenario, or else the first. Gazebo's own
        joint states are not looked at: the adapter publishes them again. Nor are those of the
        reference, which is a second robot.
        """
        if "robot" in self.custom:
            return f"/{self.custom['robot']}"
        states = [t for t, kind in self.kinds.items() if _is_state(t, kind)]
        found = sorted(t.removesuffix(f"/{names.STATES}") for t in states if self.raw(t))
        ours = [n for n in found if self.raw(f"{n}/{names.SCENARIO}")] or found
        if len(ours) > 1:
            _log.warning("%s holds %s; %s is read", self.bag, " and ".join(ours), ours[0])
        return ours[0] if ours else ""

    @property
    def robot(self) -> str:
        """The name of the robot: the last part of the namespace."""
        return self.namespace.rpartition("/")[2]

    def log_doubts(self) -> None:
        """Log whatever a reader should know of a bag whose messages can be read."""
        for line in doubts(self.bag, self.scans):
            _log.warning("%s", line)

    def raw(self, topic: str) -> list[bytes]:
        return self.messages.get(topic, [])

    def facts(self) -> dict[str, Any]:
        """Return the content of the scenario topic; nothing for a foreign bag."""
        texts = self.raw(f"{self.namespace}/{names.SCENARIO}")
        try:
            data = json.loads(decode_string(texts[-1])) if texts else {}
        except ValueError:
            raise AccordError(f"{self.bag}: the scenario in the bag is not JSON") from None
        return data if isinstance(data, dict) else {}

    def of_kind(self, name: str) -> list[bytes]:
        """Return the messages of our topic, or else of the only topic of the same type."""
        return self.raw(self.topic_of_kind(name))

    def topic_of_kind(self, name: str) -> str:
        """Return our topic, or else the only one of the same type; "" where there is none."""
        own = f"{self.namespace}/{name}"
        if own in self.kinds:
            return own
        same = [
            topic
            for topic, kind in self.kinds.items()
            if kind == names.KINDS[name] and self.raw(topic) and not _is_second(topic)
        ]
        return same[0] if len(same) == 1 else ""

    def decode(self, name: str, decode: Callable[[bytes], T]) -> list[T]:
        try:
            return [decode(data) for data in self.of_kind(name)]
        except AccordError as error:
            raise AccordError(f"{self.bag}: {error}") from None

    def commands(
        self, name: str, decode: Callable[[bytes], tuple[float, Array]]
    ) -> list[tuple[float, Array]]:
        """Return the commands of a topic of ours; none where a foreign bag means another thing."""
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
        """Return the events of the run, or what its controller found out: FINDINGS.

        Diagnostics of others are not ours to read.
        """
        since = self.since_reset(name)
        events = [event for data in since for event in decode_events(data)]
        return sorted(events, key=lambda event: event.time)

    def since_reset(self, name: str) -> list[bytes]:
        """Return the messages of a topic of ours after the last jump back in time."""
        topic, states = f"{self.namespace}/{name}", self.topic_of_kind(names.STATES)
        stamps = [_STAMP.unpack_from(data) for data in self.raw(states)]
        jumps = [i for i in range(1, len(stamps)) if stamps[i] < stamps[i - 1]]
        start = self.places[states][jumps[-1]] if jumps else 0
        where = self.places.get(topic, [])
        return [data for data, place in zip(self.raw(topic), where) if place >= start]

    def states(self, facts: Mapping[str, Any]) -> tuple[tuple[str, ...], Sequence[Array]]:
        """Return the joint names, and time, q, qd and effort of every joint state."""
        if not (messages := self.of_kind(names.STATES)):
            raise AccordError(f"{self.bag} holds no joint states")
        _, found_names, q, qd, effort = read_joint_state(messages[0])
        joints = [name for name in found_names if not name.endswith(TRUE)]
        foreign = not facts and (len(qd) < len(q) or len(effort) < len(q))
        codec = JointStateCodec(joints)
        decode = _decode_padded(joints) if foreign else codec.decode
        rows = _since_reset(self.decode(names.STATES, decode), self.bag)
        time, *found = [np.array(column) for column in zip(*rows, strict=True)]
        if not facts and not np.isfinite(found[2]).all():
            _log.warning("%s: efforts that are not finite are read as zero", self.bag)
            found[2] = np.where(np.isfinite(found[2]), found[2], 0.0)
        for values, what in zip(found, ("angles", "rates", "efforts"), strict=True):
            self._check_finite(time, values, what)
        return tuple(joints), [time, *found]

    def _check_finite(self, time: Array, values: Array, what: str) -> None:
        """Refuse values (k, m) that are not all finite, or so large that products are not.

        Raises:
            AccordError: if one is not, naming the first time.
        """
        bad = ~(np.abs(values) < MOST).all(axis=1)
        if bad.any():
            i = int(bad.argmax())
            reason = f"beyond {MOST:g}" if np.isfinite(values[i]).all() else "not finite"
            raise AccordError(f"{self.bag}: {what} are {reason} at t = {time[i]:g} s")

    def switches(self, facts: Mapping[str, Any], time: Array) -> dict[str, NDArray[np.bool_]]:
        """Return the state of each switch at each time (k,), from the stamped events.

        Messages of a switch's topic have no stamp. A switch acts at the start of a step: the
        state at that very time is still the old one, as the controller saw it.
        """
        initial: Mapping[str, bool] = facts.get("switches", {})
        found = {name: np.full(len(time), on) for name, on in initial.items()}
        for event in self.events():
            turn = event.kind.rpartition("_")[2]
            if event.subject in found and turn in ("on", "off"):
                found[event.subject][time > event.time + _ROUND_OFF] = turn == "on"
        return found

    def base(self, time: Array) -> tuple[Array, bool, slice, Array]:
        """Return times, whether there is a base, which states have one, and the base (k, 13)."""
        rows = _since_reset(self.decode(names.ODOMETRY, OdometryCodec().decode), self.bag)
        times = np.array([row[0] for row in rows])
        values = np.array([np.concatenate(row[1:]) for row in rows]).reshape(-1, _BASE)
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
        there = (times >= time[0]) & (times <= time[-1])  # more may have come before the end
        if np.array_equal(time, times[there]):
            return time, True, keep, values[there]
        return time, True, keep, _interpolate(time, times, values)


def _is_state(topic: str, kind: str) -> bool:
    ours = topic.endswith(f"/{names.STATES}") and not topic.endswith(f"/gz/{names.STATES}")
    return ours and kind == names.KINDS[names.STATES] and not _is_second(topic)


def _is_second(topic: str) -> bool:
    """Return whether a topic is the second robot's; a first one may be called so, too."""
    return f"/{names.REFERENCE}/" in topic[1:]


def _decode_padded(joints: Sequence[str]) -> Callable[[bytes], tuple[float, Array, Array, Array]]:
    """Return a decoder for publishers that leave velocity or effort out: zeros stand there."""
    _log.warning("the joint states lack velocities or efforts; they are read as zero")

    def decode(data: bytes) -> tuple[float, Array, Array, Array]:
        time, found, *columns = read_joint_state(data)
        place = {name: i for i, name in enumerate(found)}
        if not set(joints) <= set(place) or len(columns[0]) != len(found):
            raise AccordError("the joint states change their joints within the bag")
        order = [place[name] for name in joints]
        full = [c[order] if len(c) == len(found) else np.zeros(len(joints)) for c in columns]
        return time, full[0], full[1], full[2]

    return decode


def _since_reset(rows: Sequence[tuple[Any, ...]], bag: Path) -> list[tuple[Any, ...]]:
    """Return the rows after the last reset (jump back in time), each time once."""
    kept: list[tuple[Any, ...]] = []
    for row in rows:
        if kept and row[0] < kept[-1][0]:
            _log.warning("%s: time jumps back to %g s; what was before is left out", bag, row[0])
            kept.clear()
        if not kept or row[0] > kept[-1][0]:
            kept.append(row)
    return kept


def _interpolate(time: Array, times: Array, values: Array) -> Array:
    """Return the base at other times: linear, and the quaternion normalised again."""
    values = values.copy()
    turns = values[:, 3:7]
    flips = np.cumprod(np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))
    turns[1:] *= flips[:, None]
    base = np.column_stack([np.interp(time, times, column) for column in values.T])
    exact = np.isin(time, times)
    norm = np.linalg.norm(base[~exact, 3:7], axis=1, keepdims=True)
    base[~exact, 3:7] /= np.where(norm > 0.0, norm, 1.0)
    return base
