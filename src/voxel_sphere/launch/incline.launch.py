"""Roll the kinematic ball up an incline, askew.

ros2 launch voxel_sphere incline.launch.py sim:=reference
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("voxel_sphere", "incline")
