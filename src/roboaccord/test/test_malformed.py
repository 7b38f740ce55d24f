"""Malformed input is bounded and refused in a line; outputs replace their own kind alone."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest
import yaml
from roboaccord.bag.reader import read_run
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_folder, writing
from roboaccord.description import xacro_file
from roboaccord.description.urdf_file import read_urdf
from roboaccord.description.yaml_files import parse_yaml

RUN = "run snake serpenoid --transport direct --json --set duration=0.01"
# From Python 3.14 on, a path whose name is too long does not exist, without an error.
TOO_LONG = "File name too long" if sys.version_info < (3, 14) else "it does not exist"


def spoil(path: Path, what: str) -> None:
    """Put something that is no regular file at a path."""
    if what == "device":
        path.symlink_to("/dev/zero")
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to(path)


ALIASES = "a0: &a0 [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ALIASES, "more than 1000000 values"),  # 9^10 of them, in 362 bytes
        ("[" * 3000, "nested more than 50 deep"), ("- " * 100_000, "nested more than 50 deep"),
        ("&a [*a]", "stands for itself"), ("!!int z", "invalid literal"),
        ("2024-13-45", "month must be in 1..12"), ("9" * 5000, "cannot be read"),
        ("9" * 20, "more than 64 bits"), ("a" * 1_000_001, "too long"),
        ("!!python/object/apply:os.getpid []", "could not determine a constructor"),
    ],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_yaml_is_bounded(text: str, message: str) -> None:
    with pytest.raises(yaml.YAMLError, match=message):
        parse_yaml(text)
    assert parse_yaml("{a: &x {b: 1e-3}, c: *x}") == {"a": {"b": 1e-3}, "c": {"b": 1e-3}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"{RUN} --set seed=2024-13-45", "--set seed"),
        (f"{RUN} --set seed=-1", "seed"),
        (f"{RUN} --set duration=1e308", "duration: 1e+308 is out of range"),
        (f"{RUN} --set duration=1e10", "is not a whole number of steps"),
        (f"{RUN} --set controller.amplitude=.nan", "controller.amplitude: nan is not a number"),
        (f"{RUN} --set parameters.joints=nan", "parameters.joints: nan is not a number"),
        (f"{RUN} --set name=../../x", "is not a name of a scenario"),
        (f"{RUN} --set terrain={'[' * 3000}", "nested more than 50 deep"),
        (f"{RUN} --set robot={'a' * 300}.urdf", "File name too long"),
        ("run monkeybot clocked --transport direct --set controller.initial_t=.nan", "initial_t"),
        ("voxel-sphere make bowl --n 100000000", "--n: 1e+08 is out of range"),
        ("monkeybot gait --torque nan", "--torque: nan is not a number"),
        ("packbot plan --to ready --seed -1", "--seed"),
        (f"run {'a' * 300} x", "unknown robot"),
        (f"run snake {'a' * 300}.yaml", "File name too long"),
        (f"compare {'a' * 300} b", TOO_LONG),
    ],
)
def test_numbers_and_names_are_refused_where_they_enter(
    words: str, message: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert message in printed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("expression", ["9**9**9", "'a'*10**10"])
def test_xacro_of_anybody_ends(expression: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(xacro_file, "SECONDS", 1)
    monkeypatch.setattr(xacro_file, "MEMORY", 1 << 29)
    path = tmp_path / "a.urdf.xacro"
    path.write_text(
        f'<robot name="a" xmlns:xacro="http://x"><link name="${{{expression}}}"/></robot>'
    )
    with pytest.raises(AccordError, match="broken description"):
        read_urdf(path)


def test_a_database_has_tables_and_no_views(tmp_path: Path) -> None:
    """A view can have rows without end."""
    path = tmp_path / "a.db3"
    base = sqlite3.connect(path)
    base.executescript(
        "CREATE TABLE topics(id INTEGER, name TEXT, type TEXT);"
        "CREATE VIEW messages AS WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c)"
        " SELECT id, 1 AS topic_id, id AS timestamp, zeroblob(9) AS data FROM c;"
    )
    base.close()
    with pytest.raises(AccordError, match="no table messages"):
        read_run(path)


@pytest.mark.parametrize("what", ["device", "fifo", "folder", "loop", "text", "link", "read-only"])
@pytest.mark.parametrize("name", ["x.mat", "x"])
def test_nothing_of_another_kind_is_overwritten(what: str, name: str, tmp_path: Path) -> None:
    path, precious = tmp_path / name, tmp_path / "precious"
    precious.write_text("precious")
    if what == "text":
        path.write_text("precious")
    elif what == "link":
        path.symlink_to(precious)
    elif what == "read-only":
        path.write_bytes(b"MATLAB 4")
        path.chmod(0o444)
    else:
        spoil(path, what)
    if what == "read-only" and (os.access(path, os.W_OK) and name == "x.mat"):
        pytest.skip("this user may write everything")
    before = path.lstat()
    with pytest.raises(AccordError, match=f"cannot write .*{name}"), writing(path, ".mat") as draft:
        draft.write_text("new")
    assert path.lstat() == before and precious.read_text() == "precious"
    assert {each.name for each in tmp_path.iterdir()} == {name, "precious"}


def fail(path: Path, error: Exception) -> None:
    with writing(path) as draft:
        draft.write_text("a,")
        raise error


def test_a_file_of_the_same_kind_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for text in ("a,b\n1,2\n", "a,b\n3,4\n"):
        with writing(path) as draft:
            draft.write_text(text)
        assert path.read_text() == text
    for error, shown in ((OSError(28, "No space left"), AccordError), (MemoryError(), MemoryError)):
        with pytest.raises(shown):
            fail(path, error)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("x.csv", text)]


def test_a_folder_is_replaced_only_with_files_of_the_command(tmp_path: Path) -> None:
    """Neither a text of the user's goes with it, nor a picture of his beside the slices."""
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "slice_000.png").touch()
    for name in ("thesis.tex", "photo.png"):
        check_folder(tmp_path / "v", ["slice_*.png"])
        (tmp_path / "v" / name).touch()
        with pytest.raises(AccordError, match=f"it holds {name}"):
            check_folder(tmp_path / "v", ["slice_*.png"])
        (tmp_path / "v" / name).unlink()
