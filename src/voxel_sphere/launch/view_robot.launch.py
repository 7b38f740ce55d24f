"""Show the sphere in RViz.

ros2 launch voxel_sphere view_robot.launch.py
"""

from launch import LaunchDescription
from roboaccord_ros.view_robot import view_robot


def generate_launch_description() -> LaunchDescription:
    """Start robot_state_publisher, joint_state_publisher_gui and RViz."""
    return view_robot("voxel_sphere")
