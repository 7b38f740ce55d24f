"""The parameters of the nodes: name, default and description, declared in one place.

To add a parameter, enter it in PARAMETERS with default and description, name it in `declare` of its
nodes, and add its row to docs/ros.md (test_graph_tables). One by which a node is run is a field of
`Options`, too; one that is no text is entered in TYPES (launch/planner.py). Names and defaults
stay.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from roboaccord import contract
from roboaccord.scenario import START_TIMEOUT, TIMEOUT, Setup, find_robot, load_scenario
from std_msgs.msg import String

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.reading import itself, readable
from roboaccord_ros.graph.shell import Shell

Value = bool | int | float | str | Sequence[str]  # of a parameter
Values = dict[str, Any]
"""Parameters by name, as rclpy gives them."""
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


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a simulator or a controller is run, by the parameters of the same names.

    `settle` is how long no other simulator must be seen before the first step [s of wall time];
    `handed` whether simulator and controller are of one process, and hand over states and answers;
    `make_tally` makes what measures the figures of the motion, where they are wanted; `keep` keeps
    the real-time factor.
    """

    engine: str = "reference"
    controller: str = ""
    lockstep: bool = True
    duration: float = 0.0
    pace: float = 0.0
    timeout: float = TIMEOUT
    start_timeout: float = START_TIMEOUT
    peers: Sequence[str] = ()
    transport: str = "ros"
    settle: float = 0.0
    handed: bool = False
    make_tally: Callable[[], contract.Tally] | None = None
    keep: Callable[[float], None] = lambda _: None

    @classmethod
    def of(cls, values: Values, **more: Any) -> Options:
        """Take those of the values of a node that are options, and more."""
        options = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in options}, **more)


PREFIX = "fault."
OTHERS = (PREFIX, "use_sim_time", "qos_overrides.", "start_type_description_service")
"""Beginnings of the names that `PARAMETERS` has not: of joints that fail, and ROS's own."""


def declare(node: Node, *names: str, needs: Sequence[str] = ()) -> Values:
    """Declare parameters of a node, and return their values; empty texts in lists are dropped.

    Raises:
        AccordError: if one is missing that the node needs, or unknown to all nodes.
    """
    values = {}
    for name in (*names, "log"):
        default, description = PARAMETERS[name]
        values[name] = node.declare_parameter(
            name, default, ParameterDescriptor(description=description, read_only=True)
        ).value
        if isinstance(default, list):
            values[name] = [text for text in values[name] if text]
    set_log_level(values["log"])
    for name in getattr(node, "_parameter_overrides", {}):  # ROS ignores those nobody declares
        if not name.startswith(OTHERS):
            contract.check_known("unknown parameter ", name, PARAMETERS)
    check_given(values, needs)
    return values


def set_log_level(level: str) -> None:
    """Send log lines of at least this level to stderr.

    Raises:
        AccordError: for an unknown level.
    """
    numbers = logging.getLevelNamesMapping()
    if level.upper() not in numbers:
        available = "debug, info, warning, error"
        raise contract.AccordError(f"unknown log level {level}; available: {available}")
    logging.basicConfig(level=numbers[level.upper()], format="%(levelname)s %(name)s: %(message)s")


def check_given(values: Values, needs: Sequence[str]) -> None:
    """Refuse parameters that are empty.

    Raises:
        AccordError: naming the first.
    """
    for name in needs:
        if not values[name]:
            raise contract.AccordError(f"parameter {name} is missing: -p {name}:=NAME")


def setup_of(values: Values) -> Setup:
    """Bring robot and scenario together as the parameters state.

    Raises:
        AccordError: for a parameter that is missing or wrong.
    """
    check_given(values, ("robot", "scenario"))
    robot = find_robot(values["robot"])
    changes = list(values["set"])
    if values["duration"] > 0 and math.isfinite(values["duration"]):
        changes.append(f"duration={values['duration']!r}")
    return Setup.of(load_scenario(robot.package, robot.key, values["scenario"], changes))


NONE = "none"


def declare_faults(node: Node, setup: Setup) -> Setup:
    """Declare a parameter for each joint that can fail; return the setup with their faults.

    Raises:
        AccordError: for a value that is not a fault.
    """
    descriptor = ParameterDescriptor(description=f"none, or as in {contract.FORM}")
    faults = []
    for joint in (name for name in setup.joints if name in setup.tree.hinges):
        value = node.declare_parameter(PREFIX + joint, NONE, descriptor).value
        if value != NONE:
            faults.append(contract.parse_fault(f"{joint}={value}"))
    return setup.failing([*setup.faults, *faults]) if faults else setup


class FaultInlet:
    """Let joints fail at the next control tick, by a message or by a change of a parameter.

    A message that is not a fault is ignored, and a parameter refused.

    Args:
        shell, setup: that host it.
        fail: takes each fault.
    """

    def __init__(self, shell: Shell, setup: Setup, fail: Callable[[contract.Fault], None]) -> None:
        self._setup, self._fail = setup, fail
        topic = f"{shell.robot}/{graph.FAULT}"
        self._take = readable(topic, self._hear, itself)
        shell.node.create_subscription(String, topic, shell.run.guard(self._take), graph.HAND)
        shell.node.add_on_set_parameters_callback(self._set)

    def _hear(self, message: String) -> None:
        self._fail(live_fault(message.data, self._setup))

    def _set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        try:
            for parameter in parameters:
                if parameter.name.startswith(PREFIX):
                    joint = parameter.name.removeprefix(PREFIX)
                    self._fail(live_fault(f"{joint}={parameter.value}", self._setup))
        except contract.AccordError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def live_fault(text: str, setup: Setup) -> contract.Fault:
    """Return the fault of a text that comes while the robot runs.

    Raises:
        AccordError: for a text that is none of a hinge's, or has a time or an angle: it acts at
            the next tick, and freezes a joint where it is.
    """
    fault = contract.parse_fault(text)
    if fault.time:
        soon = f"it acts at the next tick; leave out @{fault.time:g}"
        raise contract.AccordError(f"fault {text}: {soon}")
    if fault.angle is not None:
        where = "an angle is for the start; it freezes where it is"
        raise contract.AccordError(f"fault {text}: {where}")
    contract.check_joint(fault, setup.joints, setup.tree.hinges)
    return fault
