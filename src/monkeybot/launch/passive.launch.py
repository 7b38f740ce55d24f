"""Let the MonkeyBot walk along the wall without motor and without impacts.

ros2 launch monkeybot passive.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "passive")
