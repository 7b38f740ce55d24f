"""What packages of robots and engines test themselves with; needs pytest.

Modules of tests may be added: name each in `register_assert_rewrite`, before it is imported: else a
failed assertion does not show its values. The names of the two classes and their attributes stay,
for robot and engine packages inherit them.
"""

import pytest

pytest.register_assert_rewrite("roboaccord.testing.conformance", "roboaccord.testing.engines")

from roboaccord.testing.conformance import RobotConformance  # noqa: E402
from roboaccord.testing.engines import EngineConformance  # noqa: E402

__all__ = ["EngineConformance", "RobotConformance"]
