"""What launch files declare, read without launch, which is not on PyPI."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SIMULATE = ROOT / "launch/simulate.launch.py"
OF_ROBOTS = sorted(path for path in ROOT.glob("src/*/launch/*.launch.py") if path.resolve() == path)
# Those that include simulate.launch.py.
RUNS = [path for path in OF_ROBOTS if not re.search("view_robot|ros2_control", path.name)]
GIVEN = re.compile(r'robot="(\w+)", scenario="(\w+)"')


def scenario_of(path):
    """Return robot and scenario of a launch file."""
    return GIVEN.search(path.read_text(encoding="utf-8")).groups()


def declared():
    """Return the arguments of simulate.launch.py, with their defaults."""
    calls = [n for n in ast.walk(ast.parse(SIMULATE.read_text("utf-8"))) if isinstance(n, ast.Call)]
    named = [call.args for call in calls if getattr(call.func, "id", "") == "argument"]
    return {name.value: default.value for name, default, *_ in named}
