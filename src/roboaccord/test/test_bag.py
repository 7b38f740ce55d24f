"""Bags: what is written is read back exactly, by us and by rosbags, also after a SIGKILL."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy_robot
import yaml
import zstandard
from mcap.records import Chunk, McapRecord, Message
from mcap.stream_reader import StreamReader, breakup_chunk
from roboaccord.bag import topics as names
from roboaccord.bag.reader import read_run
from roboaccord.bag.spool import FLUSH_PERIOD
from roboaccord.bag.storage import RunWriter, _definitions
from roboaccord.bag.transforms import RobotTransforms
from roboaccord.bag.writer import BagWriter, write_trajectory
from roboaccord.cdr import JointStateCodec, OdometryCodec
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command
from roboaccord.contract.trajectory import Event
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix
from rosbags.interfaces import QosDurability
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from test_cdr import header, message, odometry, raw

STORE = get_typestore(Stores.ROS2_JAZZY)


@pytest.fixture(autouse=True)
def toy(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")  # so that the value of before comes back
    toy_robot.install(tmp_path_factory.getbasetemp() / "prefix")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Kill a recorder, and return its bag and the last tick it surely recorded before a flush."""
    folder = tmp_path_factory.mktemp("killed")
    bag = folder / "bag"
    command = [sys.executable, toy_robot.__file__, str(folder / "prefix"), str(bag)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        started = safe = None
        for line in process.stdout:
            started = started or time.monotonic()
            if time.monotonic() - started < 2 * FLUSH_PERIOD:
                safe = int(line)
            if time.monotonic() - started > 4 * FLUSH_PERIOD:
                process.kill()
                break
    assert safe
    return bag, safe


def copy(bag: Path, target: Path) -> Path:
    shutil.copytree(bag, target)
    return target


def read_with_rosbags(bag: Path) -> dict[str, list[Any]]:
    messages: dict[str, list[Any]] = {}
    with Reader(bag) as reader:
        for connection, time_ns, data in reader.messages():
            made = STORE.deserialize_cdr(data, connection.msgtype)
            messages.setdefault(connection.topic, []).append((time_ns, made))
    return messages


def test_a_run_is_read_back_exactly(tmp_path: Path) -> None:
    trajectory = toy_robot.record(tmp_path / "bag")
    for path in (tmp_path / "bag", tmp_path / "bag" / "bag.mcap"):
        run = read_run(path)
        assert run.complete and run.has_base
        assert run.sha256 == trajectory.sha256() == run.trajectory.sha256()
        assert run.trajectory.events == trajectory.events
        assert (run.robot, run.engine, run.engine_version) == ("toy", "engine", "1.2")
        assert run.transport == "direct" and run.scenario["name"] == "wave"
        assert {"python", "numpy", "roboaccord", "platform"} <= set(run.versions)
        np.testing.assert_array_equal(run.commands.time, trajectory.time[:-1])
        np.testing.assert_array_equal(run.commands.effort, 2.0 * trajectory.q[:-1])
        assert Tree.parse(run.urdf).moving[0].name == "turn"


def test_rosbags_reads_the_same(tmp_path: Path) -> None:
    trajectory = toy_robot.record(tmp_path / "bag")
    messages = read_with_rosbags(tmp_path / "bag")
    states = messages["/toy/joint_states"]
    assert [t for t, _ in states] == [round(t * 1e9) for t in trajectory.time]
    np.testing.assert_array_equal([m.position for _, m in states], trajectory.q)
    bases = [m.pose.pose.position for _, m in messages["/toy/odom"]]
    np.testing.assert_array_equal([(p.x, p.y, p.z) for p in bases], trajectory.position)
    assert len(messages["/toy/joint_trajectory"]) == len(trajectory) - 1
    assert [m.status[0].name for _, m in messages["/toy/events"]] == ["impact"]
    assert 100 <= len(messages["/tf"]) <= 102  # 2 s at 50 Hz


def test_message_definitions_are_those_of_rosbags() -> None:
    """Of all types that a run records; a new one is added to the file as it is here."""
    inputs = {"geometry_msgs/msg/Twist", "std_msgs/msg/Float64", "sensor_msgs/msg/JointState"}
    kinds = {*names.TYPES.values(), *(topic.kind for topic in names.run_topics("R")), *inputs}
    kinds.add(names.switch_topic("R", "a").kind)
    assert _definitions() == {
        kind: {
            "msgdef": STORE.generate_msgdef(kind, ros_version=2)[0],
            "rihs01": STORE.hash_rihs01(kind),
        }
        for kind in kinds
    }


def test_fast_storage_writes_the_records_of_rosbags(tmp_path: Path) -> None:
    """They differ in what rosbags leaves at zero, and in the library that the header names."""
    files_of = []
    for kind in (Writer, RunWriter):
        path = tmp_path / kind.__name__ / "bag"
        made = kind(path, version=9, storage_plugin=StoragePlugin.MCAP)
        made.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with made as writer:
            ids = [
                writer.add_connection(f"/{i}", "std_msgs/msg/String", typestore=STORE)
                for i in range(3)
            ]
            for i in range(3000):  # several chunks, stamps out of order
                writer.write(ids[i % 3], 5 + i ^ 3, bytes([i % 251]) * (i % 1999))
        with (path / "bag.mcap").open("rb") as stream:  # the reader of MCAP's makers checks, too
            read = [*StreamReader(stream, validate_crcs=True, emit_chunks=True).records]
        records = [part for whole in read for part in parts(whole)]
        zero = {"uncompressed_crc": 0, "data_section_crc": 0, "summary_crc": 0, "sequence": 0}
        places = {"summary_start", "summary_offset_start", "offset", "chunk_start_offset"}
        places |= {"group_start", "message_index_offsets", "library", "data"}
        places |= {"chunk_length", "compressed_size"}  # sequence numbers compress less than zeros
        files_of.append(
            [
                (type(r), {k: zero.get(k, v) for k, v in vars(r).items() if k not in places})
                for r in records
            ]
        )
        data = [r.data for r in records if isinstance(r, Message)]
        assert data == [bytes([i % 251]) * (i % 1999) for i in range(3000)]
        files_of[-1].append((path / "metadata.yaml").read_text())
    assert files_of[0] == files_of[1]


def parts(record: McapRecord) -> list[McapRecord]:
    return [record, *breakup_chunk(record)] if isinstance(record, Chunk) else [record]


def test_checksums_are_those_of_the_specification(tmp_path: Path) -> None:
    """Data: from the first byte to the DataEnd record. Summary: from there into the footer."""
    toy_robot.record(tmp_path / "bag")
    raw = (tmp_path / "bag" / "bag.mcap").read_bytes()
    footer = len(raw) - 8 - 20
    summary, _, summary_crc = struct.unpack_from("<QQI", raw, footer)
    assert zlib.crc32(raw[summary : footer + 16]) == summary_crc != 0
    (data_crc,) = struct.unpack_from("<I", raw, summary - 4)
    assert zlib.crc32(raw[: summary - 13]) == data_crc != 0
    with (tmp_path / "bag" / "bag.mcap").open("rb") as stream:
        chunks = [r for r in StreamReader(stream, emit_chunks=True).records if isinstance(r, Chunk)]
    assert chunks
    plain = [zstandard.decompress(chunk.data) for chunk in chunks]
    assert [zlib.crc32(data) for data in plain] == [chunk.uncompressed_crc for chunk in chunks]
    metadata = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())
    assert metadata["rosbag2_bagfile_information"]["compression_format"] == ""  # of whole files
    assert {chunk.compression for chunk in chunks} == {"zstd"}


