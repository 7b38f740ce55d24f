"""Output and files where a pipe is closed, or where the locale is not UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from roboaccord.cli import main
from roboaccord.cli.console import out
from workspace import SHORT_RUN

START = "from roboaccord.cli.start import main; main()"  # as the command `accord` starts
ROBOT = """<?xml version="1.0" encoding="utf-8"?>
<robot name="grün" xmlns:xacro="http://www.ros.org/wiki/xacro"><!-- – ü 機 -->
<link name="fuß"/></robot>
"""
LOCALES = {
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0"},
    "POSIX": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
}
PRINTING = [
    "--version",
    "--help",
    "list snake --json",
    "crosscheck --help",
    "scenario snake serpenoid",
    "scenario snake serpenoid --json",
    "packbot look --json",
    "snake shapes",
    " ".join(SHORT_RUN).removesuffix(" --json"),
]


@pytest.mark.parametrize("words", PRINTING)
def test_a_closed_pipe_ends_a_command_quietly(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever has read enough has all that he wanted: no message, and no verdict's status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out, "quiet", False)  # rich sets it where a pipe breaks
    end, start = os.pipe()
    os.close(end)
    with suppress(BrokenPipeError), os.fdopen(start, "w") as closed:  # when it is closed
        monkeypatch.setattr(sys, "stdout", closed)
        status = main.run(words.split())
    assert status == 0
    assert capsys.readouterr().err == ""


def accord(*words: str, cwd: Path, **environment: str) -> subprocess.Popen[bytes]:
    """Start `accord` as its entry point does."""
    return subprocess.Popen(
        [sys.executable, "-c", START, *words], cwd=cwd, env={**os.environ, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.slow
def test_a_run_whose_reader_leaves_is_recorded(tmp_path: Path) -> None:
    """`accord run ... | head -1`: the bag is whole, and nothing is printed about the pipe."""
    words = [word for word in SHORT_RUN if word != "--json"]
    with accord(*words, "--out", "run", cwd=tmp_path) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        printed = process.stderr.read()
    assert process.returncode == 0
    assert printed == b""
    assert (tmp_path / "run" / "bag" / "metadata.yaml").is_file()


@pytest.mark.parametrize(
    "name", ["C", *(pytest.param(n, marks=pytest.mark.slow) for n in LOCALES if n != "C")]
)
@pytest.mark.parametrize("form", ["rö.urdf.xacro", pytest.param("rö.urdf", marks=pytest.mark.slow)])
def test_files_are_utf_8_whatever_the_locale(name: str, form: str, tmp_path: Path) -> None:
    """A file and its name are read, in the worker of xacro too, printed, and written."""
    (tmp_path / form).write_text(ROBOT, encoding="utf-8")
    words = ["check", form, "--sarif", "ö.sarif"]
    with accord(*words, cwd=tmp_path, **LOCALES[name]) as process:
        out, err = process.communicate()
    assert b"Traceback" not in out + err
    assert process.returncode in (0, 1), err
    written = (tmp_path / "ö.sarif").read_text(encoding="utf-8")
    assert "fuß" in json.dumps(json.loads(written), ensure_ascii=False)
    shown = "fu\\xdf" if "PYTHONIOENCODING" in LOCALES[name] else "fuß"
    assert shown in out.decode()
