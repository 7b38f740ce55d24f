"""Roll the kinematic ball across waves.

ros2 launch voxel_sphere sinusoid.launch.py sim:=reference
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("voxel_sphere", "sinusoid")
