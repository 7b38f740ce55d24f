"""Let the Packbot's finger tips reach a point in front, along a planned path.

ros2 launch packbot reach.launch.py sim:=mujoco
ros2 launch packbot reach.launch.py sim:=gz headless:=true

The target [m, in the world] and the part of the speed limits may be changed, keys of `controller`
in scenarios/reach.yaml; a point must stay within what the links reach, or is refused in one line.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "packbot", "scenario": "reach"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
