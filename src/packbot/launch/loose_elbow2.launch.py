"""Let elbow 2 of the Packbot go loose on the way to a target, reached with it hanging.

ros2 launch packbot loose_elbow2.launch.py sim:=dart
ros2 launch packbot loose_elbow2.launch.py sim:=gz headless:=true
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "loose_elbow2")
