"""Commands of the spheres, right and wrong ones, run in this process."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from roboaccord.cli.main import run


def figures(words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command with `--json`, and return what it prints."""
    assert run([*shlex.split(words), "--json"]) == 0
    message = capsys.readouterr()
    assert message.err == ""
    return json.loads(message.out)


def complaint(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a wrong command, and return the one line that it prints."""
    assert run([*shlex.split(words), "--json"]) == 2
    message = capsys.readouterr()
    assert message.out == ""
    (line,) = message.err.splitlines()
    assert line.startswith("accord: ")
    return line
