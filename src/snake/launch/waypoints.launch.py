"""Let the snake crawl to four waypoints, one after the other.

ros2 launch snake waypoints.launch.py sim:=mujoco
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("snake", "waypoints")
