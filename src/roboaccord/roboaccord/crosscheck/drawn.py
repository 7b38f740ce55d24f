"""Random states and efforts, alike for one seed, at which engines and twins are compared.

The order in which `draw_states` draws is fixed: another order gives other figures, here and in the
conformance suites. A robot may draw states of its own (`Robot.draw_state`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.stop_watch import StopWatch


def draw_any(setup: Setup, rng: np.random.Generator) -> tuple[RobotState, Array]:
    """Return a state with joints within their limits and the base where it can go, and efforts."""
    lower, upper = StopWatch.of(setup.tree, setup.joints).limits
    n = len(setup.joints)
    motion = setup.base.draw(setup.initial, rng)
    ends = 0.95 * np.maximum(lower, -np.pi), 0.95 * np.minimum(upper, np.pi)
    q, qd = rng.uniform(*ends), rng.normal(size=n)
    state = RobotState(0.0, q, qd, np.zeros(n), *motion)
    return state, rng.uniform(-1.0, 1.0, n) * np.minimum(setup.effort_limits, 1.0)


def draw_states(setup: Setup, count: int, seed: int) -> Iterator[tuple[RobotState, Array]]:
    """Yield random states and efforts, alike for one seed."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        yield setup.robot.draw_state(setup, rng, index) or draw_any(setup, rng)
