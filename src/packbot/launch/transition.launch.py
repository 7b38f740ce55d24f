"""Fling link 3 of the Packbot, elbow 2 loose, from where it lies on elbow 1 to where it hangs.

ros2 launch packbot transition.launch.py sim:=mujoco
ros2 launch packbot transition.launch.py sim:=gz headless:=true

`via`, `length` and `speed` in scenarios/transition.yaml may be changed, but must fit each other:
with others there may be no plan within the limits, which one line says. The method is in
planning/transition.py.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="transition")
