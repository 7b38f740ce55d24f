"""Let elbow 1 of the Packbot freeze in a motion to a target, which the other joints reach.

ros2 launch packbot frozen_elbow.launch.py sim:=mujoco
ros2 launch packbot frozen_elbow.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "frozen_elbow")
