"""Let the Packbot's finger tips reach a point in front, along a planned path.

ros2 launch packbot reach.launch.py sim:=mujoco
ros2 launch packbot reach.launch.py sim:=gz headless:=true

The target [m, in the world] and the part of the speed limits may be changed, keys of `controller`
in scenarios/reach.yaml; a point must stay within what the links reach, or is refused in one line.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="reach")
