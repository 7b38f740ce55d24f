"""Read a log from a ROS bag: joint states, the pose of the base, and topics that are asked for.

All messages of the types in READERS (at the end) become rows, with columns such as `q/elbow`
(messages.py). Which of them are kept:

- joint states of one topic. If several have some, `_joint_state_topic` decides which one is read,
  and a note says so; the user chooses another one by `--topic`;
- poses of the base, from a topic in the same namespace;
- efforts that a controller of ros2_control was sent, where the joint states have none
  (`_command_columns`);
- rows of other topics, if the user names them, as a topic of efforts in `--map`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from roboaccord.bag.folder import bag_files, doubts, find_bag, scan_of, unpacked
from roboaccord.bag.reader import check_whole
from roboaccord.bag.records import McapScan
from roboaccord.bag.topics import REFERENCE, SCENARIO
from roboaccord.cdr.codecs import OdometryCodec, read_joint_state
from roboaccord.cdr.wire import DOUBLE, HEADER, NANOSECONDS, STAMP, STAMP_AT, CdrReader
from roboaccord.contract.errors import AccordError, listed

from roboaccord_files.logs.messages import Row, joint_state, table_of
from roboaccord_files.logs.table import Table

# Topic of the efforts that a controller of ros2_control is sent: /effort_controller/commands.
COMMANDS = re.compile(r"effort\w*/commands$")
POSE = tuple(f"base/{name}" for name in "x y z qx qy qz qw".split())  # columns of a base's pose
POSITION, EFFORT = "q/", "effort/"  # before the joint in the name of a column
Commands = Mapping[str, Sequence[str]]  # columns of efforts, by the topic that sends them


def read_bag(path: Path, joints: Sequence[str], topic: str, asked: Collection[str]) -> Table:
    """Return the joint states of a bag as a table, a row each message.

    Args:
        path: of the run folder or bag, or a file of it.
        joints: names of the robot's joints in the messages.
        topic: of the joint states; "" for the one that has most of the joints.
        asked: columns that the user names; these may be of other topics.

    Raises:
        AccordError: if it is no bag, is damaged, or has no joint states of these joints.
    """
    path = find_bag(path)
    scans = [scan_of(file) for file in bag_files(path)]
    try:
        rows = [*_read_rows(scans)]
        check_whole(path, scans)
        all_topics = {channel.topic for scan in scans for channel in scan.channels.values()}
        main_topic, notes = _joint_state_topic(rows, all_topics, {*joints}, topic)
    except AccordError as error:
        raise AccordError(f"{path}: {error}".replace(f"{path}: {path}", f"{path}")) from None
    commands = _command_columns(rows, main_topic, asked)
    kept, further, foreign_joints = list[Row](), dict[str, None](), set[str]()
    for row in rows:
        # Columns of other topics that may hold efforts: of these, and plain numbers.
        if row.topic not in (main_topic, *commands) and {*POSE} != {*row.values}:
            names = [*_with_topic(row)]
            further |= dict.fromkeys(n for n in names if row.stamp is None or f"/{EFFORT}" in n)
        if values := _kept_values(row, main_topic, commands, joints, asked):
            kept.append(row._replace(values=values))
        elif row.topic == main_topic:
            foreign_joints.update(_joints_of(row))
    if foreign_joints:
        notes.append(f"joint states of others left out: {', '.join(sorted(foreign_joints))}")
    for topic in commands:
        notes.append(f"efforts are those of {topic}, in the order of the joint states")
    notes += [line.replace(f"{path}/", "") for line in doubts(path, scans)]
    return table_of(kept, notes, [*further])._replace(commanded=bool(commands))


def _kept_values(
    row: Row, main_topic: str, commands: Commands, joints: Sequence[str], asked: Collection[str]
) -> Mapping[str, float]:
    """Return the values of a row that are kept, by column; none if the row is left out.

    Args:
        row: any of the bag.
        main_topic: of the joint states.
        commands: columns of the efforts that joints were sent, by topic.
        joints, asked: as of `read_bag`.
    """
    if row.topic in commands:
        return dict(zip(commands[row.topic], row.values.values()))
    if row.topic == main_topic:
        if {*joints}.isdisjoint(_joints_of(row)):
            return {}  # of another robot on the same topic
        if not commands:
            return row.values
        return {name: x for name, x in row.values.items() if not name.startswith(EFFORT)}
    if {*POSE} == {*row.values}:
        is_near = row.topic.rpartition("/")[0] == main_topic.rpartition("/")[0]
        return row.values if is_near else {}
    values = _with_topic(row)
    return values if any(name in text for text in asked for name in values) else {}


def _with_topic(row: Row) -> dict[str, float]:
    """Return the values of a row, with its topic before the names of the columns."""
    prefix = row.topic + ("" if row.stamp is None else "/")
    return {prefix + name: value for name, value in row.values.items()}


def _joints_of(row: Row) -> list[str]:
    """Return the names of the joints whose positions a row has, in its order."""
    return [name.removeprefix(POSITION) for name in row.values if name.startswith(POSITION)]


def _joint_state_topic(
    rows: Iterable[Row], topics: Collection[str], joints: set[str], topic: str
) -> tuple[str, list[str]]:
    """Return the topic whose joint states are read, with notes on other topics.

    Args:
        rows: all messages that were read.
        topics: names of all topics of the bag.
        joints: names of the robot's joints.
        topic: which the user asks for; "" if none.

    Raises:
        AccordError: if no topic, or not the one asked for, has any of the joints.
    """
    by_topic = dict[str, set[str]]()  # joints
    for row in rows:
        if names_in_row := _joints_of(row):
            by_topic.setdefault(row.topic, set()).update(names_in_row)
    if not by_topic:
        raise AccordError("it holds no joint states")
    if topic and topic not in by_topic:
        where = f"; there are some in {', '.join(by_topic)}"
        raise AccordError(f"it holds no joint states in {topic}{where}")

    def preference(name: str) -> tuple[object, ...]:
        """Order topics: most joints; no copy (our reference, Gazebo's own); those of a scenario."""
        namespace = name.rpartition("/")[0]
        copy = f"/{REFERENCE}/" in name[1:] or namespace.endswith("/gz")
        return -len(joints & by_topic[name]), copy, f"{namespace}/{SCENARIO}" not in topics, name

    chosen = topic or min(by_topic, key=preference)
    if not joints & by_topic[chosen]:
        names = f"{listed(sorted(by_topic[chosen]))} of {chosen}"
        raise AccordError(f"no {', '.join(sorted(joints))} among {names}: --names PREFIX, --topic")
    notes = [f"joint states of {chosen}"] if len(by_topic) > 1 else []
    for name, others in by_topic.items():
        if name != chosen and joints <= others and not topic:
            notes.append(f"the same joints: --topic {name} reads those")
    return chosen, notes


def _command_columns(rows: Iterable[Row], main_topic: str, asked: Collection[str]) -> Commands:
    """Return the columns of the efforts that joints were sent, by their topic.

    The order of the joints, which no message states, is that of the joint states. There are none
    without a topic of as many numbers, if efforts were measured, or if the user names columns of
    the topic.

    Args:
        rows: all messages that were read.
        main_topic: of the joint states; gz_ros2_control sends efforts of 0, others NaN.
        asked: columns that the user names.
    """
    sizes, joints = dict[str, int](), list[str]()  # numbers of efforts, by topic
    for row in rows:
        if row.topic == main_topic:
            efforts = [x for name, x in row.values.items() if name.startswith(EFFORT)]
            if any(x and not math.isnan(x) for x in efforts):
                return {}
            joints = _joints_of(row)
        elif COMMANDS.search(row.topic) and not any(row.topic in text for text in asked):
            sizes[row.topic] = len(row.values)
    fitting = [topic for topic, size in sizes.items() if size == len(joints)]
    return {topic: [EFFORT + joint for joint in joints] for topic in fitting[:1]}


def _read_rows(scans: Iterable[McapScan]) -> Iterator[Row]:
    """Yield the messages of types in READERS, in the order of the bag."""
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


def _joint_state_row(topic: str, received: int, data: bytes) -> Row:
    """Return a JointState as a row."""
    _, names, *parts = read_joint_state(data)
    return joint_state(topic, _stamp(data), received, names, parts)


def _odometry_row(topic: str, received: int, data: bytes) -> Row:
    """Return the pose of an Odometry as a row."""
    _, position, orientation, _ = OdometryCodec().decode(data)
    return Row(topic, _stamp(data), received, dict(zip(POSE, [*position, *orientation])))


def _numbers_row(topic: str, received: int, data: bytes) -> Row:
    """Return the number of a Float64 as the column "", those of a Float64MultiArray as [0], ...

    A Float64 has 8 bytes after the header of CDR; an array has its layout, which is skipped, and
    then the numbers.
    """
    reader = CdrReader(data, "Float64MultiArray")
    if len(data) == len(HEADER) + DOUBLE.itemsize:
        return Row(topic, None, received, {"": float(reader.doubles(1)[0])})
    for _ in range(reader.count()):
        reader.string()
        reader.raw(8, 4)  # size and stride
    reader.raw(4, 4)  # offset
    return Row(topic, None, received, {f"[{i}]": x for i, x in enumerate(reader.sequence())})


READERS = {
    "sensor_msgs/msg/JointState": _joint_state_row,
    "nav_msgs/msg/Odometry": _odometry_row,
    "std_msgs/msg/Float64": _numbers_row,
    "std_msgs/msg/Float64MultiArray": _numbers_row,
}
