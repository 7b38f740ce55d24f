"""Show the sphere in RViz.

ros2 launch voxel_sphere view_robot.launch.py
"""

from roboaccord_ros.view_robot import view_of

generate_launch_description = view_of("voxel_sphere")
