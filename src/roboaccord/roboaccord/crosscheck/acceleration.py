"""Level 1: accelerations at random states, engine against reference, without time stepping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.differences import relative_at
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


@dataclass(frozen=True)
class AccelerationCheck:
    """Hold the largest relative error over the states; None, with the reason, if kinematic."""

    max: Annotated[float | None, Quantity("1", "relative error at random states", form=".1e")]
    states: int
    reason: str | None = None


def draw_any(setup: Setup, rng: np.random.Generator) -> tuple[RobotState, Array]:
    """Return a state with joints within their limits and the base where it can go, and efforts."""
    joints = {joint.name: joint for joint in setup.tree.moving}
    lower = 0.95 * np.array([max(joints[n].lower, -np.pi) for n in setup.joints])
    upper = 0.95 * np.array([min(joints[n].upper, np.pi) for n in setup.joints])
    n = len(setup.joints)
    motion = setup.base.draw(setup.initial, rng)
    q, qd = rng.uniform(lower, upper), rng.normal(size=n)
    state = RobotState(0.0, q, qd, np.zeros(n), *motion)
    return state, rng.uniform(-1.0, 1.0, n) * np.minimum(setup.effort_limits, 1.0)


def draw_states(setup: Setup, count: int, seed: int) -> Iterator[tuple[RobotState, Array]]:
    """Yield random states and efforts, alike for one seed."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        yield setup.robot.draw_state(setup, rng, index) or draw_any(setup, rng)


def check_acceleration(
    setup: Setup, reference: Simulator, engine: Simulator, states: int, seed: int
) -> AccelerationCheck:
    """Compare the accelerations of joints and base at random states.

    The error of a state is relative to its largest acceleration, joints and base apart.
    """
    if not setup.joints and not setup.base.moves:
        return AccelerationCheck(None, 0, "nothing can move")
    worst = 0.0
    last = max((fault.time for fault in setup.faults), default=0.0)
    for drawn, effort in draw_states(setup, states, seed):
        state = replace(drawn, time=last) if last else drawn  # when all have failed
        expected = reference.acceleration(state, effort)
        found = engine.acceleration(state, effort)
        if expected is None or found is None:
            return AccelerationCheck(None, 0, "the reference is kinematic")
        worst = max(worst, relative(found.joints, expected.joints))
        if setup.base.moves:
            worst = max(worst, relative(found.base, expected.base))
    return AccelerationCheck(worst, states)


def relative(found: Array, expected: Array) -> float:
    """Return the largest difference over the largest expected value; infinite for NaN."""
    return relative_at(found, expected)[0]
