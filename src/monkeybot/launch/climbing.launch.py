"""Let the MonkeyBot climb the wall, 12 mm a step.

ros2 launch monkeybot climbing.launch.py sim:=dart

The numbers in scenarios/climbing.yaml must stay together: they are the gait `climbing` of
config/gaits.yaml, and test_scenarios compares them. The rise may be changed once `accord monkeybot
find` has found a gait for it.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="climbing")
