"""Let elbow 1 of the Packbot freeze in a motion to a target, which the other joints reach.

ros2 launch packbot frozen_elbow.launch.py sim:=mujoco
ros2 launch packbot frozen_elbow.launch.py sim:=gz headless:=true

Target and instant of failure (1.5 s) may be changed in scenarios/frozen_elbow.yaml; the names of
robot and scenario below must stay. scenarios/frozen_elbow_real.yaml extends that file and changes
with it.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="frozen_elbow")
