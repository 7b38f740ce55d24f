"""Let the snake move by the post's eight configurations.

ros2 launch snake lateral_undulation.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("snake", "lateral_undulation")
