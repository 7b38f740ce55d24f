"""What launch files share: arguments, the planner, processes and their ends, the robot's URDF.

The names are those that launch files of robots and of users import; they stay. Imported here:
launch, launch_ros, ament_index_python and the standard library alone, as test_launch checks: `ros2
launch` reads launch files in the Python of ROS, which need not have the core's libraries. The
planner and the nodes run in the Python of the workspace.
"""

from roboaccord_ros.launch.description import RootLink as RootLink
from roboaccord_ros.launch.description import robot_description as robot_description
from roboaccord_ros.launch.planner import argument as argument
from roboaccord_ros.launch.planner import parameters as parameters
from roboaccord_ros.launch.planner import plan as plan
from roboaccord_ros.launch.processes import LaunchedRun as LaunchedRun
from roboaccord_ros.launch.processes import in_namespace as in_namespace
