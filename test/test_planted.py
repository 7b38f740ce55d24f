"""Errors planted by `make planted` are found, and the level that finds them is reported."""

from __future__ import annotations

import pytest
from workspace import ROOT


@pytest.mark.slow
@pytest.mark.thorough
def test_an_effort_a_substep_late_is_found_by_the_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dartpy", reason="DART is not installed, or libGL is missing")
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks.campaigns.planted_errors import Row, carry_out, table

    (row,) = carry_out([Row("monkeybot", "dart", "a substep late", 1.0)])
    assert (row.verdict, row.levels[0], row.names[0]) == ("found", "scheme", "delay elbow")
    line = (
        "| first order | a substep late * | dart | 1 |  | 1: scheme, energy [delay elbow, energy "
    )
    assert any(each.startswith(line) for each in table([row]))
