"""Faults of a scenario, checked against the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, check_joint
from roboaccord.contract.state import RobotState
from roboaccord.description.tree import Tree


def check_fault(fault: Fault, joints: Sequence[str], tree: Tree) -> None:
    """Refuse a fault of anything but a hinge, or an angle beyond its limits.

    Raises:
        AccordError: naming the fault.
    """
    check_joint(fault, joints, tree.hinges)
    joint = next(joint for joint in tree.moving if joint.name == fault.joint)
    if fault.angle is not None and not joint.lower <= fault.angle <= joint.upper:
        raise AccordError(
            f"fault {fault}: {fault.joint} goes from {joint.lower:g} to {joint.upper:g} rad"
        )


def freeze_at_start(
    state: RobotState, faults: Sequence[Fault], joints: Sequence[str]
) -> RobotState:
    """Return a state with joints where they are frozen from the start, and at rest."""
    if not faults:
        return state
    q, qd = np.array(state.q), np.array(state.qd)
    for fault in faults:
        if fault.angle is not None:
            q[joints.index(fault.joint)], qd[joints.index(fault.joint)] = fault.angle, 0.0
    return replace(state, q=q, qd=qd)
