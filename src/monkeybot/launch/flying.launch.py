"""Let the MonkeyBot walk along the wall with a short free flight between the hands.

ros2 launch monkeybot flying.launch.py sim:=dart

The 10 ms of flight are `flight` in scenarios/flying.yaml; state and torque there make the gait of
config/gaits.yaml repeat and must stay together, so the flight may be longer only with another
orbit.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="flying")
