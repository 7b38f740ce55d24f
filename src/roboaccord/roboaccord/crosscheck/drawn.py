"""Random states and efforts at which engines and twins are compared, reproducible by a seed.

A robot may draw states of its own (`Robot.draw_state`). The order of the draws stays: another order
would change the figures of results and of conformance suites.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from roboaccord.contract.state import Array, RobotState
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.stop_watch import StopWatch


def draw_any(setup: Setup, rng: np.random.Generator) -> tuple[RobotState, Array]:
    """Return a random state and random efforts (n,) [N m].

    The state is within the joints' limits, with the base in a pose that it can have.
    """
    lower, upper = StopWatch.of(setup.tree, setup.joints).limits
    n = len(setup.joints)
    motion = setup.base.draw(setup.initial, rng)
    # Not at the limits, where stops act; a joint that turns freely is drawn within one turn.
    lowest, highest = 0.95 * np.maximum(lower, -np.pi), 0.95 * np.minimum(upper, np.pi)
    q, qd = rng.uniform(lowest, highest), rng.normal(size=n)
    state = RobotState(0.0, q, qd, np.zeros(n), *motion)
    return state, rng.uniform(-1.0, 1.0, n) * np.minimum(setup.effort_limits, 1.0)


def draw_states(setup: Setup, count: int, seed: int) -> Iterator[tuple[RobotState, Array]]:
    """Yield `count` random states with efforts, the same for the same seed."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        yield setup.robot.draw_state(setup, rng, index) or draw_any(setup, rng)
