"""Arguments of a launch: name, default and description; imports the standard library alone.

Launch files read it in the Python of ROS, and the planner in that of the workspace.
"""

from __future__ import annotations

ARGUMENTS: dict[str, tuple[str | None, str]] = {
    "robot": (None, "name of the robot, or its URDF or xacro file"),
    "scenario": ("", "name of a scenario of the robot, or a YAML file; a robot's file needs none"),
    "sim": ("auto", "auto, gz (Gazebo Sim), reference, or an engine of `accord doctor`"),
    "set": ("", "changes to the scenario: KEY=VALUE KEY=VALUE"),
    "fault": ("", "joints that fail: JOINT=KIND[@S] JOINT=KIND[@S], in place of the scenario's"),
    "controller": ("", "package.module:Class; empty: the scenario's; none: your own node"),
    "duration": ("0", "length of the run [s]; 0: the scenario's, or no end where a person drives"),
    "pace": ("auto", "real (time), fast, or auto: real where somebody may look, or drives"),
    "lockstep": ("true", "wait for the command that answers each state; false: run free"),
    "inputs": ("", "bag of a driven run to repeat, instead of what people send"),
    "record": ("true", "true: a bag in ./runs; or the folder of the bag; false: none"),
    "crosscheck": ("auto", "compare each step with the reference, live; auto: in Gazebo"),
    "rviz": ("auto", "show the robot in RViz; auto: where Gazebo shows no window"),
    "view": ("auto", "the robot in the browser; auto: where neither Gazebo's window nor RViz is"),
    "foxglove": ("false", "serve the topics to Foxglove by foxglove_bridge"),
    "world": ("", "for Gazebo: a world of worlds/, or a path that ends in .sdf"),
    "contacts": ("", "in Gazebo: with what links touch the ground; empty: the robot's default"),
    "headless": ("false", "without any window; a view in the browser by view:=true alone"),
    "namespace": ("", "of all nodes and topics, so that several robots run side by side"),
    "log_level": ("warning", "debug, info, warning or error"),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "pace": ("auto", "real", "fast"),
    "log_level": ("debug", "info", "warning", "error"),
    **dict.fromkeys(("lockstep", "foxglove", "headless"), ("true", "false")),
    **dict.fromkeys(("crosscheck", "rviz", "view"), ("auto", "true", "false")),
}
