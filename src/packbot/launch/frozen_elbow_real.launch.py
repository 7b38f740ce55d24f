"""Let elbow 1 freeze in a motion, with the estimated inertia and friction of the drives.

ros2 launch packbot frozen_elbow_real.launch.py sim:=mujoco

scenarios/frozen_elbow_real.yaml must have nothing of its own but `parameters: real`, as a test
checks; frozen_elbow.yaml may be changed, and estimates in config/real.yaml.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "frozen_elbow_real"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
