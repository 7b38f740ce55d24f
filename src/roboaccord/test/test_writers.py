"""Every output comes to be by one function, which follows no link and takes no fixed name."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.bag.metadata import read_metadata
from roboaccord.bag.storage import RunWriter
from roboaccord.cli import console
from roboaccord.cli.folder import MARKER, results, set_aside
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import drafting, writing
from roboaccord.gazebo.obj_files import write_squared
from roboaccord.run import output
from roboaccord.run.output import make_folder, write_text
from rosbags.rosbag2 import StoragePlugin

Made = list[Path]
ROOT = Path(__file__).resolve().parents[3]
PACKAGES = [path.name for path in (ROOT / "src").iterdir()]
NAMES = re.compile(
    r"\b(open|fdopen|write_text|write_bytes|save|savefig|savetxt|savez|savez_compressed|savemat|tofile"
    r"|symlink_to|hardlink_to|NamedTemporaryFile|mkstemp|copyfile)\b"
)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """Return a file of somebody else, in a folder of his own."""
    path = tmp_path / "outside" / "precious.json"
    path.parent.mkdir()
    path.write_text("{}")
    return path


def test_a_draft_is_there_before_its_name_is_known(tmp_path: Path) -> None:
    """A new regular file of nobody else, with the mode that the umask leaves."""
    before = os.umask(0o027)
    try:
        for write in (writing, drafting):
            with write(tmp_path / "x.csv") as draft:
                found = draft.lstat()
                assert (found.st_mode, found.st_size, found.st_nlink) == (0o100640, 0, 1)
                draft.write_text("a,b\n")
    finally:
        os.umask(before)
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_a_draft_takes_no_name_that_is_there(
    precious: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where somebody guesses the name of a draft."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (tmp_path / ".guessed.json").symlink_to(precious)
    with pytest.raises(AccordError, match=r"cannot write .*File exists"):
        write_text(tmp_path / "x.json", "[]")
    assert precious.read_text() == "{}" and (tmp_path / ".guessed.json").is_symlink()


def test_no_folder_below_the_one_that_is_named_is_a_link(precious: Path, tmp_path: Path) -> None:
    """That one may be: results go to another disk so."""
    top = tmp_path / "top"
    top.symlink_to(precious.parent)
    assert make_folder(top) == top
    (precious.parent / "in").symlink_to(tmp_path)
    with pytest.raises(AccordError, match="in is a symbolic link; remove it"):
        make_folder(top, "in/below")
    assert not (tmp_path / "below").exists()
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    assert output.fresh(tmp_path / "dangling").name == "dangling_2"


def test_looking_whether_a_folder_can_be_written_leaves_its_files(tmp_path: Path) -> None:
    (tmp_path / ".writable").write_text("mine")
    make_folder(tmp_path)
    assert (tmp_path / ".writable").read_text() == "mine"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Made]:
    """Return a function that writes two files into a folder of results with --force."""
    console.call.set(console.Call("study"))

    def write(out: Path, during: Callable[[Path], Any] = lambda _: None) -> Made:
        with results(out, "", force=True) as folder:
            during(folder)
            write_text(folder / "a.json", "{}")
            make_folder(folder, "sub")
            write_text(folder / "sub" / "b.json", "{}")
        return sorted(path.relative_to(out) for path in out.rglob("*") if path.is_file())

    return write


def test_force_deletes_what_the_command_wrote_alone(
    command: Callable[..., Made], tmp_path: Path
) -> None:
    """Not what the user put there before, meanwhile and afterwards, nor what is beyond a link."""
    out = tmp_path / "out"
    out.mkdir()
    (out / ".writable").write_text("mine")
    command(out, lambda place: (place / "meanwhile.txt").write_text("mine"))
    (out / "after.txt").write_text("mine")
    assert json.loads((out / MARKER).read_text())["files"] == ["a.json", "sub/b.json"]
    command(out)
    for name in (".writable", "meanwhile.txt", "after.txt"):
        assert (out / name).read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["../outside/precious.json", "there/precious.json", "there", "mine"]
)
def test_a_marker_removes_regular_files_of_its_folder_alone(
    name: str, command: Callable[..., Made], precious: Path, tmp_path: Path
) -> None:
    """Whatever it lists: a folder, a file beyond a link or outside, which all stay."""
    out = tmp_path / "out"
    (out / "mine").mkdir(parents=True)
    (out / "mine" / "notes.txt").write_text("mine")
    (out / "there").symlink_to(precious.parent)
    (out / MARKER).write_text(json.dumps({"command": "study", "files": [name, "a.json"]}))
    (out / "a.json").write_text("[]")
    command(out)
    assert precious.read_text() == "{}" and (out / "there").is_symlink()
    assert (out / "mine" / "notes.txt").read_text() == "mine"
    assert (out / "a.json").read_text() == "{}"


@pytest.mark.parametrize("whose", ["another user", "a link"])
def test_a_marker_of_somebody_else_removes_nothing(
    whose: str, precious: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_text("[]")
    precious.write_text(json.dumps({"command": "study", "files": ["a.json"]}))
    marker = tmp_path / MARKER
    if whose == "a link":
        marker.symlink_to(precious)
    else:
        precious.rename(marker)
        monkeypatch.setattr("os.geteuid", lambda: marker.stat().st_uid + 1)
    assert set_aside(tmp_path) is None
    assert (tmp_path / "a.json").read_text() == "[]"


@pytest.mark.parametrize("name", ["metadata.yaml.tmp", "metadata.yaml"])
def test_the_metadata_of_a_bag_follow_no_link(name: str, precious: Path, tmp_path: Path) -> None:
    """Planted while the bag grows."""
    writer = RunWriter(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
    writer.open()
    (tmp_path / "bag" / name).symlink_to(precious)
    writer.close()
    assert precious.read_text() == "{}"
    assert read_metadata(tmp_path / "bag")["message_count"] == 0
    assert {path.name for path in (tmp_path / "bag").iterdir()} == {
        "bag.mcap",
        "metadata.yaml",
        name,
    }


def test_files_kept_for_gazebo_follow_no_link(precious: Path, tmp_path: Path) -> None:
    """Neither at their names nor at those of drafts with the number of the process."""
    mesh = tmp_path / "a.obj"
    mesh.with_suffix(f".{os.getpid()}").symlink_to(precious)
    write_squared(mesh, np.eye(4, 3), np.array([[0, 1, 3], [0, 3, 2], [1, 2, 3], [0, 2, 1]]))
    assert precious.read_text() == "{}"
    assert mesh.is_file() and not mesh.is_symlink()


# What else writes, and why no link can be in its place. A new line here needs a reason like these.
ELSEWHERE = {
    "contract/files": "the one place",
    "numerics/jit_cache run/domain": "locks, opened without links",
    "numerics/isolation graph/process": "/dev/null",
    "cli/dashboard": "the terminal, by its descriptor",
    "report/drawing roboaccord_view/portrait": "into memory",
    "parity/sdformat": "links, in a temporary folder that nobody else can write",
    "run/processes bags/storages dart/fixtures description/isolated gazebo/shipped gazebo/tool "
    "terrain/sdf_model terrain/slices": "in a temporary folder that nobody else can write",
}


def writes(path: Path) -> Iterator[str]:
    """Yield each call of a module that writes a file by name; `draft` is a name of `writing`."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if NAMES.search(text) else ():
        function = node.func if isinstance(node, ast.Call) else None
        name = getattr(function, "attr", getattr(function, "id", ""))
        if not (isinstance(node, ast.Call) and NAMES.fullmatch(name)):
            continue
        top = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
        given = [
            ast.unparse(argument) for argument in (*node.args, *(k.value for k in node.keywords))
        ]
        if name == "open" and top == "os":
            opens = "os.O_RDONLY" not in given[1]
        else:
            opens = any(re.fullmatch(r"'[rbt]*[wax+].*'", argument) for argument in given)
        by_name = opens if "open" in name else top and (top, name) != ("path", "save")
        if by_name and "draft" not in (top, *given):
            yield f"{top}.{name}({', '.join(given)})"


def test_no_module_writes_a_file_but_the_one() -> None:
    """Others open what `writing` gives them, by the name of `draft`."""
    writers = set()
    for package in PACKAGES:
        for path in (ROOT / "src" / package / package).rglob("*.py"):
            if any(writes(path)):
                writers.add("/".join(path.with_suffix("").parts[-2:]))
    assert writers == set(" ".join(ELSEWHERE).split())


def test_a_name_that_is_no_utf8_can_be_written(tmp_path):
    write_text(tmp_path / "x.html", "<html>a\udcffb")
    assert (tmp_path / "x.html").read_bytes() == b"<html>a\\udcffb"
