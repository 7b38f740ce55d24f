"""The gait that docs/monkeybot.md makes: its code runs, and what the page states of it holds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from monkeybot.model.coordinates import Mode
from monkeybot.model.events import VERTICAL, level
from monkeybot.model.motion import Motion

PAGE = Path(__file__).resolve().parents[3] / "docs" / "monkeybot.md"


@pytest.fixture(scope="module")
def names():
    """Return what the page's code leaves behind."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 1
    left: dict[str, object] = {}
    exec(blocks[0], left)  # noqa: S102 - the page's own code
    return left


def test_it_repeats_when_its_phases_are_played_one_by_one(names):
    """Step by step, without the kernel that runs phases, the gait comes back to its start."""
    found = names["found"]
    start = np.array([0.0, 0.0, *found.rates, 0.0, 0.0, 0.0, 0.0])
    motion = Motion(names["robot"], start)
    energy = sum(motion.energies)
    assert motion.advance(1.0, until=level())
    motion.switch_to(Mode.SWING_B)
    motion.advance(0.004, 10.0)
    motion.advance(0.01)
    motion.advance(float(found.evaluation.times[0, 3]), 10.0)
    assert sum(motion.energies) == pytest.approx(energy, abs=1e-9)
    assert motion.advance(1.0, until=VERTICAL)
    assert motion.hand_state[:4] == pytest.approx(start[:4], abs=1e-9)


def test_the_page_tells_its_numbers(names):
    """Rates, residual and multipliers are those that the code prints."""
    text = PAGE.read_text(encoding="utf-8")
    w1, w2 = names["found"].rates
    assert f"({w1:.5f}, {w2:.5f})" in text
    assert names["found"].residual < 1e-9
    for value in names["values"]:
        assert f"{value.real:.4g}" in text
    a, b, _ = names["field"].lowest
    assert f"({a:g}, {b:g})" in text


def test_energy_restored_leaves_one_multiplier_at_1(names):
    """Each gait restores its own energy, so a change of it neither grows nor fades."""
    assert min(abs(names["values"] - 1.0)) < 1e-6
