"""Parameters of the ROS nodes: name, default and description, declared in one place.

To add a parameter, enter it in PARAMETERS, name it in `declare` of its nodes, and list it in
docs/ros.md (test_graph_tables). If it says how a node is run, it is also a field of Options; if it
is not a string, its type is also entered in TYPES (launch/planner.py). Names and defaults stay.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from roboaccord import contract
from roboaccord.scenario import START_TIMEOUT, TIMEOUT, Setup, find_robot, load_scenario

Value = bool | int | float | str | Sequence[str]  # of a parameter
Values = dict[str, Any]  # parameters by name, as rclpy gives them
# Default and description of each parameter.
PARAMETERS: dict[str, tuple[Value, str]] = {
    "robot": ("", "name of the robot; topics start with it"),
    "scenario": ("", "name of a scenario of the robot, or the path of a YAML file"),
    "set": ([""], "KEY=VALUE changes to the scenario"),
    "engine": ("reference", "reference, or an engine of `accord doctor`"),
    "composed": (False, "run the controller node in this process, too, by the same parameters"),
    "window": (False, "wait for Gazebo's window before the first step"),
    "controller": ("", "package.module:Class instead of the scenario's controller"),
    "bag": ("", "folder of the bag to write; must not exist"),
    "inputs": ("", "bag of a driven run to repeat, instead of inputs that people send"),
    "lockstep": (True, "wait for the command that answers each state; else run in real time"),
    "pace": (0.0, "simulated seconds per second of wall time; 0: as fast as possible, in lockstep"),
    "duration": (0.0, "length of the run [s]; 0: the scenario's; .inf: no end"),
    "timeout": (TIMEOUT, "how long a command may take [s of wall time]; .inf: no limit"),
    "start_timeout": (
        START_TIMEOUT,
        "how long peers may take to start, and a controller to be made or reset [s of wall time]",
    ),
    "peers": ([""], "names of the nodes that must receive before the first message is sent"),
    "transport": ("ros", "the transport that the bag states"),
    "tolerance": (0.0, "allowed error of a step beyond the time step's; 0: the scenario's"),
    "reference": (True, "run the reference free, too, and publish it as a second robot"),
    "open_page": (False, "open the page in the desktop's browser"),
    "log": ("warning", "least level of the log lines on stderr"),
}
FAULT = "fault."  # how the names of parameters of failing joints begin (faults.py)
# How the names of ROS's own parameters begin.
ROS_PARAMETERS = ("use_sim_time", "qos_overrides.", "start_type_description_service")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a simulator or a controller is run; most fields are parameters of the same name.

    Args:
        quiet_time: time for which no other simulator may be seen before the first step [s of wall
            time].
        shared_process: whether simulator and controller are in one process, and pass states and
            answers without messages.
        make_tally: makes an observer that collects figures of the motion, if they are wanted.
        on_factor: called with the real-time factor of the run.
    """

    engine: str = "reference"
    controller: contract.AnyController = ""
    lockstep: bool = True
    duration: float = 0.0
    pace: float = 0.0
    timeout: float = TIMEOUT
    start_timeout: float = START_TIMEOUT
    peers: Sequence[str] = ()
    transport: str = "ros"
    quiet_time: float = 0.0
    shared_process: bool = False
    make_tally: Callable[[], contract.Tally] | None = None
    on_factor: Callable[[float], None] = lambda _: None

    @classmethod
    def of(cls, values: Values, **more: Any) -> Options:
        """Return the options among a node's parameter values, with further ones in `more`."""
        options = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in options}, **more)


def declare(node: Node, *names: str, needs: Sequence[str] = ()) -> Values:
    """Declare parameters of a node, and return their values, lists without empty texts.

    Args:
        node: node of the parameters.
        *names: names in PARAMETERS; `log` is declared for all nodes.
        needs: names of those that must not be empty.

    Raises:
        AccordError: if one is missing that the node needs, or unknown to all nodes.
    """
    values = {}
    for name in (*names, "log"):
        default, description = PARAMETERS[name]
        descriptor = ParameterDescriptor(description=description, read_only=True)
        values[name] = node.declare_parameter(name, default, descriptor).value
        if isinstance(default, list):
            values[name] = [text for text in values[name] if text]
    set_log_level(values["log"])
    # ROS ignores parameters that no node declares
    for name in getattr(node, "_parameter_overrides", {}):
        if not name.startswith((FAULT, *ROS_PARAMETERS)):
            contract.check_known("unknown parameter ", name, PARAMETERS)
    check_not_empty(values, needs)
    return values


def set_log_level(level: str) -> None:
    """Send log lines from this level on to stderr.

    Raises:
        AccordError: for an unknown level.
    """
    numbers = logging.getLevelNamesMapping()
    if level.upper() not in numbers:
        available = "debug, info, warning, error"
        raise contract.AccordError(f"unknown log level {level}; available: {available}")
    logging.basicConfig(level=numbers[level.upper()], format="%(levelname)s %(name)s: %(message)s")


def check_not_empty(values: Values, needs: Sequence[str]) -> None:
    """Check that parameters are not empty.

    Raises:
        AccordError: that names the first.
    """
    for name in needs:
        if not values[name]:
            raise contract.AccordError(f"parameter {name} is missing: -p {name}:=NAME")


def setup_of(values: Values) -> Setup:
    """Return robot and scenario as the parameters state them.

    Raises:
        AccordError: for a parameter that is missing or wrong.
    """
    check_not_empty(values, ("robot", "scenario"))
    robot = find_robot(values["robot"])
    changes = list(values["set"])
    if values["duration"] > 0 and math.isfinite(values["duration"]):
        changes.append(f"duration={values['duration']!r}")
    scenario = load_scenario(robot.package, robot.key, values["scenario"], changes)
    return Setup.of(scenario, given=changes)
