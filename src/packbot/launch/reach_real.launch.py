"""Reach a point in front, with the estimated inertia and friction of the drives.

ros2 launch packbot reach_real.launch.py sim:=mujoco

scenarios/reach_real.yaml extends reach.yaml by `parameters: real`, which stays. The target may be
changed there, and `set:="parameters=real:low"` takes the low end of the estimates.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="reach_real")
