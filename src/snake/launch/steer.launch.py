r"""Steer the snake: a quarter turn by the heading loop, or wherever /snake/cmd_vel says.

ros2 launch snake steer.launch.py sim:=dart
ros2 topic pub -r 10 /snake/cmd_vel geometry_msgs/msg/Twist \
    "{linear: {x: 0.5}, angular: {z: 0.2}}"
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("snake", "steer")
