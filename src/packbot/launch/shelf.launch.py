"""Let the Packbot's hand reach between two boards, past a bracket, in sight of its camera.

ros2 launch packbot shelf.launch.py sim:=mujoco
ros2 launch packbot shelf.launch.py sim:=gz headless:=true
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "shelf")