def test_metadata_has_version_9_and_latched_topics(tmp_path: Path) -> None:
    toy_robot.record(tmp_path / "bag")
    data = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())
    assert data["rosbag2_bagfile_information"]["version"] == 9
    with Reader(tmp_path / "bag") as reader:
        latched = {
            connection.topic
            for connection in reader.connections
            for profile in connection.ext.offered_qos_profiles  # type: ignore[union-attr]
            if profile.durability == QosDurability.TRANSIENT_LOCAL
        }
    named = {f"/toy/{name}" for name in ("robot_description", "scenario", "surroundings")}
    assert latched == {*named, "/tf_static"}


@pytest.mark.parametrize("world", ["", "world"])
def test_transforms_are_the_forward_kinematics(world: str) -> None:
    """Chain the transforms, read by rosbags, and compare with the tree; `world` is at `odom`."""
    more = f'<link name="{world}"/>' if world else ""
    tree = Tree.parse(toy_robot.URDF.replace("</robot>", f"{more}</robot>"))
    state = toy_robot.state_at(77)
    transforms = RobotTransforms(tree, toy_robot.JOINTS)
    origins, rotations = tree.forward(toy_robot.JOINTS, state.q, state.position, state.orientation)
    expected = {link.name: i for i, link in enumerate(tree.links)}
    placed = {"odom": (np.zeros(3), np.eye(3))}
    for data in (transforms.encode(state), transforms.static()):
        for item in STORE.deserialize_cdr(data, "tf2_msgs/msg/TFMessage").transforms:
            p, r = item.transform.translation, item.transform.rotation
            at, turn = placed[item.header.frame_id]
            local = quaternion_matrix(np.array([r.x, r.y, r.z, r.w]))
            placed[item.child_frame_id] = (at + turn @ [p.x, p.y, p.z], turn @ local)
    if world:
        origin, rotation = placed.pop(world)
        assert np.array_equal(origin, np.zeros(3)) and np.array_equal(rotation, np.eye(3))
    assert set(placed) == {"odom", *expected}
    for name, index in expected.items():
        np.testing.assert_allclose(placed[name][0], origins[index], atol=1e-12)
        np.testing.assert_allclose(placed[name][1], rotations[index], atol=1e-12)


