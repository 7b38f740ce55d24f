"""Drive a robot through ros2_control in Gazebo, and record it for the cross-check.

ros2 launch packbot reach_ros2_control.launch.py
ros2 launch packbot reach_ros2_control.launch.py headless:=true record:=runs/twin
accord crosscheck runs/twin --robot src/packbot/urdf/packbot.urdf.xacro

Gazebo runs the controller manager (gz_ros2_control), with the model ROBOT/ros2_control.urdf.xacro
of models/ and the controllers of config/ros2_control.yaml in the robot's package. In Gazebo the
joints are held until a controller is active, and without commands an effort_controller lets the
robot fall. So each step waits for the one before:

1. the joint states are published, the other controllers are loaded and configured;
2. the controller node has answered a state, by the efforts that hold the start;
3. effort_controller is active, and hands these on;
4. the recorder and the motion start, and the launch ends with that.

What ros2_control does with the commands, and when: docs/ros.md. Controllers and gains may be
changed in the YAML file; the name effort_controller stays, of whose topic the bag is read.
"""

import time
from collections.abc import Callable, Sequence

from launch import Action, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    Shutdown,
)
from launch.conditions import UnlessCondition
from launch.events.process import ProcessExited
from launch.substitutions import Command, PathJoinSubstitution, PythonExpression
from launch.substitutions import LaunchConfiguration as Config
from launch_ros.actions import Node, SetParameter
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare
from roboaccord_ros.launch import DONE, MODULE, WorkspacePython, argument, parameters, require

BOOL = ("true", "false")
LEVELS = ("debug", "info", "warning", "error")
STATES, COMMANDS = "/joint_states", "/effort_controller/commands"  # recorded
NUMBERS, TRIGGER = "std_msgs/msg/Float64MultiArray", "std_srvs/srv/Trigger"
NEEDED = "gz_ros2_control forward_command_controller joint_state_broadcaster robot_state_publisher "
NEEDED += "joint_trajectory_controller ros_gz_bridge ros_gz_sim ros2bag ros2controlcli xacro "
NEEDED += "controller_manager rosbag2_storage_mcap"
BAG = f"runs/ros2_control_{time.strftime('%Y%m%d_%H%M%S')}"
WAIT = "60"  # s of wall time, for Gazebo to load the robot and start the controller manager


def generate_launch_description() -> LaunchDescription:
    """Start Gazebo with the robot, its controllers one after the other, and the recorder."""
    share = PathJoinSubstitution([FindPackageShare("roboaccord_ros")])
    yaml = PathJoinSubstitution([FindPackageShare(Config("robot")), "config", "ros2_control.yaml"])
    model = PathJoinSubstitution([share, "models", Config("robot"), "ros2_control.urdf.xacro"])
    urdf = ParameterValue(Command(["xacro '", model, "'"]), value_type=str)
    gz_sim = PathJoinSubstitution([FindPackageShare("ros_gz_sim"), "launch", "gz_sim.launch.py"])
    server = PythonExpression(["'-s ' if '", Config("headless"), "' == 'true' else ''"])
    gz_args = ["-r ", server, share, "/worlds/flat.sdf"]
    # The steps, from the last to the first; what is recorded begins when the commands act.
    recorder = ExecuteProcess(
        cmd=["ros2", "bag", "record", "-s", "mcap", "-o", Config("record"),
             "--topics", STATES, COMMANDS],
        condition=UnlessCondition(PythonExpression(["'", Config("record"), "' == 'false'"])),
    )  # fmt: skip
    start = ros2("service", "call", ["/", Config("robot"), "/start"], TRIGGER)
    # A second spawner would configure the controller anew, which then misses the first commands.
    switch = ("control", "switch_controllers", "--strict", "--activate", "effort_controller")
    active = ros2(*switch, then=[recorder, start])
    answered = ros2("topic", "echo", "--once", COMMANDS, NUMBERS, then=[active])
    configured = ("effort_controller", "joint_trajectory_controller", "--inactive")
    loaded = spawner(yaml, *configured, then=[answered])
    return LaunchDescription([
        DeclareLaunchArgument("robot", description="its name"),
        DeclareLaunchArgument("scenario", description="whose controller drives it"),
        argument("duration", "0", "of the motion [s]; 0: the scenario's; .inf: until Ctrl-C"),
        argument("record", BAG, "folder of the bag, which must not exist; false: none"),
        argument("headless", "false", "without Gazebo's window", BOOL),
        argument("log_level", "warning", "of the controller node", LEVELS),
        OpaqueFunction(function=require, kwargs=dict.fromkeys(NEEDED.split(), "")),
        SetParameter("use_sim_time", True),
        IncludeLaunchDescription(
            gz_sim, launch_arguments=[("gz_args", gz_args), ("on_exit_shutdown", "true")],
        ),
        Node(
            package="ros_gz_bridge", executable="parameter_bridge",
            arguments=["/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock"],
        ),
        Node(
            package="robot_state_publisher", executable="robot_state_publisher",
            parameters=[{"robot_description": urdf}],
        ),
        Node(
            package="ros_gz_sim", executable="create",
            arguments=["-topic", "robot_description", "-name", Config("robot")],
        ),
        Node(
            executable=WorkspacePython(), exec_name="controller", output="screen",
            arguments=[*MODULE, "roboaccord_ros.nodes.ros2_control"],
            parameters=[parameters("robot", "scenario", "duration", log="log_level")],
            on_exit=after([Shutdown(reason="the run is over")]),
        ),
        spawner(yaml, "joint_state_broadcaster", then=[loaded]),
    ])  # fmt: skip


def spawner(yaml: PathJoinSubstitution, *words: str, then: Sequence[Action]) -> Node:
    """Load, configure and activate controllers of the YAML file, unless `words` state less."""
    arguments = [*words, "--param-file", yaml, "--controller-manager-timeout", WAIT]
    run = {"package": "controller_manager", "executable": "spawner", "arguments": arguments}
    return Node(**run, on_exit=after(then))


def ros2(*words: object, then: Sequence[Action] = ()) -> ExecuteProcess:
    """Run a command of `ros2` to its end."""
    return ExecuteProcess(cmd=["ros2", *words], output="log", on_exit=after(then))


def after(then: Sequence[Action]) -> Callable[[ProcessExited, LaunchContext], list[Action]]:
    """Return what is done at the end of a process: the next step, or the launch fails."""

    def go_on(event: ProcessExited, context: LaunchContext) -> list[Action]:
        if context.is_shutdown:
            return []
        if event.returncode not in DONE:
            raise RuntimeError(f"{event.process_name} ended with status {event.returncode}")
        return [*then]

    return go_on
