"""Commands of a robot, right and wrong ones, run in this process: fixtures of the robots' tests.

from robot_commands import accord_here, commands_of

figures, complaint = commands_of("snake")
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from roboaccord.cli.main import run

Words = str | Iterable[str]
Figures = Callable[[Words], Any]
Complaint = Callable[[Words], str]


@pytest.fixture(scope="session")
def accord_here() -> Callable[[list[str]], int]:
    """Return the command line, to be run on a list of words."""
    return run


def commands_of(*first: str, quiet: bool = False) -> tuple[Any, Any]:
    """Return the fixtures of a robot's commands: figures of a right one, complaint of a wrong one.

    Args:
        first: first words of every command, as the name of a robot.
        quiet: whether a right one has nothing on stderr.
    """

    def words_of(words: Words) -> list[str]:
        return [*first, *(shlex.split(words) if isinstance(words, str) else words)]

    @pytest.fixture
    def figures(capsys, monkeypatch, tmp_path) -> Figures:
        """Return a function that runs a command with `--json`, and returns what it prints."""
        monkeypatch.chdir(tmp_path)

        def of(words: Words) -> Any:
            assert run([*words_of(words), "--json"]) == 0
            message = capsys.readouterr()
            assert not (quiet and message.err), message.err
            return json.loads(message.out)

        return of

    @pytest.fixture
    def complaint(capsys, monkeypatch, tmp_path) -> Complaint:
        """Return a function that runs a wrong command, and returns its message as one line."""
        monkeypatch.chdir(tmp_path)

        def of(words: Words) -> str:
            assert run(words_of(words)) == 2
            message = capsys.readouterr()
            assert message.out == ""
            return unwrapped(message.err)

        return of

    return figures, complaint


def unwrapped(text: str) -> str:
    """Return the one message that `accord` wraps at 100 columns as one line."""
    first, *others = text.splitlines()
    assert first.startswith("accord: ") and all(line.startswith("  ") for line in others), text
    assert max(map(len, (first, *others))) <= 100 or not others, text
    return " ".join(line.strip() for line in (first, *others))
