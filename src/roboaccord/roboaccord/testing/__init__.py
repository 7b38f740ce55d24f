"""Conformance tests that packages of robots and engines inherit; they need pytest.

`RobotConformance` (conformance.py) tests a robot with all its scenarios and every engine, in short
runs that robot_runs.py makes; `EngineConformance` (engines.py) tests an engine on three small
descriptions (small_robots.py). Each package derives a class from one of them in its own
test_conformance.py.

Tests may be added: every robot or engine, a user's too, must then pass them. The names of the two
classes and of their attributes stay. A new module of tests is named in MODULES, without which a
failed assertion does not show its values.
"""

import pytest

MODULES = ("conformance", "engines", "robot_runs", "small_robots")
pytest.register_assert_rewrite(*(f"roboaccord.testing.{name}" for name in MODULES))

from roboaccord.testing.conformance import RobotConformance  # noqa: E402
from roboaccord.testing.engines import EngineConformance  # noqa: E402

__all__ = ["EngineConformance", "RobotConformance"]
