"""Let the snake move by the post's eight configurations.

ros2 launch snake lateral_undulation.launch.py sim:=dart

The configurations are fixed by the blog post that the snake is from (snake/source/post.py);
friction, physics step and duration may be changed, in scenarios/lateral_undulation.yaml. `sim`,
`set` and the other arguments are declared in roboaccord_ros/launch/simulate.launch.py, not here.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="snake", scenario="lateral_undulation")
