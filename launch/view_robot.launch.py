"""Show a robot in RViz, with a slider for each of its joints.

ros2 launch roboaccord_ros view_robot.launch.py robot:=snake
ros2 launch roboaccord_ros view_robot.launch.py robot:=arm.urdf.xacro gui:=false
"""

from launch import LaunchDescription
from roboaccord_ros.view_robot import view_robot


def generate_launch_description() -> LaunchDescription:
    """Start robot_state_publisher, joint_state_publisher_gui and RViz."""
    return view_robot()
