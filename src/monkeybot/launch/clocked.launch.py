"""Let the MonkeyBot walk along the wall by the clock, stable without feedback.

ros2 launch monkeybot clocked.launch.py sim:=dart

State, period and torque in scenarios/clocked.yaml must stay the orbit `clocked` of
config/gaits.yaml, which test_scenarios compares. For one run the walk may be disturbed by
`initial.qd.elbow`, and comes back.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="clocked")
