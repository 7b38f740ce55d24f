"""Move the Packbot's arm for a minute so that a recording of it identifies the arm.

ros2 launch roboaccord_studies identify.launch.py sim:=mujoco ros2 launch roboaccord_studies
identify.launch.py sim:=gz headless:=true The names of robot and scenario below stay; the motion may
be changed in scenarios/packbot/identify.yaml.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="packbot", scenario="identify")
