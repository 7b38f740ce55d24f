"""Let the MonkeyBot let go of the wall, and fly.

ros2 launch monkeybot flight.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "flight")
