"""Conformance tests that packages of robots and engines inherit; needs pytest.

conformance.py tests a robot with every scenario and engine (robot_runs.py makes its runs),
engines.py an engine on three small descriptions (small_robots.py). Tests may be added: every robot
or engine, a user's too, must then pass them. The names of the two classes and their attributes
stay: other packages inherit them. Name a new module of tests in `register_assert_rewrite`, before
it is imported; otherwise a failed assertion does not show its values. Each package's own
test_conformance.py runs them.
"""

import pytest

MODULES = ("conformance", "engines", "robot_runs", "small_robots")
pytest.register_assert_rewrite(*(f"roboaccord.testing.{name}" for name in MODULES))

from roboaccord.testing.conformance import RobotConformance  # noqa: E402
from roboaccord.testing.engines import EngineConformance  # noqa: E402

__all__ = ["EngineConformance", "RobotConformance"]
