"""Let the snake push itself along pegs.

ros2 launch snake pegs.launch.py sim:=dart

Pegs, their friction and the gait may be changed in scenarios/pegs.yaml, or for one run by
`set:="terrain.spread=0.03"`. `sim`, `set` and the other arguments are declared in
roboaccord_ros/launch/simulate.launch.py, not here.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="snake", scenario="pegs")
