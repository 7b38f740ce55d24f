"""Show the MonkeyBot in RViz, with a slider for each joint.

ros2 launch monkeybot view_robot.launch.py

The picture may be changed in urdf/monkeybot.urdf.xacro and config/parameters.yaml; the names of
package and file below must stay.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "view_robot.launch.py")
    given = {"robot": "monkeybot"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
