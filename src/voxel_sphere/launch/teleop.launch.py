"""Drive the heavy ball over waves by /voxel_sphere/cmd_vel.

ros2 launch voxel_sphere teleop.launch.py sim:=dart
accord teleop voxel_sphere --ros
It stops when nobody has told it anything for 0.5 s.
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("voxel_sphere", "teleop")
