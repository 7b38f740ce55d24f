"""Drive the snake by /snake/cmd_vel: speed along its heading [m/s] and turn rate [rad/s].

ros2 launch snake teleop.launch.py sim:=dart
accord teleop snake --ros
It stops when nobody has told it anything for 0.5 s.
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("snake", "teleop")
