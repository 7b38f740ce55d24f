"""A stranger's xacro reaches nothing beyond its text: behind a fence, and where there is none."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from escapes import EXPRESSIONS, bodies, link, robot
from roboaccord.contract.errors import AccordError
from roboaccord.description.isolated import run_isolated
from roboaccord.description.resources import is_installed
from roboaccord.description.urdf_file import read_urdf
from roboaccord.description.xacro_file import TRUST, check_expression

pytest.importorskip("xacro")
SOURCES = Path(__file__).resolve().parents[2]
FRAMES = {name for name in EXPRESSIONS if name.startswith("frame")}
# By xacro itself, whoever asks: by its reader of YAML, and by its check of names, which sees those
# in a comprehension since Python 3.12 compiles it as a part of its expression [PEP 709].
REFUSED = {"object", "comprehension"} if sys.version_info >= (3, 12) else {"object"}


@pytest.fixture(scope="module")
def succeeded() -> Iterator[dict[str, list[str]]]:
    """Return what succeeded, by mode and user."""
    # Pytest's own folder is closed to others; xacro refuses two underscores in $(eval ).
    folder = Path(tempfile.gettempdir(), f"escapes-{secrets.token_hex(8)}")
    folder.mkdir()
    folder.chmod(0o777)
    command = [sys.executable, Path(__file__).with_name("escapes.py"), folder]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout)
    finally:
        shutil.rmtree(folder)


def test_no_expression_reaches_beyond_itself(succeeded: dict[str, list[str]]) -> None:
    """Not as root, nor as a user without rights; where the file is trusted, they all do."""
    for case, names in succeeded.items():
        if case.startswith("trusted"):
            assert {*bodies()} - FRAMES - {*names} == REFUSED, case
            assert FRAMES & {*names}, case  # which of them depends on the Python
        elif case.startswith(("fenced", "no fence")):
            assert names == [], case


def test_a_fence_refuses_whatever_code_runs(succeeded: dict[str, list[str]]) -> None:
    """Writing, the network, programs, processes and signals; without a fence it may do these."""
    behind = {case: names for case, names in succeeded.items() if case.startswith("calls behind")}
    assert {*map(tuple, behind.values())} == {()}
    if os.getuid() == 0:
        assert {"write", "TCP", "fork", "signal", "folder by an old number"} <= {
            *succeeded["calls"]
        }


def test_robots_need_nothing_that_is_refused(succeeded: dict[str, list[str]]) -> None:
    assert succeeded["differing"] == []


@pytest.mark.parametrize(
    "expression",
    [
        "[2 * x for x in range(3)]", "{k: v for k, v in p.items() if k != 'a'}",
        "p['mass'] if 'mass' in p else -1.5e3", "'{:.3f}'.format(radians(90))",
        "xacro.load_yaml(xacro.arg('file'))['joints'][0].limits.lower", "-(-(2 ** 0.5))",
    ],
)  # fmt: skip
def test_what_xacros_use_is_taken_where_there_is_no_fence(expression: str) -> None:
    assert check_expression(expression) == expression


@pytest.mark.parametrize(
    "expression",
    ["a.__class__", "[a.__base__ for _ in b]", "lambda: 0", "list(a for a in b)", "__import__",
     "[[g.gi_frame for g in h] for h in i]", "a.ｆ_globals", "{f'{a.__dict__}': 0}"],
)  # fmt: skip
def test_what_leads_elsewhere_is_refused_at_any_depth(expression: str) -> None:
    with pytest.raises(
        AccordError, match="refused in an expression; if you trust the file, add --trust"
    ):
        check_expression(expression)
    with pytest.raises((RecursionError, MemoryError, SyntaxError)):  # never unchecked
        check_expression(f"{'-' * 100_000}{expression}")


def test_a_package_that_is_installed_is_trusted_and_no_other(tmp_path: Path, monkeypatch) -> None:
    """By where it is, and not by what its package.xml states."""
    own = SOURCES / "snake" / "urdf" / "snake.urdf.xacro"
    assert is_installed(own)
    fake = tmp_path / "snake" / "urdf" / "snake.urdf.xacro"
    fake.parent.mkdir(parents=True)
    shutil.copy(SOURCES / "snake" / "package.xml", fake.parents[1])
    fake.write_text(robot(link("a")), encoding="utf-8")
    assert not is_installed(fake)
    (tmp_path / "linked").symlink_to(own)
    assert is_installed(tmp_path / "linked")
    monkeypatch.chdir(SOURCES / "snake" / "urdf")
    assert not is_installed(Path(os.path.relpath(fake)))
    (tmp_path / "json").mkdir()
    for name in ("json", "__main__", "..", "no_such_package"):
        (tmp_path / "json" / "package.xml").write_text(f"<package><name>{name}</name></package>")
        assert not is_installed(tmp_path / "json" / "a.xacro")


def test_launch_files_that_take_a_robots_file_have_the_argument() -> None:
    ros = SOURCES / "roboaccord_ros" / "roboaccord_ros"
    assert f'TRUST = "{TRUST}"' in (ros / "launch/planner.py").read_text(encoding="utf-8")
    for file in ("simulate", "view_robot"):
        text = (SOURCES.parent / f"launch/{file}.launch.py").read_text(encoding="utf-8")
        assert 'argument("trust"' in text


@pytest.mark.parametrize(
    "answer",
    ["", "5", "null", "{}", "[]", '"error"', "[" * 100_000, "1" * 5000, '{"eror": 1}', "\x00"],
)
def test_whatever_a_process_answers_is_one_line(answer: str, monkeypatch) -> None:
    """A file that took its process over may write anything."""
    answered(monkeypatch, answer)
    line = r"^reading it took more than 1 s or 9 MB, or crashed$"
    with pytest.raises(AccordError, match=line):
        run_isolated(len, [], seconds=1, memory=9 << 20)


def test_an_error_from_another_process_does_not_steer_the_terminal(monkeypatch) -> None:
    answered(monkeypatch, json.dumps({"error": "a\x1b[2J\u202eb"}))
    with pytest.raises(AccordError, match=r"^a\\u001b\[2J\\u202eb$"):
        run_isolated(len, [], seconds=1, memory=9 << 20)


def answered(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the process of `run_isolated` answer a text."""
    code = f"import sys; sys.stdout.write({text!r})"
    words = [sys.executable, "-I", "-S", "-c", code]
    monkeypatch.setattr("roboaccord.description.isolated.python", lambda *_: words)


def test_no_process_is_left_where_no_thread_can_be_started(monkeypatch) -> None:
    started = []

    class Popen(subprocess.Popen):
        def __init__(self, *words: object, **options: object) -> None:
            super().__init__(["sleep", "600"], **options)
            started.append(self)

    def start(timer: Timer) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(subprocess, "Popen", Popen)
    monkeypatch.setattr(Timer, "start", start)
    with pytest.raises(RuntimeError, match="new thread"):
        run_isolated(len, [], seconds=1, memory=9 << 20)
    assert [each.returncode for each in started] == [-signal.SIGKILL]


@pytest.mark.slow
def test_printing_without_end_takes_no_memory(tmp_path: Path, monkeypatch) -> None:
    """What an expression prints is not kept; what it takes is limited."""
    monkeypatch.setattr("roboaccord.description.xacro_file.SECONDS", 1)
    path = tmp_path / "a.xacro"
    loop = "[xacro.message('x' * 10 ** 7) for a in range(10 ** 9)]"
    path.write_text(robot(link("${" + loop + "}")), encoding="utf-8")
    with pytest.raises(
        AccordError, match=r"^broken description a\.xacro: reading it took more than 1 s"
    ):
        read_urdf(path)
