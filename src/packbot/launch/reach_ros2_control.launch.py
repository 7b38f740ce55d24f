"""Let the Packbot's finger tips reach a point through ros2_control in Gazebo.

ros2 launch packbot reach_ros2_control.launch.py
ros2 launch packbot reach_ros2_control.launch.py headless:=true record:=runs/twin
accord crosscheck runs/twin --robot src/packbot/urdf/packbot.urdf.xacro

Controllers and gains may be changed in config/ros2_control.yaml, start and target in
scenarios/reach.yaml; after a new start run `make shared`, which makes the model for Gazebo.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include ros2_control.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("ros2_control", robot="packbot", scenario="reach")
