"""Drive the ball between the rollers by /roller_sphere/cmd_vel: linear x and y [m/s].

ros2 launch roller_sphere teleop.launch.py sim:=dart
accord teleop roller_sphere --ros
It stops when nobody has told it anything for 0.5 s.
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("roller_sphere", "teleop")
