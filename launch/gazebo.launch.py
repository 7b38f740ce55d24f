"""Run Gazebo Sim with a robot in a world, and bridge it; simulate.launch.py includes this.

ros2 launch roboaccord_ros gazebo.launch.py robot:=snake scenario:=lateral_undulation headless:=true

The world starts paused. The robot is made of its URDF; then gz_adapter waits for the controller,
and lets the world run with the first command.
"""

from os import environ, pathsep

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from roboaccord.description.resources import share
from roboaccord.gazebo.form import expand_for_gazebo
from roboaccord.numerics.rotations import quaternion_rpy
from roboaccord_ros.gazebo.bridge import World
from roboaccord_ros.graph.parameters import setup_of

CLOCK = "/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock"
ARGUMENTS = {
    "robot": (None, "name of the robot"),
    "scenario": (None, "name of a scenario of the robot, or the path of a YAML file"),
    "world": ("", "a world of worlds/, or a path that ends in .sdf; empty: the scenario's"),
    "headless": ("false", "without a window"),
    "duration": ("0", "length of the run [s]; 0: the scenario's"),
    "lockstep": ("true", "step the world when the command has come; false: let it run free"),
    "peers": ("['controller']", "nodes that must be there before the world runs"),
    "log_level": ("warning", "debug, info, warning or error"),
}


def start(context: LaunchContext) -> list:
    """Start the server, the bridges, the robot and then the adapter."""
    look_for_gazebo()
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    run = {key: given[key] for key in ("robot", "scenario")}
    run["duration"] = float(given["duration"])
    setup = setup_of({**run, "set": []})
    world = World.of(setup, given["world"])
    # Not by gz_sim.launch.py: its shell would take the signals, and leave the server running.
    models = [str(folder) for folder in world.models]
    server = ExecuteProcess(
        cmd=["gz", "sim", *(["-s"] if given["headless"] == "true" else []), str(world.path)],
        name="gazebo",
        additional_env={
            "GZ_SIM_RESOURCE_PATH": pathsep.join([*models, environ.get("GZ_SIM_RESOURCE_PATH", "")])
        },
        on_exit=Shutdown(),
    )
    bridge = {"package": "ros_gz_bridge", "executable": "parameter_bridge"}
    clock = Node(name="clock_bridge", arguments=[CLOCK], **bridge)
    topics = str(share(setup.robot.package) / "config" / "bridge.yaml")
    states = Node(name="bridge", parameters=[{"config_file": topics}], **bridge)
    x, y, z = (float(value) for value in setup.initial.position)
    roll, pitch, yaw = quaternion_rpy(setup.initial.orientation)
    place = {"x": x, "y": y, "z": z, "R": roll, "P": pitch, "Y": yaw}
    urdf = ParameterValue(expand_for_gazebo(setup), value_type=str)
    create = Node(
        package="ros_gz_sim",
        executable="create",
        parameters=[{"world": world.name, "name": setup.robot.name, "string": urdf, **place}],
    )
    adapter = Node(
        package="roboaccord_ros",
        executable="gz_adapter",
        parameters=[
            {
                **run,
                "world": str(world.path),
                "lockstep": given["lockstep"] == "true",
                "peers": ParameterValue(LaunchConfiguration("peers")),
                "log": given["log_level"],
            }
        ],
        on_exit=Shutdown(),
    )

    def go_on(event: ProcessExited, _: LaunchContext) -> list:
        failed = Shutdown(reason=f"the robot could not be put into world {world.name}")
        return [failed if event.returncode else adapter]

    created = RegisterEventHandler(OnProcessExit(target_action=create, on_exit=go_on))
    return [server, clock, states, create, created]


def look_for_gazebo() -> None:
    """Say in one line what to do where there is no Gazebo."""
    try:
        for package in ("ros_gz_sim", "ros_gz_bridge"):
            get_package_share_directory(package)
    except PackageNotFoundError:
        raise RuntimeError(
            "sim:=gz needs Gazebo Sim (package ros_gz), which is not installed; try sim:=dart"
        ) from None


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments, and start when they are known."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=start)])
