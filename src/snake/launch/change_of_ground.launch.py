"""Let the snake come to another ground, notice it, and change its gait.

ros2 launch snake change_of_ground.launch.py sim:=dart record:=true
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
                launch_arguments={"robot": "snake", "scenario": "change_of_ground"}.items(),
            ),
        ]
    )
