r"""Steer the snake: a quarter turn by the heading loop, or as commanded on /snake/cmd_vel.

ros2 launch snake steer.launch.py sim:=dart
ros2 topic pub -r 10 /snake/cmd_vel geometry_msgs/msg/Twist \
    "{linear: {x: 0.5}, angular: {z: 0.2}}"

Speed, heading and the time of the turn may be changed in scenarios/steer.yaml, gains and limits in
snake/controllers/steering.py. Below stand only the names of robot and scenario, which stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="snake", scenario="steer")
