"""Let the tilt of the Packbot's camera go loose, and bring a target back into its sight.

ros2 launch packbot watch_target.launch.py sim:=dart
ros2 launch packbot watch_target.launch.py sim:=gz headless:=true
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "watch_target")
