"""Roll the kinematic ball up an incline, askew.

ros2 launch voxel_sphere incline.launch.py sim:=reference

Angle and direction of the plane are `terrain.parameters` in scenarios/incline.yaml, wx and wy the
ball's spin in the world: all may be changed, as long as the ball stays on the grid.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="voxel_sphere", scenario="incline")
