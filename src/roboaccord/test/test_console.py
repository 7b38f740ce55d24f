"""What is printed on stderr stands there as it is."""

from __future__ import annotations

import pytest
from roboaccord.cli.console import Call, call, make_table, note, warn
from roboaccord.cli.result import Result, show


def test_lines_are_printed_as_they_are_and_notes_are_hidden_by_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Brackets of units and lists are no markup, and long lines are not broken."""
    line = "the rate [bold] [rad/s] of joints [red]1[/red] is 0.5; " + 10 * "sixteen letters "
    note(line)
    warn(line)
    assert capsys.readouterr().err == f"{line}\naccord: warning: {line}\n"
    token = call.set(Call(quiet=True))
    try:
        note(line)
        warn("all the same")
    finally:
        call.reset(token)
    assert capsys.readouterr().err == "accord: warning: all the same\n"


def test_the_title_of_a_table_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table("robot", title="a title")
    table.add_row("snake")
    show(Result({}, [table]), {}, {}, as_json=False)
    assert capsys.readouterr().out.split() == ["a", "title", "robot", "snake"]
