"""Setups that the MonkeyBot's tests share."""

import sys
from pathlib import Path

import pytest
from roboaccord import Setup, load_scenario
from roboaccord.cli.main import run

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def setup_with():
    """Return a function that makes the setup of `swing` with changes."""

    def make(*changes):
        return Setup.of(load_scenario("monkeybot", "monkeybot", "swing", changes))

    return make


@pytest.fixture(scope="session")
def accord_here():
    """Return the command line, to be run in this process on a list of words."""
    return run


@pytest.fixture
def complaint(accord_here, capsys, monkeypatch, tmp_path):
    """Return a function that runs a wrong command and returns the one line that it prints.

    In this process: some forty new ones would take two minutes. What is right is run as by a user.
    """

    def of(words):
        monkeypatch.chdir(tmp_path)
        assert accord_here(words.split()) == 2
        message = capsys.readouterr()
        assert message.out == ""
        (line,) = message.err.splitlines()
        assert line.startswith("accord: ")
        return line

    return of
