"""What packages of robots and engines test themselves with; needs pytest."""

import pytest

pytest.register_assert_rewrite("roboaccord.testing.conformance", "roboaccord.testing.engines")

from roboaccord.testing.conformance import RobotConformance  # noqa: E402
from roboaccord.testing.engines import EngineConformance  # noqa: E402

__all__ = ["EngineConformance", "RobotConformance"]
