"""Let elbow 2 of the Packbot go loose in a motion to a target, which is reached with it hanging.

ros2 launch packbot loose_elbow2.launch.py sim:=dart
ros2 launch packbot loose_elbow2.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "loose_elbow2")
