"""Let the snake crawl to four waypoints, one after the other.

ros2 launch snake waypoints.launch.py sim:=mujoco

The points, the acceptance radius and the speed may be changed in scenarios/waypoints.yaml; the
names below stay. The law that leads from one to the next is FollowWaypoints in
snake/controllers/guidance.py.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="snake", scenario="waypoints")
