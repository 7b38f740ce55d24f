"""Let the Packbot's hand push a bottle over.

ros2 launch packbot topple.launch.py sim:=mujoco
ros2 launch packbot topple.launch.py sim:=gz headless:=true

The bottle is the key `bodies` of scenarios/topple.yaml, in m and kg; its mesh is meshes/bottle.obj.
Pushed lower, or on a smoother table (`mu` of `friction`), it slides.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="topple")
