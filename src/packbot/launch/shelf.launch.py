"""Let the Packbot's hand reach between two boards, past a bracket, in sight of its camera.

ros2 launch packbot shelf.launch.py sim:=mujoco
ros2 launch packbot shelf.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "shelf")
