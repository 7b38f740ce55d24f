"""Let the arm fall without torque, held by the estimated friction of its drives.

ros2 launch packbot collapse_real.launch.py sim:=mujoco
ros2 topic echo /packbot/contacts

The estimates may be changed in config/real.yaml; `real:low` and `real:high` are the ends of their
ranges. `parameters: real` in scenarios/collapse_real.yaml chooses them and stays.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="collapse_real")
