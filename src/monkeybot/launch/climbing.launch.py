"""Let the MonkeyBot climb the wall, 12 mm a step.

ros2 launch monkeybot climbing.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "climbing")
