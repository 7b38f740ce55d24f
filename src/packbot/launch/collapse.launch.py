"""Let the Packbot's arm fall onto its own hulls, all joints without torque.

ros2 launch packbot collapse.launch.py sim:=dart record:=true
ros2 launch packbot collapse.launch.py sim:=gz headless:=true
ros2 topic echo /packbot/contacts
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
                launch_arguments={"robot": "packbot", "scenario": "collapse"}.items(),
            ),
        ]
    )
