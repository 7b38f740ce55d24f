"""Drive the ball between its rollers in twelve headings, each from rest to rest.

ros2 launch roller_sphere headings.launch.py sim:=dart

Number of headings, their time and speed may be changed, keys of the controller in
scenarios/headings.yaml; the angles of the rollers in config/parameters.yaml are fixed by the paper.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="roller_sphere", scenario="headings")
