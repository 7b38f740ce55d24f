"""What launch files share: arguments, the planner, processes and their ends, the robot's URDF.

Add a name here if launch files are to import it; those that are here stay, for users' launch files
have them. Imports are limited to launch, launch_ros, ament_index_python and the standard library
(test_launch): `ros2 launch` reads launch files in the Python of ROS, which need not have the core's
libraries. Planner and nodes run in the Python of the workspace.
"""

from roboaccord_ros.launch.description import RootLink as RootLink
from roboaccord_ros.launch.description import require as require
from roboaccord_ros.launch.description import robot_description as robot_description
from roboaccord_ros.launch.planner import argument as argument
from roboaccord_ros.launch.planner import parameters as parameters
from roboaccord_ros.launch.planner import plan as plan
from roboaccord_ros.launch.processes import MODULE as MODULE
from roboaccord_ros.launch.processes import LaunchedRun as LaunchedRun
from roboaccord_ros.launch.processes import in_namespace as in_namespace
