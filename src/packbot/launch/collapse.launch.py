"""Let the Packbot's arm fall onto its own hulls, all joints without torque.

ros2 launch packbot collapse.launch.py sim:=dart
ros2 launch packbot collapse.launch.py sim:=gz headless:=true
ros2 topic echo /packbot/contacts
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "collapse")
