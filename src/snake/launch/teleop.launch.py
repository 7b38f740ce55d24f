"""Drive the snake by /snake/cmd_vel: speed along its heading [m/s] and turn rate [rad/s].

ros2 launch snake teleop.launch.py sim:=dart
accord teleop snake --ros
It stops when no command has come for 0.5 s.

Nothing to tune here: friction may be changed in scenarios/teleop.yaml, limits of turning and
frequency in snake/controllers/steering.py. The file's name stays: test/test_teleop.py asks for it.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="snake", scenario="teleop")
