"""Let the MonkeyBot swing down on hand A, and on by hand B.

ros2 launch monkeybot swing.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "swing")
