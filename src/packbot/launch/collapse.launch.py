"""Let the Packbot's arm fall onto its own hulls, all joints without torque.

ros2 launch packbot collapse.launch.py sim:=dart
ros2 launch packbot collapse.launch.py sim:=gz headless:=true
ros2 topic echo /packbot/contacts

The pose in scenarios/collapse.yaml is fixed by the report's figure 6 (docs/packbot.md) but for 95
degrees of link 3, which it does not print and which may be changed. Its `friction` is the contact
law. Tolerances have a reason beside them.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="collapse")
