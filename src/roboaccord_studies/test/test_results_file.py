"""Studies in pieces: a file that goes on where one was ended."""

from __future__ import annotations

import math
import os
import time
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from pickle import dumps

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.run.output import write_text
from roboaccord.run.pieces import run_pieces
from roboaccord_studies import results_file
from roboaccord_studies.results_file import DataUnpickler, ResultsFile

CALLS = [(i,) for i in range(6)]


@dataclass(frozen=True)
class Elsewhere:
    """A class of no package of the workspace."""

    x: float


def work(i: int, path: Path | None = None) -> tuple[int, float]:
    """Take longer for the first pieces, so that they are finished in another order."""
    if path:
        path.joinpath(str(i)).touch()
    time.sleep(0.01 * (6 - i) if i % 2 == 0 else 0.0)
    return i, math.sqrt(i) if i else math.nan


def nested() -> float:
    return sum(root for _, root in run_pieces(work, [(1,), (4,)], threads=True, workers=1))


def keep(path: Path, **parameters: object) -> closing[ResultsFile]:
    return closing(ResultsFile(path, {"study": "accord study", "parameters": parameters}))


@pytest.mark.parametrize(
    "value",
    [
        None, -0.0, "name", [1, [2.5]], (1, (2, "x")), {"a": 1, (0, 1): 2.0}, 1 - 2j,
        frozenset({(1, 2), (0, 3)}), np.arange(6.0).reshape(2, 3), np.float32(0.1),
        Fault("pan", "frozen", 0.25),
    ],
)  # fmt: skip
def test_a_file_loses_nothing(value, tmp_path):
    """Value and type come back; pieces of a process of another version of NumPy, too."""
    for _ in range(2):
        with keep(tmp_path / "study.jsonl") as file:
            (again,) = file.run(given_back, [(value,)], threads=True)
    assert type(again) is type(value)
    assert np.array_equal(again, value) if isinstance(value, np.ndarray) else again == value
    assert len((tmp_path / "study.jsonl").read_text().splitlines()) == 2


def given_back(value: object) -> object:
    return value


def test_a_file_makes_no_objects_but_data():
    """Neither functions, nor classes that are not data, nor those of other packages."""
    for value in (os.system, write_text, ResultsFile, Elsewhere(1.0), Path("x")):
        with pytest.raises(ValueError, match="is no data"):
            DataUnpickler(BytesIO(dumps(value))).load()


def test_a_study_goes_on_where_it_was_killed(tmp_path):
    """Of four lines the last is cut; only what is missing is done again."""
    path, done = tmp_path / "study.jsonl", tmp_path / "done"
    calls = [(i, done) for i in range(6)]
    done.mkdir()
    with keep(path) as file:
        found = file.run(work, calls, threads=True)
    path.write_bytes(b"\n".join(path.read_bytes().splitlines()[:5])[:-20])
    for each in done.iterdir():
        each.unlink()
    seen: list[tuple[int, float]] = []
    with keep(path) as file:
        again = file.run(work, calls, threads=True, done=seen.append)
    assert repr(again) == repr(found) and sorted(i for i, _ in seen) == [*range(6)]
    assert len([*done.iterdir()]) == 3
    assert len(path.read_text().splitlines()) == 1 + len(calls)


def test_a_file_of_another_study_is_refused_and_kept(tmp_path, monkeypatch):
    path = tmp_path / "study.jsonl"
    with keep(path, seed=0) as file:
        file.run(work, CALLS, threads=True)
    before = path.read_bytes()
    with pytest.raises(AccordError, match="of another study, or of other software"):
        keep(path, seed=1)
    with monkeypatch.context() as patched:
        patched.setattr(results_file, "software", lambda: {"code": "0"})
        with pytest.raises(AccordError, match="of another study, or of other software"):
            keep(path, seed=0)
    with keep(path, seed=0), pytest.raises(AccordError, match="in use by another"):
        keep(path, seed=0)
    assert path.read_bytes() == before
    other = tmp_path / "letter"
    for letter in ("Dear Sir,\n", "Dear Sir,"):
        other.write_text(letter)
        with pytest.raises(AccordError, match="of another study"):
            keep(other)
        assert other.read_text() == letter
    for place in (Path("/dev/zero"), tmp_path):
        with pytest.raises(AccordError, match=r"not a regular file|Is a directory"):
            keep(place)


def test_pieces_of_pieces_are_not_kept(tmp_path):
    """Else the file would depend on whether a piece ran in this process."""
    with keep(tmp_path / "study") as file:
        assert file.run(nested, [()], workers=1) == [3.0]
    assert len((tmp_path / "study").read_text().splitlines()) == 2


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """Return a file of somebody else, in a folder of his own."""
    path = tmp_path / "outside" / "precious.json"
    path.parent.mkdir()
    path.write_text("{}")
    return path


def finish(path: Path) -> None:
    """Keep a piece."""
    with closing(ResultsFile(path, {})) as file:
        file.run(abs, [(1,)], threads=True)


@pytest.mark.parametrize("kind", ["symbolic", "dangling", "hard"])
def test_a_growing_file_is_no_link(kind: str, precious: Path, tmp_path: Path) -> None:
    """Pieces are appended to a file of one name; an empty one would be taken for a new one."""
    study = tmp_path / "study.jsonl"
    precious.write_text("")
    if kind == "hard":
        study.hardlink_to(precious)
    else:
        study.symlink_to(precious if kind == "symbolic" else tmp_path / "outside" / "new")
    with pytest.raises(AccordError, match=r"cannot (use|write) .* link"):
        finish(study)
    assert precious.read_text() == "" and [*precious.parent.iterdir()] == [precious]
