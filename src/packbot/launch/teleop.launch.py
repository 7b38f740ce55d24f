r"""Turn single joints of the Packbot by /packbot/joint_velocity_command [rad/s].

ros2 launch packbot teleop.launch.py sim:=mujoco
accord teleop packbot --ros
ros2 topic pub -r 10 /packbot/joint_velocity_command sensor_msgs/msg/JointState \
    "{name: [shoulder, wrist], velocity: [-0.2, 0.5]}"
A joint stops when nobody has told it anything for 0.5 s.
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("packbot", "teleop")
