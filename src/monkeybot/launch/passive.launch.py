"""Let the MonkeyBot walk along the wall without motor and without impacts.

ros2 launch monkeybot passive.launch.py sim:=dart

The control period in scenarios/passive.yaml divides the step into 893 ticks and must stay
unrounded: by it the hands change where they are at rest. The gait is unstable, and falls apart in
the end. The duration may be changed.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="passive")
