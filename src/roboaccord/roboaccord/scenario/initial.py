"""The initial state of a scenario, and the check of its faults.

A scenario describes one experiment with a robot. `initial_state` makes the state that its key
`initial` describes; the robot may complete it by `Robot.initial`. `check_fault` and
`freeze_at_start` are for faults of joints (contract/fault.py): one that is frozen from the start
begins at its angle, at rest.

A new key is a field of `Initial` in scenario.py, and enters the state here; what only one robot
needs goes into its `Robot.initial` (test_scenario).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from roboaccord.contract import AccordError, Array, Fault, RobotState, check_joint, check_known
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import rpy_quaternion
from roboaccord.scenario.scenario import Scenario


def initial_state(
    scenario: Scenario, joints: Sequence[str], switches: Mapping[str, bool]
) -> RobotState:
    """Return the state that the key `initial` of a scenario describes, at time 0.

    Args:
        scenario: its key `initial`, and its seed for `spread_q`.
        joints: names of the n joints, in the order of the arrays.
        switches: default states of the robot's switches.

    Raises:
        AccordError: for an unknown joint or switch, or an angle or rate that is not a number.
    """
    initial = scenario.initial
    n = len(joints)
    check_known("unknown key initial.switches.", initial.switches, switches)
    # Random deviations of the angles, by seed.
    spread = np.zeros(n)
    if initial.spread_q:
        rng = np.random.default_rng(scenario.seed)
        spread = rng.uniform(-initial.spread_q, initial.spread_q, n)
    q = _by_joint(initial.q, joints, "initial.q")
    qd = _by_joint(initial.qd, joints, "initial.qd")
    orientation = rpy_quaternion(initial.roll, initial.pitch, initial.yaw)
    base = np.array(initial.position), orientation, np.array(initial.twist)
    return RobotState(0.0, q + spread, qd, np.zeros(n), *base, {**switches, **initial.switches})


def _by_joint(values: Mapping[str, float], joints: Sequence[str], key: str) -> Array:
    """Return values by joint as an array (n,), 0 where there is none."""
    check_known(f"unknown key {key}.", values, joints)
    return np.array([values.get(name, 0.0) for name in joints])


def check_fault(fault: Fault, joints: Sequence[str], tree: Tree) -> None:
    """Refuse a fault of a joint that is not a hinge, or an angle outside of its range.

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
    """Return a state with joints that are frozen from the start at their angles, and at rest."""
    q, qd = np.array(state.q), np.array(state.qd)
    for fault in faults:
        if fault.angle is not None:
            joint = joints.index(fault.joint)
            q[joint], qd[joint] = fault.angle, 0.0
    return replace(state, q=q, qd=qd)
