"""Let a carrier drive over the ground, and its rollers dribble a ball ahead of it.

ros2 launch roller_sphere dribble.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("roller_sphere", "dribble")
