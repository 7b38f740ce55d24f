"""Faults of joints over ROS: parameters `fault.JOINT` and the topic `/R/fault`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, check_joint, parse_fault
from roboaccord.scenario.setup import Setup
from std_msgs.msg import String

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.shell import Run

PREFIX = "fault."
NONE = "none"
_log = logging.getLogger(__name__)


def declare_faults(node: Node, setup: Setup) -> Setup:
    """Declare a parameter for each joint that can fail; return the setup with what they say.

    Raises:
        AccordError: for a value that is no fault.
    """
    told = ParameterDescriptor(description="none, frozen, frozen:RAD or loose, with @SECONDS")
    faults = []
    for joint in (name for name in setup.joints if name in setup.tree.hinges):
        value = node.declare_parameter(PREFIX + joint, NONE, told).value
        if value != NONE:
            faults.append(parse_fault(f"{joint}={value}"))
    return setup.failing([*setup.faults, *faults]) if faults else setup


class FaultInlet:
    """Let joints fail at the next control tick, by a message or by a change of a parameter.

    A message that is no fault is ignored, and a parameter refused.

    Args:
        node, setup, run: where it lives.
        fail: takes what is told.
    """

    def __init__(self, node: Node, setup: Setup, run: Run, fail: Callable[[Fault], None]) -> None:
        self._setup, self._fail = setup, fail
        topic = f"{setup.robot.name}/{graph.FAULT}"
        node.create_subscription(String, topic, run.guard(self._take), graph.HAND)
        node.add_on_set_parameters_callback(self._set)

    def _take(self, message: String) -> None:
        try:
            self._fail(live_fault(message.data, self._setup))
        except AccordError as error:
            _log.warning("a message on %s is ignored: %s", graph.FAULT, error)

    def _set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        try:
            for parameter in parameters:
                if parameter.name.startswith(PREFIX):
                    joint = parameter.name.removeprefix(PREFIX)
                    self._fail(live_fault(f"{joint}={parameter.value}", self._setup))
        except AccordError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def live_fault(text: str, setup: Setup) -> Fault:
    """Return the fault of a text that comes while the robot runs.

    Raises:
        AccordError: for a text that is none of a hinge's, or has a time or an angle: it acts at
            the next tick, and freezes a joint where it is.
    """
    fault = parse_fault(text)
    if fault.time:
        raise AccordError(f"fault {text}: it acts at the next tick; leave out @{fault.time:g}")
    if fault.angle is not None:
        raise AccordError(f"fault {text}: an angle is for the start; it freezes where it is")
    check_joint(fault, setup.joints, setup.tree.hinges)
    return fault
