"""Release the heavy ball in a bowl.

ros2 launch voxel_sphere bowl.launch.py sim:=dart

Radius of the bowl, place of release and friction may be changed in scenarios/bowl.yaml. Its
tolerances allow for facets, with the reason beside each, and must not rise: with a finer grid `n`
lower them.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="voxel_sphere", scenario="bowl")
