"""What launch files share: arguments, the planner, processes and their ends, the robot's URDF.

`ros2 launch` reads launch files in the Python of ROS, which need not have the core's libraries. So
imports here are limited to launch, launch_ros, ament_index_python and the standard library
(test_launch); planner and nodes run in the Python of the workspace. The names below stay, for
users' launch files import them. Tests: test_launch, test_bringup, test_view_robot.
"""

from roboaccord_ros.launch.description import RootLink as RootLink
from roboaccord_ros.launch.description import require as require
from roboaccord_ros.launch.description import robot_description as robot_description
from roboaccord_ros.launch.planner import WorkspacePython as WorkspacePython
from roboaccord_ros.launch.planner import argument as argument
from roboaccord_ros.launch.planner import parameters as parameters
from roboaccord_ros.launch.planner import plan as plan
from roboaccord_ros.launch.processes import DONE as DONE
from roboaccord_ros.launch.processes import MODULE as MODULE
from roboaccord_ros.launch.processes import LaunchedRun as LaunchedRun
from roboaccord_ros.launch.processes import in_namespace as in_namespace
