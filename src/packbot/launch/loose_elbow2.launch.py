"""Let elbow 2 of the Packbot go loose in a motion to a target, which is reached with it hanging.

ros2 launch packbot loose_elbow2.launch.py sim:=dart
ros2 launch packbot loose_elbow2.launch.py sim:=gz headless:=true

Fault and target may be changed in scenarios/loose_elbow2.yaml; the names of robot and scenario
below must stay. Where the loose link comes to hang follows from masses and hulls, and is not set
anywhere.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="loose_elbow2")
