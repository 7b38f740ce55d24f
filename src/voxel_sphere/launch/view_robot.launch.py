"""Show the sphere in RViz.

ros2 launch voxel_sphere view_robot.launch.py

The ball's looks may be changed in urdf/voxel_sphere.urdf.xacro; the terrain is shown by scenarios
alone. The names of package and file below must stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("view_robot", robot="voxel_sphere")
