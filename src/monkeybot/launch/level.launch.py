"""Let the MonkeyBot walk along the wall, its hands changed where the free one sinks to the line.

ros2 launch monkeybot level.launch.py sim:=dart

`power` and the start in scenarios/level.yaml must stay the orbit `level` of config/gaits.yaml; for
one run the start may be another, and is drawn to it. When hands change is decided by
LevelController in monkeybot/controllers/by_state.py.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="level")
