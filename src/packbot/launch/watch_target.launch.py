"""Let the tilt of the Packbot's camera go loose, and bring a target back into its sight.

ros2 launch packbot watch_target.launch.py sim:=dart
ros2 launch packbot watch_target.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "watch_target")
