"""Reach a point in front, with the estimated inertia and friction of the drives.

ros2 launch packbot reach_real.launch.py sim:=mujoco

scenarios/reach_real.yaml extends reach.yaml by `parameters: real`, which stays. The target may be
changed there, and `set:="parameters=real:low"` takes the low end of the estimates.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "reach_real"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
