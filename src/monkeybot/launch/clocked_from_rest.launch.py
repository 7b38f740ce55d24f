"""Let the MonkeyBot swing out of rest into its stable gait, which Gazebo can do too.

ros2 launch monkeybot clocked_from_rest.launch.py sim:=gz
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("monkeybot", "clocked_from_rest")
