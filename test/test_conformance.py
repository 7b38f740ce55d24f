"""Every robot that is installed keeps the rules of all robots."""

from roboaccord.scenario.setup import robot_names
from roboaccord.testing import RobotConformance

for name in robot_names():
    title = f"Test{name.title().replace('_', '')}"
    globals()[title] = type(title, (RobotConformance,), {"robot": name, "__module__": __name__})
