"""Roll the kinematic ball up an incline, askew.

ros2 launch voxel_sphere incline.launch.py sim:=reference

Angle and direction of the plane are `terrain.parameters` in scenarios/incline.yaml, wx and wy the
ball's spin in the world: all may be changed, as long as the ball stays on the grid.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "voxel_sphere", "scenario": "incline"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
