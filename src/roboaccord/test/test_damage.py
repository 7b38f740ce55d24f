"""A damaged bag never passes for a whole one: it is refused, or read with a line that states it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import toy_robot
import yaml
from mcap.records import Chunk, ChunkIndex, DataEnd, Footer, MessageIndex, Metadata
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType
from mcap.writer import Writer as McapWriter
from roboaccord.bag.reader import read_run
from roboaccord.bag.writer import BagWriter
from roboaccord.cdr import JointStateCodec
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.run.inputs import RecordedInputs
from slow_cases import late
from test_bag import foreign_bag

pytestmark = pytest.mark.thorough

TICKS = 60
MAGIC = b"\x89MCAP0\r\n"


@pytest.fixture(autouse=True)
def toy(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")  # so that the value of before comes back
    toy_robot.install(tmp_path_factory.getbasetemp() / "prefix")


def record(bag: Path, *, finish: bool = True) -> Path:
    """Record a motion with an event in four chunks, and close the bag or leave it as it is."""
    writer = BagWriter(bag, toy_robot.make_setup(), "engine", "1.2", "direct")
    writer.__enter__()
    states = [toy_robot.state_at(tick) for tick in range(TICKS + 1)]
    for i, state in enumerate(states):
        writer.on_state(state)
        if i < TICKS:
            writer.on_command(state, Command(effort=2.0 * state.q))
        if i % 20 == 19:
            writer.flush()
    writer.on_event(Event(0.5, "impact", "tip_link-ground", 0.25))
    writer.flush()
    now = {path: path.read_bytes() for path in bag.iterdir()}
    writer.finish(Trajectory.from_states(toy_robot.JOINTS, states).sha256())
    writer.__exit__(None, None, None)
    for path, data in now.items():
        if not finish:
            path.write_bytes(data)
    return bag


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    return record(tmp_path / "bag")


def content(bag: Path) -> list[Any]:
    """Return everything that a reader gets to see."""
    run = read_run(bag)
    motion = run.trajectory
    switches = sorted((name, on.tobytes()) for name, on in motion.switches.items())
    commands = (run.commands.time.tobytes(), run.commands.effort.tobytes())
    return [motion.rows().tobytes(), motion.events, switches, *commands, run.urdf, run.scenario]


def flip(raw: bytearray, chance: random.Random) -> None:
    raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)


def cut(raw: bytearray, chance: random.Random) -> None:
    del raw[chance.randrange(len(raw)) :]


def swap(raw: bytearray, chance: random.Random) -> None:
    size = chance.choice([1, 8, 64, len(raw) // 4])
    a = chance.randrange(len(raw) - 2 * size)
    b = chance.randrange(a + size, len(raw) - size + 1)
    raw[a : a + size], raw[b : b + size] = raw[b : b + size], raw[a : a + size]


@pytest.mark.parametrize("harm", [flip, *late(cut, swap)])
@pytest.mark.parametrize("name", ["bag.mcap", "metadata.yaml"])
def test_nothing_else_is_read_in_silence(
    bag: Path,
    harm: Callable[[bytearray, random.Random], None],
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whatever is harmed: an error of one line, or a line in the log, or the very same content."""
    whole, chance = content(bag), random.Random(5)
    before = {path.name: path.read_bytes() for path in bag.iterdir()}
    for _ in range(25):
        raw = bytearray(before[name])
        harm(raw, chance)
        (bag / name).write_bytes(raw)
        caplog.clear()
        refused, read = "", None
        try:
            read = content(bag)
        except AccordError as error:
            refused = str(error)
        assert read == whole or caplog.messages or refused
        assert "\n" not in refused
        for other, data in before.items():
            (bag / other).write_bytes(data)
        assert content(bag) == whole


def records_of(file: Path) -> list[tuple[Any, int, int]]:
    """Return the records of a file as MCAP's makers read them, with where each starts and ends."""
    raw = file.read_bytes()
    records, at = [], len(MAGIC)
    with file.open("rb") as stream:
        for record in StreamReader(stream, emit_chunks=True).records:
            (length,) = struct.unpack_from("<Q", raw, at + 1)
            records.append((record, at, at + 9 + length))
            at += 9 + length
    return records


def harm(bag: Path, kind: type, place: str) -> None:
    """Change a bit in the last record of a kind."""
    file = bag / "bag.mcap"
    _, start, end = [r for r in records_of(file) if isinstance(r[0], kind)][-1]
    raw = bytearray(file.read_bytes())
    raw[{"opcode": start, "length": start + 2, "content": end - 9}[place]] ^= 4
    file.write_bytes(raw)


def cut_short(bag: Path) -> Path:
    """Cut a bag behind its second last chunk; return its file."""
    file = bag / "bag.mcap"
    chunks = [r for r in records_of(file) if isinstance(r[0], Chunk)]
    file.write_bytes(file.read_bytes()[: chunks[-2][1]])
    return file


@pytest.mark.parametrize("kind", [Chunk, MessageIndex, Metadata])
@pytest.mark.parametrize("place", ["opcode", "length", "content"])
def test_damage_to_the_data_is_refused(bag: Path, kind: type, place: str) -> None:
    harm(bag, kind, place)
    with pytest.raises(AccordError, match=r"is damaged at byte \d+: .*accord recover") as caught:
        read_run(bag)
    with pytest.raises(AccordError, match=r"is damaged at byte"):
        RecordedInputs(bag)  # which repeats it
    assert "\n" not in str(caught.value)
    assert run(["compare", str(bag), str(bag), "--json"]) == 2


