"""Let the Packbot's finger tips reach a point in front, on a planned way.

ros2 launch packbot reach.launch.py sim:=mujoco record:=true
ros2 launch packbot reach.launch.py sim:=gz headless:=true
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
                launch_arguments={"robot": "packbot", "scenario": "reach"}.items(),
            ),
        ]
    )
