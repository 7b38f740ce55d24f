"""Roll the kinematic ball between four walls.

ros2 launch voxel_sphere arena.launch.py sim:=reference

Turn of the arena, start and spin may be changed in scenarios/arena.yaml. Its law of friction,
`rolling`, must stay with `sim:=reference` (the analytical model): for the heavy ball law and
controller change together, as in scenarios/teleop.yaml.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="voxel_sphere", scenario="arena")