def test_transform_bytes_are_those_of_rosbags() -> None:
    transforms = RobotTransforms(Tree.parse(toy_robot.URDF), toy_robot.JOINTS)
    data = transforms.encode(toy_robot.state_at(5))
    made = STORE.deserialize_cdr(data, "tf2_msgs/msg/TFMessage")
    assert bytes(STORE.serialize_cdr(made, "tf2_msgs/msg/TFMessage")) == data
    assert made.transforms[0].header.stamp.nanosec == 50_000_000


def test_an_exception_keeps_what_was_recorded(tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    with (  # noqa: PT012 - what is raised inside is the point
        pytest.raises(KeyboardInterrupt),
        BagWriter(bag, toy_robot.make_setup(), "e", "1", "direct") as writer,
    ):
        writer.on_state(toy_robot.state_at(0))
        raise KeyboardInterrupt
    run = read_run(bag)
    assert run.complete and run.sha256 is None and len(run.trajectory) == 1
    assert len(read_with_rosbags(bag)["/toy/joint_states"]) == 1


def test_a_signal_as_a_bag_is_closed_waits_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while a slow disk takes what is left."""
    close = RunWriter.close

    def close_slowly(self: RunWriter) -> None:
        time.sleep(0.3)
        close(self)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RunWriter, "close", close_slowly)
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with (  # noqa: PT012 - it is raised as the bag is closed
            pytest.raises(KeyboardInterrupt),
            BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "direct") as writer,
        ):
            writer.on_state(toy_robot.state_at(0))
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert read_run(tmp_path / "bag").complete


def test_no_error_stays_in_the_thread_that_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a run would end well, with half of its bag."""

    def break_down(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    with (  # noqa: PT012 - it is raised again and again
        pytest.raises(ZeroDivisionError, match="a bug"),
        BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "direct") as writer,
    ):
        monkeypatch.setattr(RunWriter, "write_all", break_down)
        writer.on_state(toy_robot.state_at(0))
        for call in (writer.flush, lambda: writer.on_state(toy_robot.state_at(1))):
            with pytest.raises(ZeroDivisionError, match="a bug"):
                call()


def test_wrenches_twists_and_switches_are_recorded(tmp_path: Path) -> None:
    states = [replace(toy_robot.state_at(i), switches={"magnet_a": True}) for i in (1, 2)]
    command = Command(states[0].q, wrench=np.arange(6.0), twist=np.ones(6))
    with BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "ros") as writer:
        for state in states:
            writer.on_state(state)
            writer.on_command(state, command)
    found = read_with_rosbags(tmp_path / "bag")
    assert [m.data for _, m in found["/toy/magnet_a/state"]] == [True]
    assert [m.twist.angular.z for _, m in found["/toy/twist"]] == [1.0, 1.0]
    run = read_run(tmp_path / "bag")
    np.testing.assert_array_equal(run.wrenches.effort[0], np.arange(6.0))
    np.testing.assert_array_equal(run.trajectory.wrench, [np.zeros(6), np.arange(6.0)])


