"""Let the Packbot's finger tips reach a point in front, along a planned path.

ros2 launch packbot reach.launch.py sim:=mujoco
ros2 launch packbot reach.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "reach")
