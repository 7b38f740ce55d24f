"""Initial state of a scenario, before its robot completes it, and its faults checked.

Keys of the initial state may be added, as fields of `Initial` in scenario.py; how each enters a
state is written here. What one robot alone needs goes into its `Robot.initial`. The order of joints
is that of the setup, of the base's angles that of URDF (test_scenario). Kinds of faults are in
contract/fault.py; that one is of a hinge and within its limits is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.fault import Fault, check_joint
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import rpy_quaternion
from roboaccord.scenario.scenario import Scenario


def initial_state(
    scenario: Scenario, joints: Sequence[str], switches: Mapping[str, bool]
) -> RobotState:
    """Return the state that a scenario's key `initial` gives.

    Args:
        scenario: with the joints by name, the base and the switches.
        joints: names, in the order of every array; n of them.
        switches: that the robot has, as they are by default.

    Raises:
        AccordError: for an unknown joint or switch, or an angle or rate that is not a number.
    """
    given, n = scenario.initial, len(joints)
    check_known("unknown key initial.switches.", given.switches, switches)
    spread = np.zeros(n)
    if given.spread_q:
        rng = np.random.default_rng(scenario.seed)
        spread = rng.uniform(-given.spread_q, given.spread_q, n)
    q, qd = _by_joint(given.q, joints, "initial.q"), _by_joint(given.qd, joints, "initial.qd")
    orientation = rpy_quaternion(given.roll, given.pitch, given.yaw)
    base = np.array(given.position), orientation, np.array(given.twist)
    return RobotState(0.0, q + spread, qd, np.zeros(n), *base, {**switches, **given.switches})


def _by_joint(values: Mapping[str, float], joints: Sequence[str], key: str) -> Array:
    check_known(f"unknown key {key}.", values, joints)
    return np.array([values.get(name, 0.0) for name in joints])


def check_fault(fault: Fault, joints: Sequence[str], tree: Tree) -> None:
    """Refuse a fault of anything but a hinge, or an angle beyond its limits.

    Raises:
        AccordError: naming the fault.
    """
    check_joint(fault, joints, tree.hinges)
    joint = next(joint for joint in tree.moving if joint.name == fault.joint)
    if fault.angle is not None and not joint.lower <= fault.angle <= joint.upper:
        ends = f"{joint.lower:g} to {joint.upper:g} rad"
        raise AccordError(f"fault {fault}: the range of {fault.joint} is {ends}")


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