def test_what_a_controller_finds_is_recorded_and_is_no_event_of_the_run(tmp_path: Path) -> None:
    finding = Event(0.01, "found_loose", "turn")
    with BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "direct") as writer:
        for i, found in enumerate([(), (finding,), ()]):
            writer.on_state(toy_robot.state_at(i))
            writer.on_command(toy_robot.state_at(i), Command(np.zeros(2), findings=found))
    run = read_run(tmp_path / "bag")
    assert (run.findings, run.trajectory.events) == ((finding,), ())


def test_switches_are_read_back_from_their_events(tmp_path: Path) -> None:
    """A switch acts behind the state that its command answers, also where the file was cut."""
    motion = toy_robot.switched_motion(ticks=20, change=7)
    write_trajectory(tmp_path / "bag", toy_robot.make_switched(), "e", "1", motion)
    found = read_with_rosbags(tmp_path / "bag")
    assert [m.data for _, m in found["/toy/magnet_b/state"]] == [False, True]
    run = read_run(tmp_path / "bag").trajectory
    np.testing.assert_array_equal(run.switches["magnet_a"], np.arange(21) <= 7)
    np.testing.assert_array_equal(run.switches["magnet_b"], np.arange(21) > 7)
    assert run.state(7).switches == {"magnet_a": True, "magnet_b": False}
    assert run.command(7).switches == {"magnet_a": False, "magnet_b": True}
    assert run.window(0.1, 0.2).switches["magnet_b"].all()
    file = tmp_path / "bag" / "bag.mcap"
    file.write_bytes(file.read_bytes()[:-40])
    assert read_run(file).trajectory.switches["magnet_b"].sum() == 13


def test_a_reset_forgets_the_events_before_it(tmp_path: Path) -> None:
    motion = toy_robot.switched_motion()
    with BagWriter(tmp_path / "bag", toy_robot.make_switched(), "e", "1", "ros") as writer:
        for i in range(10):
            writer.on_state(motion.state(i))
        for event in motion.events:
            writer.on_event(event)
        for i in range(9):
            writer.on_state(motion.state(i))
    run = read_run(tmp_path / "bag").trajectory
    assert len(run) == 9 and run.events == ()
    assert run.switches["magnet_a"].all() and not run.switches["magnet_b"].any()


def test_raw_messages_are_recorded_as_they_are(tmp_path: Path) -> None:
    state = toy_robot.state_at(7)
    data = JointStateCodec(toy_robot.JOINTS).encode(state)
    with BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "ros") as writer:
        writer.write_raw("/toy/joint_states", round(state.time * 1e9), data)
        with pytest.raises(AccordError, match="/other is not a topic"):
            writer.write_raw("/other", 0, data)
    np.testing.assert_array_equal(read_run(tmp_path / "bag").trajectory.q, [state.q])


def test_a_base_that_is_ahead_of_the_joints_as_a_run_is_killed_is_read_as_it_is(
    tmp_path: Path,
) -> None:
    """Also where the quaternion changes its sign, which is the same rotation."""
    codec = OdometryCodec()
    states = [
        replace(toy_robot.state_at(i), orientation=(-1.0) ** i * np.array([0.0, 0.6, 0.0, 0.8]))
        for i in range(5)
    ]
    with BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "ros") as writer:
        for state in states[:4]:
            writer.on_state(state)
        ahead = states[4]
        writer.write_raw("/toy/odom", round(ahead.time * 1e9), codec.encode(ahead))
    found = read_run(tmp_path / "bag").trajectory
    np.testing.assert_array_equal(found.orientation, [s.orientation for s in states[:4]])


FULL = r"^cannot write .*/bag: File too large; accord recover .*/bag keeps what was recorded$"


