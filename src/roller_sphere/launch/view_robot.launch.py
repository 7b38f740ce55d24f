"""Show the sphere and its rollers in RViz, with a slider for each joint.

ros2 launch roller_sphere view_robot.launch.py

The picture may be changed in urdf/roller_sphere.urdf.xacro; sliders follow from its joints. The
names of package and file below must stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include view_robot.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("view_robot", robot="roller_sphere")
