"""Let the Packbot's hand push a box along a table and over its edge.

ros2 launch packbot push.launch.py sim:=mujoco
ros2 launch packbot push.launch.py sim:=gz headless:=true

The box is the key `bodies` of scenarios/push.yaml, in m and kg, the table its `terrain`: both may
be changed there. `reach` moves the hand as if the box were not there.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="packbot", scenario="push")
