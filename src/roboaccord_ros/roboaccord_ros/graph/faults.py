"""Faults of joints over ROS: by parameters at the start, by messages or parameters while it runs.

Each hinge has a parameter `fault.JOINT` of the simulator node, whose text is a kind of fault such
as loose or frozen; a message on the topic `fault` states joint and kind. The simulator reports a
fault that comes into force as an event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from roboaccord.contract import FORM, AccordError, Fault, check_joint, parse_fault
from roboaccord.scenario import Setup
from std_msgs.msg import String

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.parameters import FAULT
from roboaccord_ros.graph.reading import itself, readable
from roboaccord_ros.graph.shell import Shell

NONE = "none"  # value of the parameter of a joint without a fault


def declare_faults(node: Node, setup: Setup) -> Setup:
    """Declare a parameter for each joint that can fail; return the setup with their faults.

    Raises:
        AccordError: for a value that is not a fault.
    """
    descriptor = ParameterDescriptor(description=f"none, or as in {FORM}")
    faults = []
    for joint in (name for name in setup.joints if name in setup.tree.hinges):
        value = node.declare_parameter(FAULT + joint, NONE, descriptor).value
        if value != NONE:
            faults.append(parse_fault(f"{joint}={value}"))
    return setup.failing([*setup.faults, *faults]) if faults else setup


class FaultInlet:
    """Lets joints fail at the next control period, on a message or a change of a parameter.

    A message that states no valid fault is ignored; such a change of a parameter is refused.

    Args:
        shell: node of the simulator.
        setup: robot and scenario.
        fail: called with each fault.
    """

    def __init__(self, shell: Shell, setup: Setup, fail: Callable[[Fault], None]) -> None:
        self._setup, self._fail = setup, fail
        topic = f"{shell.robot}/{graph.FAULT}"
        self._on_message = readable(topic, self._fail_by_message, itself)
        shell.node.create_subscription(String, topic, shell.run.guard(self._on_message), graph.HAND)
        shell.node.add_on_set_parameters_callback(self._on_parameters)

    def _fail_by_message(self, message: String) -> None:
        """Let a joint fail as a message states."""
        self._fail(live_fault(message.data, self._setup))

    def _on_parameters(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Let joints fail as changed parameters state; return why a change is refused."""
        try:
            for parameter in parameters:
                if parameter.name.startswith(FAULT):
                    joint = parameter.name.removeprefix(FAULT)
                    self._fail(live_fault(f"{joint}={parameter.value}", self._setup))
        except AccordError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def live_fault(text: str, setup: Setup) -> Fault:
    """Return the fault in a text that comes while the robot runs.

    Raises:
        AccordError: for a text that is no fault of a hinge, or has a time or an angle: a fault
            acts at the next tick, and freezes a joint at its present angle.
    """
    fault = parse_fault(text)
    if fault.time:
        raise AccordError(f"fault {text}: it acts at the next tick; leave out @{fault.time:g}")
    if fault.angle is not None:
        raise AccordError(f"fault {text}: an angle is for the start; it freezes where it is")
    check_joint(fault, setup.joints, setup.tree.hinges)
    return fault
