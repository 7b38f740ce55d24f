"""Let the snake come to another ground, notice it, and change its gait.

ros2 launch snake change_of_ground.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("snake", "change_of_ground")
