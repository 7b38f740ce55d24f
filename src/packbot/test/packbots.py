"""Fixtures of the Packbot's tests and of its studies: commands, right ones and wrong ones, here."""

import json

import pytest
from roboaccord.cli.main import run


@pytest.fixture(scope="session")
def accord_here():
    """Return the command line, to be run in this process on a list of words."""
    return run


@pytest.fixture
def figures(accord_here, capsys, monkeypatch, tmp_path):
    """Return a function that runs a command with `--json`, and returns what it prints."""

    def of(words):
        monkeypatch.chdir(tmp_path)
        assert accord_here(["packbot", *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return of


@pytest.fixture
def complaint(accord_here, capsys, monkeypatch, tmp_path):
    """Return a function that runs a wrong command and returns the one line that it prints."""

    def of(words):
        monkeypatch.chdir(tmp_path)
        assert accord_here(["packbot", *words]) == 2
        message = capsys.readouterr()
        assert message.out == ""
        (line,) = message.err.splitlines()
        assert line.startswith("accord: ")
        return line

    return of
