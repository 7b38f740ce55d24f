"""Let the MonkeyBot walk by the clock under three short pulses of its motor a step.

ros2 launch monkeybot pulses.launch.py sim:=dart

Start, period and pulses in scenarios/pulses.yaml must stay the orbit `pulses` of config/gaits.yaml,
which test_scenarios compares. `motor` has start, stop and torque of each pulse after a change.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="pulses")
