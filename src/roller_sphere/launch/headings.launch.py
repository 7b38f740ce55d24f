"""Drive the ball between its rollers in twelve headings, each from rest to rest.

ros2 launch roller_sphere headings.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("roller_sphere", "headings")
