"""Every robot that is installed keeps the rules of all robots."""

import pytest
from roboaccord.scenario.setup import robot_names
from roboaccord.testing import RobotConformance

pytestmark = pytest.mark.thorough
pytest.mark.slow(RobotConformance.test_every_parameter_counts)

for name in robot_names():
    title = f"Test{name.title().replace('_', '')}"
    globals()[title] = type(title, (RobotConformance,), {"robot": name, "__module__": __name__})
