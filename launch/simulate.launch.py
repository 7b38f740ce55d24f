"""Simulate a robot, with its controller; record, cross-check and show it. All nodes are here.

ros2 launch roboaccord_ros simulate.launch.py robot:=snake scenario:=serpenoid sim:=dart

The planner, roboaccord_ros.plan, first decides what a launch file cannot, such as which simulator
runs the scenario, and refuses what cannot run. `Config("NAME")` is a decision or an argument, by
its name.

The second word of each process says what its end means (roboaccord_ros.launch.processes): the end
of one with "ends" is the end of the run, one with "part" ends by itself after the run, the user may
close a "window" ("window_ends": that ends the run), a "helper" must last as long as the run, and
"last" starts after the run.

Arguments, nodes and their conditions may be changed here, with docs/ros.md (test_docs,
test_simulate); your own launch file that includes this one and sets arguments needs no change.
"""

from launch import LaunchDescription
from launch.actions import GroupAction, LogInfo, OpaqueFunction
from launch.conditions import IfCondition as If
from launch.substitutions import LaunchConfiguration as Config
from roboaccord_ros.launch import MODULE, LaunchedRun, argument, in_namespace, parameters, plan

BOOL = ("true", "false", "True", "False")
AUTO = ("auto", *BOOL)
PACES = ("auto", "real", "fast")
LEVELS = ("debug", "info", "warning", "error")


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments, let the planner decide, and start what it has decided on."""
    arguments = [
        argument("robot", "", "its name, or its URDF or xacro file"),
        argument("scenario", "", "name of a scenario, or a YAML file; a robot's file needs none"),
        argument("sim", "auto", "auto, gz (Gazebo Sim), reference, or an engine: accord doctor"),
        argument("set", "", "changes to the scenario: KEY=VALUE KEY=VALUE"),
        argument("fault", "", "joints that fail, not those of the scenario: JOINT=KIND[@S] ..."),
        argument("controller", "", "package.module:Class; empty: the scenario's; none: your node"),
        argument("duration", "0", "length [s]; 0: the scenario's, or no end where a person drives"),
        argument("pace", "auto", "real, fast; auto: real where one may look or drives", PACES),
        argument("lockstep", "true", "wait for the answer to each state; false: run free", BOOL),
        argument("inputs", "", "bag of a driven run to repeat, not what people send"),
        argument("record", "true", "true: a bag in ./runs; or the folder of the bag; false: none"),
        argument("crosscheck", "auto", "compare with the reference, live; auto: in Gazebo", AUTO),
        argument("judge", "auto", "at the end, judge the bag; auto: where cross-checked", AUTO),
        argument("reference", "true", "with the cross-check: show it as a second robot", BOOL),
        argument("rviz", "auto", "RViz; auto: where Gazebo shows no window", AUTO),
        argument("view", "auto", "a display, such as browser; auto: where there is no window"),
        argument("foxglove", "false", "serve the topics to Foxglove by foxglove_bridge", BOOL),
        argument("world", "", "for Gazebo: a world of worlds/, or a path that ends in .sdf"),
        argument("contacts", "", "in Gazebo: shapes that touch the ground; empty: the default"),
        argument("gz_physics", "", "of Gazebo: dartsim, bullet-featherstone; empty: dartsim"),
        argument("headless", "false", "without any window; the browser by view:=true alone", BOOL),
        argument("trust", "false", "a stranger's xacro may do all (docs/security.md)", BOOL),
        argument("namespace", "", "prefix of nodes and topics, to run several side by side"),
        argument("log_level", "warning", "of all nodes", LEVELS),
    ]
    run, clock = LaunchedRun(), {"use_sim_time": True}
    common = parameters("robot", "scenario", "set", "duration", "lockstep", log="log_level")
    beside = parameters(robot="name", set="files", log="log_level")
    steering = parameters("controller", "inputs")
    return LaunchDescription([*arguments, GroupAction([  # decisions are of this file alone
        LogInfo(msg=["planning ", Config("robot"), " ", Config("scenario"), " ..."]),
        OpaqueFunction(function=plan, args=arguments),
        run.process(
            "gazebo_window", "window_ends", ["gz", "sim", "-g"],
            condition=If(Config("gazebo_window")),
        ),
        run.node(
            "simulator", "ends", "roboaccord_ros.nodes.simulator",
            parameters=[
                {**common, **steering},
                parameters("pace", "peers", "transport", "composed"),
                parameters(engine="sim", window="gazebo_window"),
            ],
        ),
        run.node(
            "controller", "part", "roboaccord_ros.nodes.controller",
            condition=If(Config("separate")),
            parameters=[common, steering, parameters(peers="controller_peers")],
        ),
        run.node(
            "recorder", "part", "roboaccord_ros.nodes.recorder",
            condition=If(Config("record")), parameters=[beside, parameters("bag")],
        ),
        run.node(
            "crosscheck", "part", "roboaccord_ros.nodes.crosscheck",
            condition=If(Config("crosscheck")),
            parameters=[beside, parameters("reference", "controller")],
        ),
        in_namespace(
            "rviz_topics", run.tool, "rviz2", "window", package="rviz2", executable="rviz2",
            arguments=["-d", Config("rviz_layout")], parameters=[clock],
            condition=If(Config("rviz")),
        ),
        run.node(
            "view", Config("view_ends"), Config("view_node"), condition=If(Config("view")),
            parameters=[parameters("robot", "scenario", "set", "open_page", log="log_level")],
        ),
        run.process(
            "judge", "last", [Config("python"), *MODULE, "roboaccord_ros.run.judge",
            Config("bag"), Config("files")], condition=If(Config("judge")), output="screen",
        ),
        run.tool(
            "foxglove_bridge", "helper", package="foxglove_bridge",
            executable="foxglove_bridge", condition=If(Config("foxglove")), parameters=[clock],
        ),
    ])])  # fmt: skip
