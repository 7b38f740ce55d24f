"""What packages of robots and engines test themselves with; needs pytest.

Robot packages and engine packages inherit the two classes, so their names and attributes stay. A
module of tests added here is named in `register_assert_rewrite` before it is imported, or its
assertions fail without values.
"""

import pytest

pytest.register_assert_rewrite("roboaccord.testing.conformance", "roboaccord.testing.engines")

from roboaccord.testing.conformance import RobotConformance  # noqa: E402
from roboaccord.testing.engines import EngineConformance  # noqa: E402

__all__ = ["EngineConformance", "RobotConformance"]
