r"""Turn single joints of the Packbot by /packbot/joint_velocity_command [rad/s].

ros2 launch packbot teleop.launch.py sim:=mujoco
accord teleop packbot --ros
ros2 topic pub -r 10 /packbot/joint_velocity_command sensor_msgs/msg/JointState \
    "{name: [shoulder, wrist], velocity: [-0.2, 0.5]}"
A joint stops when no command has come for 0.5 s.

Acceleration and clearance may be changed in scenarios/teleop.yaml; this file stays (test_teleop).
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="teleop")
