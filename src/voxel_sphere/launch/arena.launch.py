"""Roll the kinematic ball between four walls.

ros2 launch voxel_sphere arena.launch.py sim:=reference
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("voxel_sphere", "arena")
