"""The launch files of all robots, for those of a scenario to include with some arguments given.

`include` stays, for launch files of five robots have it. This imports only what rosdep gives, and
nothing of the planner: what is included does.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription as LaunchDescription
from launch.actions import IncludeLaunchDescription


def include(name: str, **given: str) -> LaunchDescription:
    """Include NAME.launch.py of this package; its arguments that are not given stay arguments."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / f"{name}.launch.py")
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given.items())])
