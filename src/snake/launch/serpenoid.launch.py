"""Let the snake crawl by lateral undulation.

ros2 launch snake serpenoid.launch.py sim:=dart

Amplitude, frequency, waves and friction may be changed in scenarios/serpenoid.yaml, or for one run
by `set:="controller.frequency=1.5"`. The two names below stay; for a scenario of your own copy this
file under its name and change them there.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="snake", scenario="serpenoid")