@pytest.mark.parametrize("kind", [ChunkIndex, Footer])
def test_damage_to_the_index_is_told(
    bag: Path, kind: type, caplog: pytest.LogCaptureFixture
) -> None:
    whole = content(bag)
    harm(bag, kind, "content")
    assert content(bag) == whole
    assert "its messages are whole" in caplog.text


@pytest.mark.parametrize("kind", [Chunk, DataEnd])
def test_our_checksums_cannot_be_taken_away(bag: Path, kind: type) -> None:
    """Zero stands for "not available", which is never so in a file of ours."""
    file = bag / "bag.mcap"
    _, start, _ = next(r for r in records_of(file) if isinstance(r[0], kind))
    raw = bytearray(file.read_bytes())
    at = start + 9 + (24 if kind is Chunk else 0)
    raw[at : at + 4] = bytes(4)
    file.write_bytes(raw)
    with pytest.raises(AccordError, match=r"not match (its|their) checksum"):
        read_run(bag)


def change_metadata(bag: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = yaml.safe_load((bag / "metadata.yaml").read_text())
    change(data["rosbag2_bagfile_information"])
    (bag / "metadata.yaml").write_text(yaml.safe_dump(data))


def test_another_hash_is_refused_and_a_missing_one_told(
    bag: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change_metadata(bag, lambda data: data["custom_data"].pop("sha256"))
    assert read_run(bag).sha256
    assert "differs from bag.mcap, which is used, in custom_data" in caplog.text
    change_metadata(bag, lambda data: data["custom_data"].update(sha256=64 * "0"))
    with pytest.raises(AccordError, match=r"61 states .* do not have the hash stored with them"):
        read_run(bag)


def test_a_finished_bag_that_was_cut_is_refused(
    bag: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file alone looks as if its run had been killed; metadata.yaml knows better."""
    file = cut_short(bag)
    with pytest.raises(AccordError, match=r"the 40 states .* do not have the hash"):
        read_run(bag)
    assert len(read_run(file).trajectory) == 40
    assert "is unfinished" in caplog.text


def test_a_chunk_that_is_missing_from_an_unfinished_bag_is_noticed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing but the counts of the messages can tell: each chunk that is left holds."""
    bag = record(tmp_path / "bag", finish=False)
    assert len(read_run(bag).trajectory) == TICKS + 1
    # /tf_static, description, scenario, surroundings; states, commands, /tf at 50 Hz
    count = 4 + 2 * (TICKS + 1) + TICKS + 1 + 31
    assert caplog.messages == [
        f"{bag}/bag.mcap is unfinished: {count} messages are read up to where it ends, 0 of them "
        "not checked"
    ]
    raw = (bag / "bag.mcap").read_bytes()
    places, at = [], len(MAGIC)
    while at < len(raw):
        opcode, length = struct.unpack_from("<BQ", raw, at)
        places += [(at, at + 9 + length)] * (opcode == 6)
        at += 9 + length
    longer = bytearray(raw)
    longer[places[1][0] + 5] ^= 1  # 4 GB longer than it is: no cut at the end
    (bag / "bag.mcap").write_bytes(longer)
    with pytest.raises(AccordError, match="a chunk does not hold together"):
        read_run(bag)
    start, end = places[2]
    (bag / "bag.mcap").write_bytes(raw[:start] + raw[end:])
    with pytest.raises(AccordError, match="missing or out of order"):
        read_run(bag)


def test_foreign_bags_without_checksums_are_not_checked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bag = foreign_bag(tmp_path / "bag", (1, 1))
    assert len(read_run(bag).trajectory) == 101
    assert caplog.messages == [
        f"{bag}/bag.mcap is not checked: 202 of 202 messages have no checksum"
    ]
    file = bag / "bag.mcap"
    records = records_of(file)
    _, start, end = next(r for r in records if isinstance(r[0], Chunk))
    file.write_bytes(file.read_bytes()[:start] + file.read_bytes()[end:])
    with pytest.raises(AccordError, match="202 messages are counted, 0 are there"):
        read_run(bag)


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4])
@pytest.mark.parametrize("whole", [True, False])
def test_checksums_of_other_writers_are_checked(
    tmp_path: Path, compression: CompressionType, whole: bool, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "other.mcap"
    codec = JointStateCodec(toy_robot.JOINTS)
    with file.open("wb") as stream:
        writer = McapWriter(stream, compression=compression, enable_data_crcs=whole)
        writer.start("ros2", "other")
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"")
        channel = writer.register_channel("/joint_states", "cdr", schema)
        for tick in range(TICKS):
            state = toy_robot.state_at(tick)
            writer.add_message(channel, round(state.time * 1e9), codec.encode(state), 0)
        writer.finish()
    assert len(read_run(file).trajectory) == TICKS
    expected = [] if whole else [f"{file} is checked in parts; the order of its parts is not"]
    assert [m.removesuffix(" checked") for m in caplog.messages] == expected
    _, start, _ = next(r for r in records_of(file) if isinstance(r[0], Chunk))
    raw = bytearray(file.read_bytes())
    raw[start + 9 + 24] ^= 1  # its checksum
    file.write_bytes(raw)
    with pytest.raises(AccordError, match="a chunk does not match its checksum"):
        read_run(file)


def test_lines_go_to_stderr_and_json_to_stdout(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = record(tmp_path / "bag", finish=False)
    assert run(["compare", str(bag), str(bag), "--json"]) == 0
    assert capsys.readouterr().out.startswith('{"verdict": "pass"')
    assert "is unfinished" in caplog.messages[0]
    assert sum("is unfinished" in line for line in caplog.messages) == 2
