"""Arguments, processes and names of a launch; imports the standard library alone.

Launch files read it in the Python of ROS, and the planner in that of the workspace.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

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
    "inputs": ("", "bag of a driven run to repeat, instead of inputs that people send"),
    "record": ("true", "true: a bag in ./runs; or the folder of the bag; false: none"),
    "crosscheck": ("auto", "compare each step with the reference, live; auto: in Gazebo"),
    "reference": ("true", "with the cross-check, show the reference as a second robot"),
    "rviz": ("auto", "show the robot in RViz; auto: where Gazebo shows no window"),
    "view": ("auto", "the robot in the browser; auto: where neither Gazebo's window nor RViz is"),
    "foxglove": ("false", "serve the topics to Foxglove by foxglove_bridge"),
    "world": ("", "for Gazebo: a world of worlds/, or a path that ends in .sdf"),
    "contacts": ("", "in Gazebo: shapes that touch the ground; empty: the robot's default"),
    "headless": ("false", "without any window; a view in the browser by view:=true alone"),
    "trust": ("false", "let a stranger's xacro file do all that you can (docs/security.md)"),
    "namespace": ("", "prefix of all nodes and topics, so that several robots run side by side"),
    "log_level": ("warning", "debug, info, warning or error"),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "pace": ("auto", "real", "fast"),
    "log_level": ("debug", "info", "warning", "error"),
    **dict.fromkeys(("lockstep", "reference", "foxglove", "headless", "trust"), ("true", "false")),
    **dict.fromkeys(("crosscheck", "rviz", "view"), ("auto", "true", "false")),
}


Value = bool | int | float | str | Sequence[str]  # of a parameter
Meaning = Literal["ends", "part", "helper", "window", "window_ends", "view", "once"]


@dataclass(frozen=True, kw_only=True)
class Process:
    """Describe one process.

    Args:
        name: of the node; of the process alone where `command` is given.
        module: of the workspace that is run in its own Python; or
        package, executable: an executable of ROS; or
        command: any other program.
        arguments, parameters, remappings: of a node.
        env: what is added to the environment.
        cores: on which it may run; on all if empty.
        meaning: of its end. `ends`: the run is over; `part`: it ends by itself after the run;
            `helper`: it must last as long as the run; `window`: it may be closed, and the launch
            waits for that after the run; `window_ends`: and closing it ends the run; `view`: it may
            end early, and ends with the launch; `once`: processes that come `after` it may start.
        after: name of the process whose good end this one waits for.
        within: how long it may take [s]; without limit if 0.
        late: what it then waits for.
    """

    name: str
    meaning: Meaning
    module: str = ""
    package: str = ""
    executable: str = ""
    command: Sequence[str] = ()
    arguments: Sequence[str] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    remappings: Sequence[tuple[str, str]] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cores: Sequence[int] = ()
    after: str = ""
    within: float = 0.0
    late: str = ""


def claim_names(namespace: str) -> socket.socket:
    """Keep other launches of this machine off the names of this one while what is returned lives.

    DDS takes seconds to discover another simulator on a busy machine; an address is taken at once,
    and freed with its process.

    Raises:
        RuntimeError: if another launch has them.
    """
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0roboaccord/{domain}/{namespace.strip('/')}"[:100])  # abstract: no file
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise RuntimeError(
            f"another launch has the same names in ROS domain {domain}; "
            "set namespace:=NAME, or another ROS_DOMAIN_ID"
        ) from None
    return claim
