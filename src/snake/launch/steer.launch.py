r"""Steer the snake: a quarter turn by the heading loop, or wherever /snake/cmd_vel says.

ros2 launch snake steer.launch.py sim:=dart
ros2 topic pub -r 10 /snake/cmd_vel geometry_msgs/msg/Twist \
    "{linear: {x: 0.5}, angular: {z: 0.2}}"
"""

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    shared = PathJoinSubstitution(
        [FindPackageShare("roboaccord_ros"), "launch", "simulate.launch.py"]
    )
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                shared,
                launch_arguments={"robot": "snake", "scenario": "steer"}.items(),
            ),
        ]
    )
