"""Let the MonkeyBot travel along the wall, hand over hand, by the report's gait.

ros2 launch monkeybot brachiate.launch.py sim:=dart

The rates 0.902 and 10.935 rad/s and the switch at 0.428 s in scenarios/brachiate.yaml are the
report's (docs/monkeybot.md) and stay; 2 N m follows from its times. Others may be tried by
`set:="controller.power=3"`.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="brachiate")
