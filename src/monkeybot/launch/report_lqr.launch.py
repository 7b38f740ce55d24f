"""Let the MonkeyBot walk by the report's gait, held by feedback on the time of the change.

ros2 launch monkeybot report_lqr.launch.py sim:=dart

`nominal`, `switch_t` and `gain` in scenarios/report_lqr.yaml stay as `accord monkeybot gaits` and
`accord monkeybot lqr` computed them; the law is LqrController's, of roboaccord_studies, which must
be installed. For one run `gain` may be [0, 0, 0], the gait without feedback.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="monkeybot", scenario="report_lqr")
