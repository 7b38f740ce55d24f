"""Show the snake in RViz, with a slider for each joint.

ros2 launch snake view_robot.launch.py

The robot may be changed in urdf/snake.urdf.xacro and config/parameters.yaml. The names of package
and file below must stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("view_robot", robot="snake")
