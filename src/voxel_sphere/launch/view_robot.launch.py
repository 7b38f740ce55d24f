"""Show the sphere in RViz.

ros2 launch voxel_sphere view_robot.launch.py

The ball's looks may be changed in urdf/voxel_sphere.urdf.xacro; the terrain is shown by scenarios
alone. The names of package and file below must stay.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "view_robot.launch.py")
    given = {"robot": "voxel_sphere"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
