"""Let the MonkeyBot walk by the report's gait, held by feedback on the time of the change.

ros2 launch monkeybot report_lqr.launch.py sim:=dart

`nominal`, `switch_t` and `gain` in scenarios/report_lqr.yaml stay as `accord monkeybot gaits` and
`accord monkeybot lqr` computed them; the law is LqrController's. For one run `gain` may be [0, 0,
0], the gait without feedback.
"""

from ament_index_python import get_package_share_path
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    shared = str(get_package_share_path("roboaccord_ros") / "launch" / "simulate.launch.py")
    given = {"robot": "monkeybot", "scenario": "report_lqr"}.items()
    return LaunchDescription([IncludeLaunchDescription(shared, launch_arguments=given)])
