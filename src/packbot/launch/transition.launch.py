"""Fling link 3 of the Packbot, elbow 2 loose, from where it lies on elbow 1 to where it hangs.

ros2 launch packbot transition.launch.py sim:=mujoco
ros2 launch packbot transition.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "transition")
