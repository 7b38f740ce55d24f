"""Initial state of a scenario, before its robot completes it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.state import Array, RobotState
from roboaccord.numerics.rotations import rpy_quaternion
from roboaccord.scenario.scenario import Scenario


def initial_state(
    scenario: Scenario, joints: Sequence[str], switches: Mapping[str, bool]
) -> RobotState:
    """Return the state that a scenario's key `initial` gives.

    Args:
        scenario: with the joints by name, the base and the switches.
        joints: names, in the order of every array; n of them.
        switches: that the robot has, as they are where the scenario does not say.

    Raises:
        AccordError: for an unknown joint or switch, or an angle or rate that is no number.
    """
    given, n = scenario.initial, len(joints)
    spread = np.zeros(n)
    if given.spread_q:
        rng = np.random.default_rng(scenario.seed)
        spread = rng.uniform(-given.spread_q, given.spread_q, n)
    return RobotState(
        time=0.0,
        q=_by_joint(given.q, joints, "initial.q") + spread,
        qd=_by_joint(given.qd, joints, "initial.qd"),
        effort=np.zeros(n),
        position=np.array(given.position),
        orientation=rpy_quaternion(given.roll, given.pitch, given.yaw),
        twist=np.array(given.twist),
        switches=_switches(given.switches, switches),
    )


def _switches(given: Mapping[str, bool], known: Mapping[str, bool]) -> dict[str, bool]:
    for name in given:
        if name not in known:
            raise AccordError(f"unknown key initial.switches.{name}{did_you_mean(name, known)}")
    return {**known, **given}


def _by_joint(values: Mapping[str, float], joints: Sequence[str], key: str) -> Array:
    for name in values:
        if name not in joints:
            raise AccordError(f"unknown key {key}.{name}{did_you_mean(name, joints)}")
        if not math.isfinite(values[name]):
            raise AccordError(f"{key}.{name}: {values[name]} is no angle or rate")
    return np.array([values.get(name, 0.0) for name in joints])
