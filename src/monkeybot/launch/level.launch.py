"""Let the MonkeyBot walk along the wall, its hands changed where the free one sinks to the line.

ros2 launch monkeybot level.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "level")
