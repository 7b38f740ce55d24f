"""Show the snake in RViz, with a slider for each joint.

ros2 launch snake view_robot.launch.py
"""

from launch import LaunchDescription
from roboaccord_ros.view_robot import view_robot


def generate_launch_description() -> LaunchDescription:
    """Start robot_state_publisher, joint_state_publisher_gui and RViz."""
    return view_robot("snake")
