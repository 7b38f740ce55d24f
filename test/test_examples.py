"""The examples run, and print what theory predicts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
LENGTH = 30  # lines; longer is a program, not an example
# By example: a number in what it prints, what it should be, and how near (relative).
# 1.066 m/s is an independent computation of the gait tracked exactly, see docs/snake.md.
# 0.671 m is the stride that an independent simulation of the MonkeyBot found, to its last digit.
# 0.5 m/s for 1 s, less half of both ramps of 0.2 s; the speed loops lag.
# The point that the hand is asked for; the controller's model is exact.
# A square of sides pi/2 r turns a ball by 120 degrees about (1, 1, -1): quarter turns composed.
FIGURES = {
    "roll_voxel_sphere": (
        r"^turned by ([\d.]+) degrees about \[ *0.5774 +0.5774 -0.5774\]$",
        120.0,
        1e-6,
    ),
    "drive_roller_sphere": (r"rolled ([\d.]+) m along x$", 0.4, 0.01),
    "reach_packbot": (r"^finger tips at ([\d.]+) -0.1200 0.6200 m$", 1.1, 1e-4),
    "recover_packbot": (r"^recover: finger tips at ([\d.]+) 0.2[45]\d 0.(?:29|30)", 0.75, 0.01),
    "run_snake": (r"^speed ([\d.]+) m/s$", 1.066, 0.03),
    "search_monkeybot": (r"^stride ([\d.]+) m ", 0.671, 0.0005 / 0.671),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_what_theory_says(path: Path, tmp_path: Path) -> None:
    """Run the file as a user does, from another folder."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LENGTH
    run = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    pattern, expected, near = FIGURES[path.stem]
    found = re.search(pattern, run.stdout, re.MULTILINE)
    assert found, run.stdout
    assert float(found[1]) == pytest.approx(expected, rel=near)