def test_a_full_disk_is_one_line_when_the_bag_is_closed(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk; noise does not compress."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    bag = BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "ros").__enter__()

    def fill() -> None:
        for _ in range(1000):
            bag.write_raw("/toy/robot_description", 0, os.urandom(1000))
            bag.flush()

    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(AccordError, match=FULL):
            fill()
        with pytest.raises(AccordError, match=FULL):
            bag.__exit__(None, None, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    held = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert not [path for path in held if path.startswith(str(tmp_path))]


def test_existing_and_unwritable_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AccordError, match="exists already"):
        BagWriter(tmp_path, toy_robot.make_setup(), "e", "1", "direct")
    (tmp_path / "file").touch()
    inside = BagWriter(tmp_path / "file" / "bag", toy_robot.make_setup(), "e", "1", "direct")
    with pytest.raises(AccordError, match=r"cannot write .*: Not a directory"):
        inside.__enter__()


def test_a_killed_run_is_readable_up_to_the_last_flush(killed: tuple[Path, int]) -> None:
    bag, safe = killed
    run = read_run(bag)
    assert not run.complete and run.sha256 is None
    assert len(run.trajectory) > safe
    expected = [toy_robot.state_at(tick).q for tick in range(len(run.trajectory))]
    np.testing.assert_array_equal(run.trajectory.q, expected)
    assert yaml.safe_load((bag / "metadata.yaml").read_text())


def test_a_bag_without_messages_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.mcap"
    bare.write_bytes(b"\x89MCAP0\r\n")
    with pytest.raises(AccordError, match="holds no joint states"):
        read_run(bare)


def foreign_bag(path: Path, rates: tuple[int, int], *, velocity: bool = True) -> Path:
    """Write what a recorder of another simulator makes: other order, frames, stamps and rates."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        kinds = {
            "/joint_states": "sensor_msgs/msg/JointState",
            "/odometry": "nav_msgs/msg/Odometry",
        }
        connections = {t: writer.add_connection(t, k, typestore=STORE) for t, k in kinds.items()}
        for tick in range(101):
            state = toy_robot.state_at(tick)
            order = [1, 0] if tick % 2 else [0, 1]
            fields = (
                header(state.time, "world"),
                [toy_robot.JOINTS[i] for i in order],
                state.q[order],
                state.qd[order] if velocity else np.zeros(0),
                state.effort[order],
            )
            wall = 10**18 + 7 * tick
            if tick % rates[0] == 0:
                data = raw(message("sensor_msgs/msg/JointState", *fields))
                writer.write(connections["/joint_states"], wall, data)
            if rates[1] and tick % rates[1] == 0:
                writer.write(connections["/odometry"], wall, raw(odometry(state, "w", "c")))
    return path


def test_foreign_bags_are_read_by_name_and_stamp(tmp_path: Path) -> None:
    run = read_run(foreign_bag(tmp_path / "bag", (1, 1)))
    expected = toy_robot.record(tmp_path / "own", ticks=100)
    assert run.trajectory.sha256() == expected.sha256()
    assert (run.robot, run.engine, run.urdf, run.sha256) == ("", "", "", None)
    assert not len(run.commands.time) and not run.scenario


def test_a_slower_base_is_interpolated(tmp_path: Path) -> None:
    run = read_run(foreign_bag(tmp_path / "bag", (1, 10)))
    base = [toy_robot.state_at(tick).position for tick in range(101)]
    # the error of linear interpolation of sin t over h is at most h^2 / 8
    np.testing.assert_allclose(run.trajectory.position, base, atol=0.1**2 / 8)
    norms = np.linalg.norm(run.trajectory.orientation, axis=1)
    np.testing.assert_allclose(norms, 1.0, atol=1e-15)
    turn = quaternion_matrix(run.trajectory.orientation[50])
    np.testing.assert_allclose(
        np.abs(matrix_quaternion(turn)), np.abs(toy_robot.state_at(50).orientation), atol=1e-12
    )


def test_a_foreign_bag_without_base_or_velocities_is_read(tmp_path: Path) -> None:
    run = read_run(foreign_bag(tmp_path / "bag", (1, 0), velocity=False))
    assert not run.has_base and not run.trajectory.position.any()
    assert not run.trajectory.qd.any() and run.trajectory.q.any()


def test_a_state_that_comes_twice_is_read_once(tmp_path: Path) -> None:
    """Whoever pauses a simulator gets the same time again; times of a trajectory increase."""
    with BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "ros") as writer:
        for tick in (0, 1, 1, 2, 2, 2, 3):
            writer.on_state(toy_robot.state_at(tick))
    time = read_run(tmp_path / "bag").trajectory.time
    np.testing.assert_array_equal(time, [0.0, 0.01, 0.02, 0.03])


def test_what_was_before_a_reset_is_left_out(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag", toy_robot.make_setup(), "e", "1", "ros") as writer:
        for tick in (0, 1, 2, 3, 0, 1, 2):
            writer.on_state(toy_robot.state_at(tick))
    np.testing.assert_array_equal(read_run(tmp_path / "bag").trajectory.time, [0.0, 0.01, 0.02])
