r"""Turn single joints of the Packbot by /packbot/joint_velocity_command [rad/s].

ros2 launch packbot teleop.launch.py sim:=mujoco
accord teleop packbot --ros
ros2 topic pub -r 10 /packbot/joint_velocity_command sensor_msgs/msg/JointState \
    "{name: [shoulder, wrist], velocity: [-0.2, 0.5]}"
A joint stops when no command has come for 0.5 s.
"""

from launch import LaunchDescription
from roboaccord_ros.bringup import simulate_scenario


def generate_launch_description() -> LaunchDescription:
    """Include the bring-up that all robots share; its arguments are this file's."""
    return simulate_scenario("packbot", "teleop")
