"""Let the Packbot's hand reach between two boards, past a bracket, in sight of its camera.

ros2 launch packbot shelf.launch.py sim:=mujoco record:=true
ros2 launch packbot shelf.launch.py sim:=gz headless:=true
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
                launch_arguments={"robot": "packbot", "scenario": "shelf"}.items(),
            ),
        ]
    )
