"""Reach between two boards, with the estimated inertia and friction of the drives.

ros2 launch packbot shelf_real.launch.py sim:=mujoco

`parameters: real` in scenarios/shelf_real.yaml stays. All but the drives may be changed in
scenarios/shelf.yaml, the drives in config/real.yaml.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "shelf_real"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
