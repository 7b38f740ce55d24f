"""Let the MonkeyBot walk along the wall in two unequal steps.

ros2 launch monkeybot two_step.launch.py sim:=dart

Both periods and the start are in scenarios/two_step.yaml, as config/gaits.yaml has the orbit; they
must stay together. The duration may be changed.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="two_step")
