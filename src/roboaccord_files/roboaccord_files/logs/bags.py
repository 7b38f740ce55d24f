"""Joint states of a bag of anybody, and the efforts of other topics that are asked for.

A type of message may be added: to `_add`, and to READ. Which topic is read where several have joint
states is decided in `_chosen`, and said in a note; `--topic` decides otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from roboaccord.bag.folder import bag_files, doubts, scan_of, unpacked
from roboaccord.bag.reader import check_whole
from roboaccord.bag.records import McapScan
from roboaccord.bag.topics import REFERENCE, SCENARIO
from roboaccord.cdr.codecs import OdometryCodec, read_joint_state
from roboaccord.cdr.wire import NANOSECONDS, STAMP, STAMP_AT, CdrReader
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

from roboaccord_files.logs.messages import Messages
from roboaccord_files.logs.table import Table

STATE, ODOMETRY = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
NUMBER, NUMBERS = "std_msgs/msg/Float64", "std_msgs/msg/Float64MultiArray"
READ = (STATE, ODOMETRY, NUMBER, NUMBERS)
POSE = tuple(f"base/{name}" for name in "x y z qx qy qz qw".split())


class Came(NamedTuple):
    """A message: topic, type, time of receipt [ns], and bytes."""

    topic: str
    kind: str
    received: int
    data: bytes


class State(NamedTuple):
    """A joint state: stamp [ns], names, and positions, rates and efforts as far as there are."""

    stamp: int
    joints: Sequence[str]
    parts: Sequence[Array]


def read_bag(path: Path, joints: Sequence[str], topic: str, asked: Collection[str]) -> Table:
    """Return the joint states of a bag as a table, a row each message.

    Args:
        path: folder or file.
        joints: names in the messages.
        topic: of the joint states; "" for the one that has most of the joints.
        asked: columns that are asked for, which may name other topics.

    Raises:
        AccordError: if it is no bag, is damaged, or holds no joint states of these joints.
    """
    scans = [scan_of(file) for file in bag_files(path)]
    came = [*_messages(scans)]
    check_whole(path, scans)
    try:
        states = {i: _state(m.data) for i, m in enumerate(came) if m.kind == STATE}
        chosen, notes = _chosen(came, states, joints, topic, [s.channels for s in scans])
        return _table(came, states, joints, chosen, asked, [*doubts(path, scans), *notes])
    except AccordError as error:
        raise AccordError(f"{path}: {error}") from None


def _messages(scans: Iterable[McapScan]) -> Iterator[Came]:
    for scan in scans:
        for message in scan.messages():
            channel = scan.channels[message.channel]
            schema = scan.schemas.get(channel.schema_id)
            if schema and schema.name in READ:
                data = unpacked(message.data, scan)
                yield Came(channel.topic, schema.name, message.time_ns, data)


def _stamp(data: bytes) -> int:
    """Return the stamp of a message with a header [ns]."""
    seconds, nanoseconds = STAMP.unpack_from(data, STAMP_AT)
    return int(seconds * NANOSECONDS + nanoseconds)


def _state(data: bytes) -> State:
    _, names, *parts = read_joint_state(data)
    return State(_stamp(data), names, parts)


def _chosen(
    came: Sequence[Came],
    states: Mapping[int, State],
    joints: Sequence[str],
    topic: str,
    channels: Sequence[Mapping[int, object]],
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the topics whose joint states are read, with notes on others.

    Raises:
        AccordError: if no topic has any of the joints.
    """
    has: dict[str, set[str]] = {}
    for i, state in states.items():
        has.setdefault(came[i].topic, set()).update(state.joints)
    if not has:
        raise AccordError("it holds no joint states")
    if topic and topic not in has:
        raise AccordError(f"no joint states in {topic}; there are some in {', '.join(has)}")
    ours = {getattr(each, "topic", "") for channel in channels for each in channel.values()}

    def last(name: str) -> tuple[object, ...]:
        above = name.rpartition("/")[0]
        second = f"/{REFERENCE}/" in name[1:] or above.endswith("/gz")
        return -len({*joints} & has[name]), second, f"{above}/{SCENARIO}" not in ours, name

    first, *others = [topic] if topic else sorted(has, key=last)
    if not {*joints} & has[first]:
        names = ", ".join(sorted(set().union(*has.values())))
        ends = [name for name in names.split(", ") if name.endswith(joints[0])]
        cure = f": --names {ends[0].removesuffix(joints[0])}" if ends else ""
        raise AccordError(f"no joint of the robot among those of joint states, {names}{cure}")
    chosen = [first]
    for name in others:
        known = set().union(*(has[each] for each in chosen))
        if {*joints} & has[name] - known:
            chosen.append(name)
    alike = [name for name in others if name not in chosen and {*joints} <= has[name]]
    notes = [f"joint states of {' and '.join(chosen)}"] if len(has) > 1 else []
    notes += [f"the same joints are in {name}: --topic {name} reads it" for name in alike]
    return chosen, notes


def _table(
    came: Sequence[Came],
    states: Mapping[int, State],
    joints: Sequence[str],
    chosen: Sequence[str],
    asked: Collection[str],
    notes: Sequence[str],
) -> Table:
    """Return the joint states of topics, the pose of their base, and what else is asked for."""
    gathered, other, odometry = Messages(), list[str](), OdometryCodec()
    above = {topic.rpartition("/")[0] for topic in chosen}
    kinds = {each.topic: each.kind for each in came}
    wanted = {topic for topic in kinds if any(topic in text for text in asked)}
    for i, message in enumerate(came):
        topic, kind, received, data = message
        if i in states and topic in chosen:
            stamp, names, parts = states[i]
            if {*joints} & {*names}:
                gathered.add_state(stamp, received, names, parts)
            else:
                other += names
        elif i in states and topic in wanted:
            gathered.add_state(*states[i][:1], received, *states[i][1:], topic=f"{topic}/")
        elif kind == ODOMETRY and topic.rpartition("/")[0] in above:
            _, position, orientation, _ = odometry.decode(data)
            gathered.add(_stamp(data), received, POSE, [*position, *orientation])
        elif kind in (NUMBER, NUMBERS) and topic in wanted:
            values = _numbers(kind, data)
            each = [topic if kind == NUMBER else f"{topic}[{j}]" for j in range(len(values))]
            gathered.add(None, received, tuple(each), values)
    if other:
        names = ", ".join(sorted({*other}))
        notes = [*notes, f"joint states of other joints left out: {names}"]
    ends = {NUMBERS: "[0]", NUMBER: ""}
    more = [topic + ends[kind] for topic, kind in kinds.items() if kind in ends]
    return gathered.table(notes, more)


def _numbers(kind: str, data: bytes) -> Array:
    """Return the numbers of a Float64MultiArray or a Float64."""
    reader = CdrReader(data, kind)
    if kind == NUMBER:
        return reader.doubles(1)
    for _ in range(reader.count()):
        reader.string()
        reader.raw(8, 4)  # size and stride
    reader.raw(4, 4)  # offset
    return reader.sequence()
