"""What packages of robots test themselves with; needs pytest."""

import pytest

pytest.register_assert_rewrite("roboaccord.testing.conformance")

from roboaccord.testing.conformance import RobotConformance  # noqa: E402

__all__ = ["RobotConformance"]
