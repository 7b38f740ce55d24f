"""Let elbow 2 of the Packbot go loose as the camera watches a target, and see that target again.

ros2 launch packbot watch_target.launch.py sim:=dart
ros2 launch packbot watch_target.launch.py sim:=gz headless:=true

Target, watching distance (`watch`) and the instant of failure may be changed in
scenarios/watch_target.yaml; the names of robot and scenario below must stay. Which joints bring the
view back is planned in planning/recovery.py.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="watch_target")
