"""What is printed on stderr stands there as it is."""

from __future__ import annotations

from time import sleep

import pytest
from roboaccord.cli.console import Call, call, make_table, note, progress, warn
from roboaccord.cli.result import Result, show
from roboaccord.numerics import jit


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


@pytest.mark.parametrize("quiet", [False, True])
def test_a_line_tells_that_kernels_compile(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no bar, too, and not with `--json`."""
    monkeypatch.setattr(jit, "seen_compiling", lambda: True)
    monkeypatch.setattr(jit, "FIRST_LINE", 0.0)
    token = call.set(Call(quiet=quiet))
    try:
        with progress():
            sleep(0.5)
    finally:
        call.reset(token)
    line = "accord: compiling kernels, once on this machine: 0 s so far ...\n"
    assert capsys.readouterr().err == ("" if quiet else line)


def test_the_title_of_a_table_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    table = make_table("robot", title="a title")
    table.add_row("snake")
    show(Result({}, [table]), {}, {}, as_json=False)
    assert capsys.readouterr().out.split() == ["a", "title", "robot", "snake"]
