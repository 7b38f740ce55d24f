"""Drive the ball between its rollers along a figure of eight.

ros2 launch roller_sphere figure_eight.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("roller_sphere", "figure_eight")
