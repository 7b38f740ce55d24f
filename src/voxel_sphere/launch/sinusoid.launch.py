"""Roll the kinematic ball across waves.

ros2 launch voxel_sphere sinusoid.launch.py sim:=reference

Waves of 0.3 r and 5 r are defaults of `sinusoid` in terrain/surfaces.py; others may be given under
`terrain.parameters` in scenarios/sinusoid.yaml, as amplitude and wavelength. The names below stay.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include the launch file of all robots; its other arguments are this file's."""
    return include("simulate", robot="voxel_sphere", scenario="sinusoid")
