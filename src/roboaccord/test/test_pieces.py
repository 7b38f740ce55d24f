"""Studies in pieces: a file that goes on where one was ended, whoever does the work."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pickle import dumps

import numpy as np
import pytest
from roboaccord.cli.pieces import Pieces
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.description.parameters import Parameters
from roboaccord.run import versions
from roboaccord.run.pieces import _remote, held, kept_in, run_pieces
from roboaccord.run.results_file import ResultsFile, decode, encode
from roboaccord.run.sweep import _run
from roboaccord.run.versions import code_digest, needed, packages, version_of

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


def study(path: Path, workers: int = 1, **parameters: object) -> list[tuple[int, float]]:
    with kept_in(ResultsFile(path, "accord study", parameters)):
        return run_pieces(work, CALLS, threads=True, workers=workers)


@pytest.mark.parametrize(
    "value",
    [
        None, True, -0.0, 1e-310, "", "name", [1, [2.5]], (1, (2, "x")), {"a": 1, (0, 1): 2.0},
        frozenset({(1, 2), (0, 3)}), np.arange(6.0).reshape(2, 3), np.array([1 + 2j]),
        np.float32(0.1), np.zeros((0, 4)), Fault("pan", "frozen", 0.25),
        Parameters(mass=0.1, length=1.0),
    ],
)  # fmt: skip
def test_json_loses_nothing(value):
    """Value and type come back, through the text."""
    again = decode(json.loads(json.dumps(encode(value))), packages())
    assert type(again) is type(value)
    if isinstance(value, (np.ndarray, np.generic)):
        assert (again.dtype, again.tobytes()) == (value.dtype, value.tobytes())
        assert again.shape == value.shape
    else:
        assert again == value and repr(again) == repr(value)


def test_a_file_names_no_code_of_others():
    for data in (
        {"name": "os:system"},
        {"name": "roboaccord.run.output:csv"},  # what a module has imported
        {"object": ["roboaccord.numerics.machine:cores", {}]},
        encode(Elsewhere(1.0)),
    ):
        with pytest.raises(ValueError, match=r"another package|elsewhere|not a dataclass"):
            decode(data, packages())
    with pytest.raises(TypeError, match="no JSON of"):
        encode(partial(work, lambda: None))


def test_a_file_is_the_same_whoever_was_faster(tmp_path):
    one, many = tmp_path / "one.jsonl", tmp_path / "many.jsonl"
    found = study(one)
    assert repr(study(many, workers=4)) == repr(found)
    assert many.read_bytes() == one.read_bytes()
    assert len(one.read_text().splitlines()) == 1 + len(CALLS)


def test_a_study_goes_on_where_it_was_killed(tmp_path):
    """Of four lines the last is cut; only what is missing is done again."""
    path, done = tmp_path / "study.jsonl", tmp_path / "done"
    calls = [(i, done) for i in range(6)]
    done.mkdir()

    def run() -> list[tuple[int, float]]:
        with kept_in(ResultsFile(path, "accord study", {})):
            return run_pieces(work, calls, threads=True)

    found, whole = run(), path.read_bytes()
    path.write_bytes(b"\n".join(whole.splitlines()[:5])[:-20])
    for file in done.iterdir():
        file.unlink()
    seen: list[tuple[int, float]] = []
    with kept_in(ResultsFile(path, "accord study", {})):
        assert held() == 3
        again = run_pieces(work, calls, threads=True, done=seen.append)
    assert repr(again) == repr(found) and sorted(i for i, _ in seen) == [*range(6)]
    assert sorted(file.name for file in done.iterdir()) == ["3", "4", "5"]
    assert path.read_bytes() == whole


def change(head: Callable[[dict[str, dict[str, str]]], None], path: Path) -> None:
    first, _, rest = path.read_text().partition("\n")
    data = json.loads(first)
    head(data)
    path.write_text(f"{json.dumps(data)}\n{rest}")


def test_a_file_of_another_study_is_refused_and_kept(tmp_path):
    path = tmp_path / "study.jsonl"
    study(path, seed=0)
    before = path.read_bytes()
    with pytest.raises(AccordError, match="with seed 0 and not 1: choose another file"):
        study(path, seed=1)
    with pytest.raises(AccordError, match="of another study, accord study: choose"):
        ResultsFile(path, "accord other", {"seed": 0})
    assert path.read_bytes() == before
    change(lambda head: head["software"].update(code="0"), path)
    with pytest.raises(AccordError, match=r"with code 0 and not \w{16}: choose"):
        study(path, seed=0)
    other = tmp_path / "letter"
    other.write_text("Dear Sir,\n")
    with pytest.raises(AccordError, match="not a study's file"):
        study(other)
    assert other.read_text() == "Dear Sir,\n"
    for place in (Path("/dev/zero"), tmp_path):
        with pytest.raises(AccordError, match=r"not a regular file|Is a directory"):
            study(place)


@pytest.mark.parametrize("folder", ["config", "meshes", "scenarios", "urdf"])
def test_the_digest_tells_changed_files_from_the_same(tmp_path, monkeypatch, folder):
    """A study does not go on with other parameters, nor with another description."""
    monkeypatch.setattr(versions, "share", tmp_path.joinpath)
    file = tmp_path / "roboaccord" / folder / "deeper" / "file"
    file.parent.mkdir(parents=True)
    found = list[str]()
    for text in ("mass: 1.0", "mass: 1.1", "mass: 1.0"):
        file.write_text(text)
        found.append(code_digest())
    assert found[0] == found[2] != found[1]


def test_a_study_of_a_file_does_not_go_on_with_another_content(tmp_path):
    robot, given = tmp_path / "arm.urdf", {"cluster": "", "resume": tmp_path / "study.jsonl"}
    for text in ("<robot/>", "<robot />"):
        robot.write_text(text)
        with (
            pytest.raises(AccordError, match="with robot") if " " in text else nullcontext(),
            Pieces().running("sweep", given | {"robot": str(robot)}),
        ):
            run_pieces(work, CALLS[:1], threads=True)


def test_pieces_of_pieces_are_not_kept(tmp_path):
    """Else the file would depend on whether a piece ran in this process."""
    with kept_in(ResultsFile(tmp_path / "study", "accord study", {})):
        assert run_pieces(nested, [()], workers=1) == [3.0]
    assert len((tmp_path / "study").read_text().splitlines()) == 2


def test_pieces_are_run_in_processes_unless_threads_will_do():
    assert os.getpid() not in run_pieces(os.getpid, [(), ()], workers=2)
    assert run_pieces(os.getpid, [(), ()], workers=2, threads=True) == [os.getpid()] * 2


def test_a_damaged_line_and_a_second_user_are_named(tmp_path):
    path = tmp_path / "study.jsonl"
    with (
        kept_in(ResultsFile(path, "accord study", {})),
        pytest.raises(AccordError, match="in use by another"),
    ):
        ResultsFile(path, "accord study", {})
    study(path)
    lines = path.read_text().splitlines()
    other = re.sub(r"1\.4(?=\d+])", "1.5", lines[3])  # the root of 2
    assert other != lines[3]
    for damaged in ([*lines[:3], "damaged", *lines[3:]], [*lines[:3], other, *lines[4:]]):
        path.write_text("\n".join(damaged) + "\n")
        with pytest.raises(AccordError, match="damaged in line 4"):
            study(path)


@pytest.mark.parametrize(
    ("robot", "engine", "more"),
    [
        ("snake", "reference", {"snake"}),
        ("snake", "mujoco", {"snake", "mujoco"}),
        ("packbot", "dart", {"packbot", "dartpy", "coal", "pin"}),  # its reference's, in setup.py
    ],
)
def test_a_worker_is_asked_for_what_the_piece_needs(robot, engine, more):
    """Of engines that which it names, and of robots and their libraries likewise."""
    piece = dumps((_run, ({"robot": robot}, (engine, 0.001, 0), "speed", ())))
    assert {*needed(piece)} == {"python", "numpy", "scipy", "numba", "roboaccord", *more}


def test_a_worker_does_what_it_can_and_refuses_the_rest():
    pytest.importorskip("cloudpickle", reason="Dask is not installed")
    piece = dumps((math.sqrt, (4.0,)))
    asked = {name: version_of(name) for name in needed(piece)}
    assert asked["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert _remote(piece, asked, threads=True) == 2.0
    for name in asked:
        with pytest.raises(AccordError, match=f"has {name} .*: 0.1 is needed"):
            _remote(piece, asked | {name: "0.1"}, threads=True)
