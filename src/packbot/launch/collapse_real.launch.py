"""Let the arm fall without torque, held by the estimated friction of its drives.

ros2 launch packbot collapse_real.launch.py sim:=mujoco
ros2 launch packbot collapse_real.launch.py sim:=gz headless:=true
ros2 topic echo /packbot/contacts
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "collapse_real")
