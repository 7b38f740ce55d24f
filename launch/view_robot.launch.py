"""Show a robot in RViz, with a slider for each of its joints.

ros2 launch roboaccord_ros view_robot.launch.py robot:=snake
ros2 launch roboaccord_ros view_robot.launch.py robot:=arm.urdf.xacro gui:=false

Arguments and nodes may be changed here, with docs/ros.md. No simulator and no planner runs; only a
robot's file is read by the workspace's Python. The layout is config/rviz/view_robot.rviz, where
the root of the robot's links is the fixed frame, whatever it is called.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from roboaccord_ros.launch import RootLink, argument, require, robot_description

BOOL = ("true", "false")


def generate_launch_description() -> LaunchDescription:
    """Start robot_state_publisher, a source of joint states, and RViz."""
    share, urdf = FindPackageShare("roboaccord_ros"), robot_description()
    layout = PathJoinSubstitution([share, "config", "rviz", "view_robot.rviz"])
    sliders, fixed = "joint_state_publisher_gui", "joint_state_publisher"
    gui, rviz = LaunchConfiguration("gui"), LaunchConfiguration("rviz")
    needed = {"robot_state_publisher": "", sliders: "gui", "rviz2": "rviz"}  # always, or if true
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot", description="name of a robot, or a URDF or xacro file"),
            argument("gui", "true", f"{sliders}, with a slider a joint; false: {fixed}", BOOL),
            argument("trust", "false", "let a stranger's xacro file do all that you can", BOOL),
            argument("rviz", "true", "show the robot in RViz", BOOL),
            OpaqueFunction(function=require, kwargs=needed),
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": ParameterValue(urdf, value_type=str)}],
                on_exit=Shutdown(),
            ),
            Node(package=sliders, executable=sliders, condition=IfCondition(gui)),
            Node(package=fixed, executable=fixed, condition=UnlessCondition(gui)),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["-d", layout, "-f", RootLink(urdf)],
                output="log",
                condition=IfCondition(rviz),
                on_exit=Shutdown(),
            ),
        ]
    )
