"""Let the MonkeyBot walk along the wall with a short free flight between the hands.

ros2 launch monkeybot flying.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "flying")
