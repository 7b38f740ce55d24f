"""Fixtures of the roller sphere's tests: commands, right and wrong ones, in this process."""

import json
import sys
from pathlib import Path

import pytest
from roboaccord.cli.main import run

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def accord_here():
    """Return the command line, to be run in this process on a list of words."""
    return run


@pytest.fixture
def figures(accord_here, capsys, monkeypatch, tmp_path):
    """Return a function that runs a command with `--json`: what it prints, and what it warns."""

    def of(words):
        monkeypatch.chdir(tmp_path)
        assert accord_here([*f"roller-sphere {words}".split(), "--json"]) == 0
        message = capsys.readouterr()
        return json.loads(message.out), message.err

    return of


@pytest.fixture
def complaint(accord_here, capsys, monkeypatch, tmp_path):
    """Return a function that runs a wrong command and returns the one line that it prints."""

    def of(words):
        monkeypatch.chdir(tmp_path)
        assert accord_here(words.split()) == 2
        message = capsys.readouterr()
        assert message.out == ""
        (line,) = message.err.splitlines()
        assert line.startswith("accord: ")
        return line

    return of
