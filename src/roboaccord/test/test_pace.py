"""The pace of a run, by a wall clock that the test sets."""

from __future__ import annotations

import logging

import pytest
from roboaccord.run.pace import Pace


@pytest.mark.parametrize(("delay", "made_up"), [(0.18, True), (0.3, False)])
def test_a_short_delay_is_made_up_for_and_a_longer_one_moves_the_schedule(
    delay: float, made_up: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The bound of 0.2 s is that of docs/ros.md."""
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    pace = Pace(0.1, 2.0)  # a tick every 0.05 s
    pace.restart()
    assert not pace.due()
    now += 0.1 + delay  # the tick after the first one is due at 100.1
    with caplog.at_level(logging.WARNING):
        pace.advance()
    assert bool(caplog.records) != made_up
    ticks = 0
    while pace.due():
        pace.advance()
        ticks += 1
    assert ticks == (4 if made_up else 1)  # due at 100.1, 100.15, 100.2 and 100.25
    now += 0.049
    assert pace.due() == made_up
