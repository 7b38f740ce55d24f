"""Release the heavy ball in a bowl.

ros2 launch voxel_sphere bowl.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("voxel_sphere", "bowl")
