"""Launch files of all robots, which a robot's own launch files include with some arguments.

This imports only what rosdep installs, and nothing of the planner; the included file does.
`include` stays, for launch files of five robots use it.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription as LaunchDescription
from launch.actions import IncludeLaunchDescription


def include(name: str, **arguments: str) -> LaunchDescription:
    """Include NAME.launch.py of this package with some arguments; the others stay arguments."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / f"{name}.launch.py")
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=arguments.items())])
