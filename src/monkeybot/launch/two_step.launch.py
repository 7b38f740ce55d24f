"""Let the MonkeyBot walk along the wall in two unequal steps.

ros2 launch monkeybot two_step.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "two_step")
