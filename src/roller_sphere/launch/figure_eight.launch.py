"""Drive the ball between its rollers along a figure of eight.

ros2 launch roller_sphere figure_eight.launch.py sim:=dart

Radius, speed and `compensation` may be changed in scenarios/figure_eight.yaml: set the last one to
false to see the path that neglects slip. The names of robot and scenario below must stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="roller_sphere", scenario="figure_eight")
