"""Drive the ball between its rollers along a figure of eight.

ros2 launch roller_sphere figure_eight.launch.py sim:=dart

Radius, speed and `compensation` may be changed in scenarios/figure_eight.yaml: set the last one to
false to see the path that neglects slip. The two names below stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="roller_sphere", scenario="figure_eight")
