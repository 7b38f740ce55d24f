"""The experiments of docs/experiments.md come out as the page states."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from roboaccord.cli.main import run
from workspace import ROOT

PAGE = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
EXPECTED = re.compile(r"`([\w.]+)` (-?[\d.e-]*\d|pass)(?: [a-z/]+)?(?: \(([\d.e-]+)\))?")


def experiments() -> Iterator[Any]:
    """Yield the command of each, and the figures expected."""
    for section in PAGE.split("\n## ")[1:]:
        (command,) = re.findall(r"^    accord (.+)$", section, re.MULTILINE)
        (words,) = re.findall(r"^Expected: (.+)$", section, re.MULTILINE)
        yield pytest.param(command, EXPECTED.findall(words), id=section.partition(".")[0])


def test_there_are_ten_with_figures() -> None:
    found = [each.values[1] for each in experiments()]
    assert len(found) == 10 and all(found)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "expected"), [*experiments()])
def test_an_experiment(
    command: str,
    expected: list[tuple[str, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*shlex.split(command), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for key, value, tolerance in expected:
        figure: Any = found
        for word in key.split("."):
            figure = figure[int(word)] if isinstance(figure, list) else figure[word]
        if value == "pass":
            assert figure == value, key
        else:
            assert figure == pytest.approx(float(value), abs=float(tolerance or 0.0)), key
