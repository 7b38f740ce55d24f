"""Let the MonkeyBot travel along the wall, hand over hand, by the report's gait.

ros2 launch monkeybot brachiate.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "brachiate")
