"""Recovery of bags: what was before the cut or the damage is kept, and what is lost is told."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import test_bag
import test_damage
import toy_robot
import yaml
from mcap.records import Chunk, ChunkIndex, Footer, MessageIndex, Metadata
from mcap.stream_reader import StreamReader
from roboaccord.bag.reader import read_run
from roboaccord.bag.writer import write_trajectory
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord_files.bags.recover import recover
from rosbags.rosbag2 import CompressionMode, Writer
from test_bag import copy, read_with_rosbags
from test_damage import change_metadata, content, cut_short, harm
from test_foreign import messages_of, write

pytestmark = pytest.mark.thorough
bag, killed, toy = test_damage.bag, test_bag.killed, test_bag.toy  # fixtures


@pytest.mark.parametrize("kind", [Chunk, MessageIndex, Metadata])
@pytest.mark.parametrize("place", ["opcode", "length", "content"])
def test_damaged_data(bag: Path, kind: type, place: str) -> None:
    whole = read_run(bag).trajectory.rows()
    harm(bag, kind, place)
    assert run(["export", str(bag), "--npz", str(bag / "x.npz")]) == 2
    count, changed = recover(bag)
    assert changed
    assert recover(bag) == (count, False)
    kept = read_run(bag).trajectory.rows()
    np.testing.assert_array_equal(kept, whole[: len(kept)])
    assert len(kept) >= 40  # what was in the chunks before


@pytest.mark.parametrize("kind", [ChunkIndex, Footer])
def test_a_damaged_index(bag: Path, kind: type, caplog: pytest.LogCaptureFixture) -> None:
    whole = content(bag)
    harm(bag, kind, "content")
    assert recover(bag).changed
    caplog.clear()
    assert content(bag) == whole and not caplog.messages
    assert read_run(bag).sha256 == read_run(bag).trajectory.sha256()


def test_another_hash_in_the_metadata(bag: Path) -> None:
    change_metadata(bag, lambda data: data["custom_data"].update(sha256=64 * "0"))
    recover(bag)  # the file has the right one
    assert read_run(bag).sha256 == read_run(bag).trajectory.sha256()


def test_a_finished_bag_that_was_cut(bag: Path, caplog: pytest.LogCaptureFixture) -> None:
    cut_short(bag)
    recover(bag)
    assert "the hash is removed" in caplog.text
    assert read_run(bag).sha256 is None


def test_switches_of_a_cut_bag(tmp_path: Path) -> None:
    motion = toy_robot.switched_motion(ticks=20, change=7)
    write_trajectory(tmp_path / "bag", toy_robot.make_switched(), "e", "1", motion)
    file = tmp_path / "bag" / "bag.mcap"
    file.write_bytes(file.read_bytes()[:-40])
    recover(tmp_path / "bag")
    assert read_run(tmp_path / "bag").trajectory.switches["magnet_b"].sum() == 13


def test_what_is_no_bag_is_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare.mcap"
    bare.write_bytes(b"\x89MCAP0\r\n")
    with pytest.raises(AccordError, match="holds no message"):
        recover(bare)
    toy_robot.record(tmp_path / "own")
    kept = write(tmp_path / "bag", messages_of(tmp_path / "own"), "sqlite3", CompressionMode.FILE)
    (file,) = (path for path in kept.iterdir() if path.suffix != ".yaml")
    file.write_bytes(b"hello")
    with pytest.raises(AccordError, match="is not a bag"):
        recover(kept)


def test_recovery_makes_a_killed_run_valid(killed: tuple[Path, int], tmp_path: Path) -> None:
    bag = copy(killed[0], tmp_path / "bag")
    before = read_run(bag)
    count, changed = recover(bag)
    assert changed
    assert recover(bag) == (count, False)
    after = read_run(bag)
    assert after.complete and after.trajectory.sha256() == before.trajectory.sha256()
    assert after.scenario == before.scenario
    assert sum(len(found) for found in read_with_rosbags(bag).values()) == count
    assert sorted(path.name for path in bag.iterdir()) == ["bag.mcap", "metadata.yaml"]
    data = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert data["message_count"] == count
    for topic in data["topics_with_message_count"]:
        assert len(topic["topic_metadata"]["type_description_hash"]) == len("RIHS01_") + 64


@pytest.mark.parametrize("where", [-1, -40, -5_000, 0.7])
def test_recovery_of_a_cut_file(tmp_path: Path, where: float) -> None:
    """Cut a finished bag in its footer, its index, and in its only large chunk."""
    trajectory = toy_robot.record(tmp_path / "bag", ticks=600)
    file = tmp_path / "bag" / "bag.mcap"
    with file.open("rb") as stream:
        chunks = [r for r in StreamReader(stream, emit_chunks=True).records if isinstance(r, Chunk)]
    size = len(chunks[-1].data) if where > 0 else file.stat().st_size
    os.truncate(file, int(where * size) if where > 0 else size + int(where))
    before = read_run(file)
    assert not before.complete
    recover(file)
    after = read_run(file)
    kept = len(after.trajectory)
    assert after.complete and kept == len(before.trajectory) > 50
    np.testing.assert_array_equal(after.trajectory.rows(), trajectory.rows()[:kept])


def test_the_damaged_file_stays_where_recovery_fails(
    killed: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bag = copy(killed[0], tmp_path / "bag")
    before = {path.name: path.read_bytes() for path in bag.iterdir()}

    def fail(writer: Writer) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Writer, "close", fail)
    with pytest.raises(AccordError, match="No space left on device"):
        recover(bag)
    assert {path.name: path.read_bytes() for path in bag.iterdir()} == before
