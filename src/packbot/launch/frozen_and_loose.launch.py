"""Let two elbows of the Packbot fail, and reach a target with turret and shoulder.

ros2 launch packbot frozen_and_loose.launch.py sim:=mujoco
ros2 launch packbot frozen_and_loose.launch.py sim:=gz headless:=true
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "frozen_and_loose")
