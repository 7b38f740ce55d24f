"""Let elbow 1 of the Packbot freeze in a motion to a target, which the other joints reach.

ros2 launch packbot frozen_elbow.launch.py sim:=mujoco
ros2 launch packbot frozen_elbow.launch.py sim:=gz headless:=true

Target and instant of failure (1.5 s) may be changed in scenarios/frozen_elbow.yaml; the names below
stay. scenarios/frozen_elbow_real.yaml extends that file and changes with it.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "frozen_elbow"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
