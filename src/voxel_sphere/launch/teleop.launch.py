"""Drive the heavy ball over waves by /voxel_sphere/cmd_vel.

ros2 launch voxel_sphere teleop.launch.py sim:=dart
accord teleop voxel_sphere --ros
It stops when no command has come for 0.5 s.

Steps of 1 ms in scenarios/teleop.yaml are fixed by Gazebo, where a wrench lasts for one of them.
Speed without a command, `vx`, may be changed there.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="voxel_sphere", scenario="teleop")
