"""Launch files of all robots, which a robot's own launch files include with some arguments set.

This module imports only what rosdep installs, and nothing of the planner, which the included file
imports. `include` stays, for launch files of five robots use it.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription as LaunchDescription
from launch.actions import IncludeLaunchDescription


def include(name: str, **arguments: str) -> LaunchDescription:
    """Include NAME.launch.py of this package with some arguments set; the others stay open."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / f"{name}.launch.py")
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=arguments.items())])
