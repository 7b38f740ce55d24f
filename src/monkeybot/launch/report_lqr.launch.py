"""Let the MonkeyBot walk by the report's gait, held by feedback on the time of the change.

ros2 launch monkeybot report_lqr.launch.py sim:=dart
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("monkeybot", "report_lqr")
