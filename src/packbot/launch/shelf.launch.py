"""Let the Packbot's hand reach between two boards, past a bracket, in sight of its camera.

ros2 launch packbot shelf.launch.py sim:=mujoco
ros2 launch packbot shelf.launch.py sim:=gz headless:=true

Boards, walls and the bracket are the `terrain` of scenarios/shelf.yaml, in m: boxes may be added
there. Hulls come from meshes/. A path must be left, which test_packbot_planning expects.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="shelf")
