"""Joint states of a bag of anybody, and the efforts of other topics that are asked for.

A type of message may be added to READERS. Which topic is read where several have joint states is
decided in `_chosen`, and said in a note; `--topic` decides otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from roboaccord.bag.folder import bag_files, doubts, scan_of, unpacked
from roboaccord.bag.reader import check_whole
from roboaccord.bag.records import McapScan
from roboaccord.bag.topics import REFERENCE, SCENARIO
from roboaccord.cdr.codecs import OdometryCodec, read_joint_state
from roboaccord.cdr.wire import DOUBLE, HEADER, NANOSECONDS, STAMP, STAMP_AT, CdrReader
from roboaccord.contract.errors import AccordError

from roboaccord_files.logs.messages import Row, joint_state, table_of
from roboaccord_files.logs.table import Table

POSE = tuple(f"base/{name}" for name in "x y z qx qy qz qw".split())


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
    try:
        rows = [*_rows(scans)]
        check_whole(path, scans)
        topics = {channel.topic for scan in scans for channel in scan.channels.values()}
        chosen, notes = _chosen(rows, topics, {*joints}, topic)
    except AccordError as error:
        raise AccordError(f"{path}: {error}".replace(f"{path}: {path}", f"{path}")) from None
    kept, more, other = list[Row](), dict[str, None](), set[str]()
    for row in rows:
        if row.topic == chosen:
            there = _joints(row)
            other |= set() if there & {*joints} else there
            kept += [row] if there & {*joints} else []
        elif {*POSE} == {*row.values}:
            near = row.topic.rpartition("/")[0] == chosen.rpartition("/")[0]
            kept += [row] if near else []
        else:
            topic = row.topic + ("" if row.stamp is None else "/")
            values = {topic + name: value for name, value in row.values.items()}
            if any(name in text for text in asked for name in values):
                kept.append(row._replace(values=values))
            more |= dict.fromkeys(n for n in values if row.stamp is None or "/effort/" in n)
    notes += [f"joint states of others left out: {', '.join(sorted(other))}"] if other else []
    notes += [line.replace(f"{path}/", "") for line in doubts(path, scans)]
    return table_of(kept, notes, [*more])


def _joints(row: Row) -> set[str]:
    return {name.removeprefix("q/") for name in row.values if name.startswith("q/")}


def _rows(scans: Iterable[McapScan]) -> Iterator[Row]:
    """Yield the messages that are read, in the order of the bag."""
    for scan in scans:
        for message in scan.messages():
            channel = scan.channels[message.channel]
            schema = scan.schemas.get(channel.schema_id)
            if schema and schema.name in READERS:
                data = unpacked(message.data, scan)
                yield READERS[schema.name](channel.topic, message.time_ns, data)


def _stamp(data: bytes) -> int:
    """Return the stamp of a message with a header [ns]."""
    seconds, nanoseconds = STAMP.unpack_from(data, STAMP_AT)
    return int(seconds * NANOSECONDS + nanoseconds)


def _state(topic: str, received: int, data: bytes) -> Row:
    _, names, *parts = read_joint_state(data)
    return joint_state(topic, _stamp(data), received, names, parts)


def _odometry(topic: str, received: int, data: bytes) -> Row:
    _, position, orientation, _ = OdometryCodec().decode(data)
    return Row(topic, _stamp(data), received, dict(zip(POSE, [*position, *orientation])))


def _numbers(topic: str, received: int, data: bytes) -> Row:
    """Return the numbers of a Float64, or those of a Float64MultiArray behind its layout."""
    reader = CdrReader(data, "Float64MultiArray")
    if len(data) == len(HEADER) + DOUBLE.itemsize:
        return Row(topic, None, received, {"": float(reader.doubles(1)[0])})
    for _ in range(reader.count()):
        reader.string()
        reader.raw(8, 4)  # size and stride
    reader.raw(4, 4)  # offset
    return Row(topic, None, received, {f"[{i}]": x for i, x in enumerate(reader.sequence())})


READERS = {
    "sensor_msgs/msg/JointState": _state,
    "nav_msgs/msg/Odometry": _odometry,
    "std_msgs/msg/Float64": _numbers,
    "std_msgs/msg/Float64MultiArray": _numbers,
}


def _chosen(
    rows: Iterable[Row], topics: Collection[str], joints: set[str], topic: str
) -> tuple[str, list[str]]:
    """Return the topic whose joint states are read, with notes on others.

    Raises:
        AccordError: if no topic has any of the joints.
    """
    has = dict[str, set[str]]()
    for row in rows:
        if there := _joints(row):
            has.setdefault(row.topic, set()).update(there)
    if not has or (topic and topic not in has):
        where = f"; there are some in {', '.join(has)}" if has else ""
        raise AccordError(f"it holds no joint states{f' in {topic}' if has else ''}{where}")

    def worth(name: str) -> tuple[object, ...]:
        above = name.rpartition("/")[0]
        second = f"/{REFERENCE}/" in name[1:] or above.endswith("/gz")
        return -len(joints & has[name]), second, f"{above}/{SCENARIO}" not in topics, name

    chosen = topic or min(has, key=worth)
    if not joints & has[chosen]:
        names = f"{', '.join(sorted(has[chosen]))} of {chosen}"
        raise AccordError(f"no {', '.join(sorted(joints))} among {names}: --names PREFIX, --topic")
    alike = [name for name in has if name != chosen and joints <= has[name] and not topic]
    notes = [f"joint states of {chosen}"] if len(has) > 1 else []
    return chosen, notes + [f"the same joints: --topic {name} reads those" for name in alike]
