"""Roll the kinematic ball between four walls.

ros2 launch voxel_sphere arena.launch.py sim:=reference

Turn of the arena, start and spin may be changed in scenarios/arena.yaml. Its law of friction,
`rolling`, must stay with `sim:=reference` (the analytical model): for the heavy ball law and
controller change together, as in scenarios/teleop.yaml.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "voxel_sphere", "scenario": "arena"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
