"""Simulate a robot, with its controller, and record and cross-check on request.

ros2 launch roboaccord_ros simulate.launch.py robot:=snake scenario:=serpenoid sim:=dart
"""

from datetime import datetime

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import (
    EqualsSubstitution,
    LaunchConfiguration,
    NotEqualsSubstitution,
    NotSubstitution,
    PathJoinSubstitution,
    PythonExpression,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

PACKAGE = "roboaccord_ros"
ARGUMENTS = {
    "robot": (None, "name of the robot"),
    "scenario": (None, "name of a scenario of the robot, or the path of a YAML file"),
    "sim": ("reference", "reference, dart, mujoco (all in lockstep) or gz (Gazebo Sim)"),
    "controller": ("", "package.module:Class; empty: the scenario's; none: your own node"),
    "world": ("", "world of worlds/, for Gazebo; empty: the scenario's"),
    "headless": ("false", "Gazebo without a window"),
    "rviz": ("false", "show the robot in RViz"),
    "lockstep": ("true", "wait for the command that answers each state; false: run free"),
    "record": ("false", "record a bag into ./runs"),
    "crosscheck": ("false", "compare each step with the reference, live"),
    "duration": ("0", "length of the run [s]; 0: the scenario's"),
    "log_level": ("warning", "debug, info, warning or error"),
}


def generate_launch_description() -> LaunchDescription:
    """Start the nodes; the launch ends when the simulator does."""
    given = {name: LaunchConfiguration(name) for name in ARGUMENTS}
    gazebo = EqualsSubstitution(given["sim"], "gz")
    recorder = ["(['recorder'] if '", given["record"], "' == 'true' else [''])"]
    controller = ["(['controller'] if '", given["controller"], "' != 'none' else [''])"]
    simulator = ["(['gz_adapter'] if '", given["sim"], "' == 'gz' else ['simulator'])"]
    peers = PythonExpression([*controller, " + ", *recorder])
    lockstep = ParameterValue(given["lockstep"], value_type=bool)
    gazebo_launch = PathJoinSubstitution([FindPackageShare(PACKAGE), "launch", "gazebo.launch.py"])
    robot = {"robot": given["robot"], "log": given["log_level"]}
    run = {
        **robot,
        "scenario": given["scenario"],
        "duration": ParameterValue(given["duration"], value_type=float),
    }
    bag = ["runs/", given["robot"], f"_{datetime.now():%Y%m%d_%H%M%S}"]
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=description)
                for name, (default, description) in ARGUMENTS.items()
            ),
            IncludeLaunchDescription(
                gazebo_launch,
                launch_arguments={"peers": peers, **given}.items(),
                condition=IfCondition(gazebo),
            ),
            Node(
                package=PACKAGE,
                executable="recorder",
                parameters=[{"bag": ParameterValue(bag, value_type=str), **robot}],
                condition=IfCondition(given["record"]),
            ),
            Node(
                package=PACKAGE,
                executable="crosscheck",
                parameters=[robot],
                condition=IfCondition(given["crosscheck"]),
            ),
            Node(
                package=PACKAGE,
                executable="controller",
                parameters=[
                    {
                        **run,
                        "controller": given["controller"],
                        "lockstep": lockstep,
                        "peers": ParameterValue(PythonExpression([*simulator, " + ", *recorder])),
                    }
                ],
                condition=IfCondition(NotEqualsSubstitution(given["controller"], "none")),
                on_exit=Shutdown(),
            ),
            Node(
                package=PACKAGE,
                executable="simulator",
                parameters=[
                    {
                        **run,
                        "engine": given["sim"],
                        "lockstep": lockstep,
                        "peers": ParameterValue(peers),
                    }
                ],
                condition=IfCondition(NotSubstitution(gazebo)),
                on_exit=Shutdown(),
            ),
            Node(package="rviz2", executable="rviz2", condition=IfCondition(given["rviz"])),
        ]
    )
