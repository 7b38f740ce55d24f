"""Let elbow 1 freeze in a motion, with the estimated inertia and friction of the drives.

ros2 launch packbot frozen_elbow_real.launch.py sim:=mujoco
ros2 launch packbot frozen_elbow_real.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "frozen_elbow_real")
