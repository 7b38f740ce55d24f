"""Let the snake come to another ground, notice it, and change its gait.

ros2 launch roboaccord_studies change_of_ground.launch.py sim:=dart

Where the ground changes and the gait before it are in scenarios/snake/change_of_ground.yaml;
thresholds are defaults of snake/adaptive.py: both may be changed there. The names of robot and
scenario below stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="snake", scenario="change_of_ground")
