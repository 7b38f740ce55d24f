"""Let two elbows of the Packbot fail, and reach a target with turret and shoulder.

ros2 launch packbot frozen_and_loose.launch.py sim:=mujoco
ros2 launch packbot frozen_and_loose.launch.py sim:=gz headless:=true

Which joints fail, and when, may be changed in the list `faults` of scenarios/frozen_and_loose.yaml,
or for one run by `fault:="elbow1=frozen:-1.2"`; the target must stay where both others reach it.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="frozen_and_loose")
