"""Fling link 3 of the Packbot, elbow 2 loose, from where it lies on elbow 1 to where it hangs.

ros2 launch packbot transition.launch.py sim:=mujoco
ros2 launch packbot transition.launch.py sim:=gz headless:=true

`via`, `length` and `speed` in scenarios/transition.yaml may be changed, but must fit each other:
with others there may be no plan within the limits, which one line says. The method is in
planning/transition.py.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "transition"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
