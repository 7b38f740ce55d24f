"""Move the Packbot's arm for a minute so that a recording of it identifies the arm.

ros2 launch roboaccord_studies identify.launch.py sim:=mujoco
ros2 launch roboaccord_studies identify.launch.py sim:=gz headless:=true
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "identify")
