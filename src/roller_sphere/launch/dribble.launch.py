"""Let a carrier drive over the ground, and its rollers dribble a ball ahead of it.

ros2 launch roller_sphere dribble.launch.py sim:=dart

Speed, turns, friction and the rollers' azimuths may be changed in scenarios/dribble.yaml; gains are
defaults of controllers/dribble.py. The names of robot and scenario below must stay. With other
azimuths the ball is lost at times, which the figure `held` shows.
"""

from roboaccord_ros.launch_files import LaunchDescription, include


def generate_launch_description() -> LaunchDescription:
    """Include simulate.launch.py of roboaccord_ros; its other arguments can be set here."""
    return include("simulate", robot="roller_sphere", scenario="dribble")
