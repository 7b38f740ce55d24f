"""Drive the elbow of the MonkeyBot by /monkeybot/elbow_effort [N m], and switch its magnets.

ros2 launch monkeybot teleop.launch.py sim:=dart
accord teleop monkeybot --ros
The elbow is let go when nobody has told it anything for 0.5 s.
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "teleop")
