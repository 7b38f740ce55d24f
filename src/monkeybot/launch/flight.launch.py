"""Let the MonkeyBot let go of the wall, and fly.

ros2 launch monkeybot flight.launch.py sim:=dart

When to let go and to grip is a list, `steps`, in scenarios/flight.yaml, which may be changed, for
this is a demonstration of modes and not a gait. The names of robot and scenario below must stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="flight")
