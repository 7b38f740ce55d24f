"""What `ros2 bag record` writes of our topics is the same run in any storage or namespace."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import toy_robot
import yaml
from compared_bags import compare
from roboaccord.bag.reader import read_run
from roboaccord.cdr import JointStateCodec
from roboaccord.contract.errors import AccordError
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from slow_cases import late

STORE = get_typestore(Stores.ROS2_JAZZY)
Messages = Sequence[tuple[str, str, int, bytes]]


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    toy_robot.install(tmp_path / "prefix")


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    toy_robot.record(tmp_path / "own")
    return tmp_path / "own"


def messages_of(bag: Path) -> Messages:
    with Reader(bag) as reader:
        return [(c.topic, c.msgtype, t, bytes(data)) for c, t, data in reader.messages()]


def write(
    path: Path,
    messages: Messages,
    storage: str = "mcap",
    mode: CompressionMode = CompressionMode.NONE,
    prefix: str = "",
) -> Path:
    """Write messages as rosbag2 does, at the times of a wall clock."""
    bag_writer = Writer(path, version=9, storage_plugin=StoragePlugin[storage.upper()])
    if mode != CompressionMode.NONE:
        bag_writer.set_compression(mode, CompressionFormat.ZSTD)
    connections: dict[str, Any] = {}
    with bag_writer as writer:
        for i, (topic, kind, _, data) in enumerate(messages):
            name = topic if topic.startswith("/tf") else prefix + topic
            if name not in connections:
                connections[name] = writer.add_connection(name, kind, typestore=STORE)
            writer.write(connections[name], 10**18 + i, data)
    return path


def check_same(bag: Path, ours: Path) -> None:
    run, expected = read_run(bag), read_run(ours)
    assert run.trajectory.sha256() == expected.trajectory.sha256()
    assert run.trajectory.events == expected.trajectory.events
    assert (run.robot, run.engine, run.urdf) == ("toy", "engine", expected.urdf)
    assert run.scenario == expected.scenario and run.complete
    np.testing.assert_array_equal(run.commands.effort, expected.commands.effort)
    assert compare(ours, [bag]).verdict == "pass"


@pytest.mark.parametrize(
    ("storage", "mode"),
    [
        ("sqlite3", "NONE"),
        ("mcap", "FILE"),
        *late(("sqlite3", "MESSAGE"), ("sqlite3", "FILE")),
        *late(("mcap", "NONE"), ("mcap", "STORAGE"), ("mcap", "MESSAGE")),
    ],
)
def test_any_storage_of_rosbag2_is_the_same_run(
    ours: Path, tmp_path: Path, storage: str, mode: str
) -> None:
    bag = write(tmp_path / "bag", messages_of(ours), storage, CompressionMode[mode])
    (file,) = (path for path in bag.iterdir() if path.suffix != ".yaml")
    assert (file.suffix == ".zstd") == (mode == "FILE")
    check_same(bag, ours)
    check_same(file, ours)
    (bag / "metadata.yaml").unlink()  # as after a crash of the recorder
    check_same(bag, ours)


@pytest.mark.parametrize("storage", ["mcap", *late("sqlite3")])
@pytest.mark.parametrize("listed", [True, False])
def test_a_split_bag_is_one_run(ours: Path, tmp_path: Path, storage: str, listed: bool) -> None:
    """Twelve files, whose order is that of their numbers and not of their letters."""
    messages, bag = messages_of(ours), tmp_path / "bag"
    bag.mkdir()
    parts = np.array_split(np.arange(len(messages)), 12)
    names, last = [], {}
    for i, part in enumerate(parts):
        written = write(tmp_path / f"bag_{i}", [messages[k] for k in part], storage)
        (file,) = (path for path in written.iterdir() if path.suffix != ".yaml")
        shutil.move(file, bag)
        names.append(file.name)
        last = yaml.safe_load((written / "metadata.yaml").read_text())
    if listed:
        inside = last["rosbag2_bagfile_information"]
        inside |= {"relative_file_paths": names, "message_count": len(messages)}
        (bag / "metadata.yaml").write_text(yaml.safe_dump(last))
    check_same(bag, ours)


def test_the_robot_of_a_namespace_is_found(ours: Path, tmp_path: Path) -> None:
    check_same(write(tmp_path / "bag", messages_of(ours), prefix="/lab/a"), ours)


def test_of_two_robots_one_is_read_and_named(
    ours: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    twice = [
        (prefix + topic, *rest)
        for topic, *rest in messages_of(ours)
        for prefix in ("/a", "/b")
        if not topic.startswith("/tf")
    ]
    check_same(write(tmp_path / "bag", twice), ours)
    assert "holds /a/toy and /b/toy; /a/toy is read" in caplog.text


@pytest.mark.parametrize("mode", ["NONE", "FILE"])
def test_a_damaged_database_is_refused_in_one_line(ours: Path, tmp_path: Path, mode: str) -> None:
    bag = write(tmp_path / "bag", messages_of(ours), "sqlite3", CompressionMode[mode])
    (file,) = (path for path in bag.iterdir() if path.suffix != ".yaml")
    raw = file.read_bytes()
    for harmed in (b"hello", raw[: len(raw) // 2], b""):
        file.write_bytes(harmed)
        with pytest.raises(AccordError, match="is not a bag") as caught:
            read_run(bag)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("value", "reason"), [(np.nan, "not finite"), (1e200, r"beyond 1e\+75")])
@pytest.mark.parametrize("field", ["q", "qd", "effort"])
def test_motion_that_is_not_finite_is_refused(
    ours: Path, tmp_path: Path, field: str, value: float, reason: str
) -> None:
    """Efforts of a foreign bag apart: ros2_control publishes NaN where nothing is measured."""
    codec = JointStateCodec(read_run(ours).trajectory.joints)

    def spoilt(message: tuple[str, str, int, bytes]) -> tuple[str, str, int, bytes]:
        topic, kind, time_ns, data = message
        if kind == "sensor_msgs/msg/JointState":
            time, *found = codec.decode(data)
            columns = dict(zip(("q", "qd", "effort"), found, strict=True))
            columns[field][0] = value if time > 0 else columns[field][0]
            data = codec.encode(SimpleNamespace(time=time, encoders=(), **columns))
        return topic, kind, time_ns, data

    messages = [spoilt(message) for message in messages_of(ours)]
    bag = write(tmp_path / "own_nan", messages)
    with pytest.raises(AccordError, match=f"are {reason} at t = "):
        read_run(bag)
    foreign = [message for message in messages if not message[0].endswith("/scenario")]
    bag = write(tmp_path / "foreign_nan", foreign)
    if field == "effort" and np.isnan(value):
        assert (read_run(bag).trajectory.effort[1:, 0] == 0.0).all()
    else:
        with pytest.raises(AccordError, match=f"are {reason} at t = "):
            read_run(bag)
