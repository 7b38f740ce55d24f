"""Let the MonkeyBot swing down on hand A, and on by hand B.

ros2 launch monkeybot swing.launch.py sim:=dart

The start (horizontal) and the change of hands at 0.5 s are in scenarios/swing.yaml. The start may
be changed; the grip at 0.5 s must stay, for test_event_level and test_monkeybot_energy use it.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="swing")
