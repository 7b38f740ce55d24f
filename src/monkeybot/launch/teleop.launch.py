"""Drive the elbow of the MonkeyBot by /monkeybot/elbow_effort [N m], and switch its magnets.

ros2 launch monkeybot teleop.launch.py sim:=dart
accord teleop monkeybot --ros
The elbow is released when no command has come for 0.5 s.

What keys do may be changed in config/teleop/keyboard.yaml; this file's name stays, for
test/test_teleop.py asks for it.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="teleop")
