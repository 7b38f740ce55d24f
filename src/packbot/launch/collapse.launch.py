"""Let the Packbot's arm fall onto its own hulls, all joints without torque.

ros2 launch packbot collapse.launch.py sim:=dart
ros2 launch packbot collapse.launch.py sim:=gz headless:=true
ros2 topic echo /packbot/contacts
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "collapse")
