"""Let the snake crawl by lateral undulation.

ros2 launch snake serpenoid.launch.py sim:=dart
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("snake", "serpenoid")
