"""Release the heavy ball in a bowl.

ros2 launch voxel_sphere bowl.launch.py sim:=dart

Radius of the bowl, place of release and friction may be changed in scenarios/bowl.yaml. Its
tolerances allow for facets, with the reason beside each, and must not rise: with a finer grid `n`
lower them.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "voxel_sphere", "scenario": "bowl"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
