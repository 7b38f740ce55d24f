"""Let the snake crawl to four waypoints, one after the other.

ros2 launch snake waypoints.launch.py sim:=mujoco
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("snake", "waypoints")
