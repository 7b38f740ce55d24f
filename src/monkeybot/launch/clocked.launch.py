"""Let the MonkeyBot walk along the wall by the clock, stable without feedback.

ros2 launch monkeybot clocked.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "clocked")
