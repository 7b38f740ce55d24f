"""Reach between two boards, with the estimated inertia and friction of the drives.

ros2 launch packbot shelf_real.launch.py sim:=mujoco

`parameters: real` in scenarios/shelf_real.yaml stays. All but the drives may be changed in
scenarios/shelf.yaml, the drives in config/real.yaml.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="shelf_real")
