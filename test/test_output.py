"""Output and files where a pipe is closed, or where the locale is not UTF-8."""

from __future__ import annotations

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
PRINTING = [
    "--version", "--help", "list snake --json", "crosscheck --help", "scenario snake serpenoid",
    "scenario snake serpenoid --json", "packbot look --json", "snake shapes",
    " ".join(SHORT_RUN).removesuffix(" --json"),
]  # fmt: skip


@pytest.mark.parametrize("words", PRINTING)
def test_a_closed_pipe_ends_a_command_quietly(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever has read enough has all that he wanted: no message, and no verdict's status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out, "quiet", False)  # rich sets it where a pipe breaks
    end, start = os.pipe()
    os.close(end)
    with suppress(BrokenPipeError), os.fdopen(start, "w") as closed:  # when it is closed
        monkeypatch.setattr(sys, "stdout", closed)
        status = main.run(words.split())
    message = capsys.readouterr().err
    assert not message, message
    assert status == 0


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
        assert process.stdout and process.stderr
        process.stdout.close()
        printed = process.stderr.read()
    assert process.returncode == 0
    assert printed == b""
    assert (tmp_path / "run" / "bag" / "metadata.yaml").is_file()
