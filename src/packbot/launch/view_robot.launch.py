"""Show the Packbot in RViz, with a slider for each joint.

ros2 launch packbot view_robot.launch.py
"""

from roboaccord_ros.view_robot import view_of

generate_launch_description = view_of("packbot")
