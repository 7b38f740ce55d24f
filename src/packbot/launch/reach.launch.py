"""Let the Packbot's finger tips reach a point in front, on a planned way.

ros2 launch packbot reach.launch.py sim:=mujoco
ros2 launch packbot reach.launch.py sim:=gz headless:=true
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "reach")
