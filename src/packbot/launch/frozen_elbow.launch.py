"""Let elbow 1 of the Packbot freeze on the way to a target, which the joints left reach.

ros2 launch packbot frozen_elbow.launch.py sim:=mujoco
ros2 launch packbot frozen_elbow.launch.py sim:=gz headless:=true
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "frozen_elbow")
