"""Let two elbows of the Packbot fail, and reach a target with turret and shoulder.

ros2 launch packbot frozen_and_loose.launch.py sim:=mujoco
ros2 launch packbot frozen_and_loose.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "frozen_and_loose")
