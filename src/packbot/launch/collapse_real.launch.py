"""Let the arm fall without torque, held by the estimated friction of its drives.

ros2 launch packbot collapse_real.launch.py sim:=mujoco
ros2 topic echo /packbot/contacts

The estimates may be changed in config/real.yaml; `real:low` and `real:high` are the ends of their
ranges. `parameters: real` in scenarios/collapse_real.yaml chooses them and stays.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "collapse_real"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
