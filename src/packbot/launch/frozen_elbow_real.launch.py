"""Let elbow 1 freeze in a motion, with the estimated inertia and friction of the drives.

ros2 launch packbot frozen_elbow_real.launch.py sim:=mujoco

scenarios/frozen_elbow_real.yaml must have nothing of its own but `parameters: real`, as a test
checks; frozen_elbow.yaml may be changed, and estimates in config/real.yaml.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="frozen_elbow_real")
