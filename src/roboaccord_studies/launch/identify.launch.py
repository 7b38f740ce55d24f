"""Move the Packbot's arm for a minute so that a recording of it identifies the arm.

ros2 launch roboaccord_studies identify.launch.py sim:=mujoco ros2 launch roboaccord_studies
identify.launch.py sim:=gz headless:=true The names of robot and scenario below stay; the motion may
be changed in scenarios/packbot/identify.yaml.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "identify"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
