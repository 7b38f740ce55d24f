"""Mistakes that people made who had read the pages and no code, and what they are told.

mistakes.json holds 100 of 264 such mistakes: who made it (a student, a ROS engineer, a researcher),
the command or the Python code, files that must be there (`setup`), commands that come first
(`runs`), the exit status, the message as it was where that was not right (`before`), and a part of
what must be said (`after`), in which {tmp} stands for the working folder. All are repeated by the
slow test; a dozen that need no simulation also run in this process.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from roboaccord.cli.main import run
from roboaccord.contract.errors import COLUMNS, WIDTH, wrapped
from workspace import accord, call

MISTAKES = json.loads(Path(__file__).with_name("mistakes.json").read_text())
QUICK = """name-key-dt name-key-joint name-scenario-order cmd-record flag-gif kind-set-noequal
arg-order help-run kind-duration-unit name-fault-kind combo-base-robot file-missing""".split()
BY_ID = {mistake["id"]: mistake for mistake in MISTAKES}


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrap messages, which other tests do not."""
    monkeypatch.delenv(COLUMNS, raising=False)


def prepare(mistake: dict[str, Any], folder: Path) -> None:
    """Write the files of a mistake, and run the commands that come before it."""
    for name, text in mistake.get("setup", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for command in mistake.get("runs", ()):
        assert accord(*shlex.split(command)[1:], cwd=folder).returncode == 0


def check(mistake: dict[str, Any], status: int, stdout: str, stderr: str, folder: Path) -> None:
    """Check exit status, width and text of a message; of Python the last line of a traceback."""
    if "command" in mistake:
        assert "Traceback" not in stderr
        too_long = [line for line in stderr.splitlines() if len(line) > WIDTH]
        assert not [line for line in too_long if " " in line.strip()], stderr
    # Without blanks: a long path breaks a line wherever it has a dot.
    said, expected = ("".join(t.split()) for t in (stdout + stderr, mistake["after"]))
    assert expected in said.replace(str(folder), "{tmp}"), stdout + stderr
    assert status == mistake["exit"]


def test_there_are_a_hundred_of_all_who_use_it() -> None:
    """Each has an expected text; most were not told the right thing before."""
    assert len(BY_ID) == len(MISTAKES) == 100
    assert {mistake["who"] for mistake in MISTAKES} == {"student", "ROS engineer", "researcher"}
    assert all(mistake["after"] for mistake in MISTAKES)


@pytest.mark.parametrize("name", QUICK)
def test_a_mistake_is_understood(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The message names what was meant, or the next step."""
    pytest.importorskip("snake", reason="the snake is not installed")
    pytest.importorskip("packbot", reason="the PackBot is not installed")
    monkeypatch.chdir(tmp_path)
    mistake = BY_ID[name]
    prepare(mistake, tmp_path)
    status = run(shlex.split(mistake["command"])[1:])
    printed = capsys.readouterr()
    check(mistake, status, printed.out, wrapped(printed.err), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_ID)
def test_a_mistake_is_understood_by_the_process(name: str, tmp_path: Path) -> None:
    """The same for all, as people call it: long lines are wrapped, and there is no traceback."""
    mistake = BY_ID[name]
    prepare(mistake, tmp_path)
    if "command" in mistake:
        done = accord(*shlex.split(mistake["command"])[1:], cwd=tmp_path)
    else:
        (tmp_path / "snippet.py").write_text(mistake["code"])
        done = call([sys.executable, "snippet.py"], tmp_path, os.environ)
    check(mistake, done.returncode, done.stdout, done.stderr, tmp_path)
