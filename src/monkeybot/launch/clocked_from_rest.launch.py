"""Let the MonkeyBot swing out of rest into its stable gait, which Gazebo can do too.

ros2 launch monkeybot clocked_from_rest.launch.py sim:=gz record:=true
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
                launch_arguments={"robot": "monkeybot", "scenario": "clocked_from_rest"}.items(),
            ),
        ]
    )
