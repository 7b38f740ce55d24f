"""Let the MonkeyBot swing out of rest into its stable gait, which Gazebo can do too.

ros2 launch monkeybot clocked_from_rest.launch.py sim:=gz

The four torques of `before` in scenarios/clocked_from_rest.yaml were found by least squares and
lead onto the orbit of `clocked`: they must stay together. Duration and engine may be changed.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="clocked_from_rest")
