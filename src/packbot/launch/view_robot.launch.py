"""Show the Packbot in RViz, with a slider for each joint.

ros2 launch packbot view_robot.launch.py

What is drawn may be changed in urdf/packbot.urdf.xacro and config/shapes.yaml, of which meshes/ are
made; the names of package and file below must stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include view_robot.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("view_robot", robot="packbot")
