"""Let the MonkeyBot walk by the report's gait, held by feedback on the time of the change.

ros2 launch monkeybot report_lqr.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "report_lqr")
