"""Setups that the snake's tests share."""

from functools import partial

import numpy as np
import pytest
from roboaccord import RobotState
from running import setup_of


@pytest.fixture
def setup_with():
    """Return a function that makes the serpenoid's setup with changes."""
    return partial(setup_of, "snake", "serpenoid")


@pytest.fixture
def frictionless(setup_with):
    """Return the snake on ice."""
    return setup_with("friction={law: none}")


@pytest.fixture
def random_state():
    """Return a function that draws a state well inside the stops, with efforts (n,)."""

    def draw(setup, rng, spread=0.4):
        n = len(setup.joints)
        yaw = rng.uniform(-np.pi, np.pi)
        state = RobotState(
            0.0, rng.uniform(-spread, spread, n), rng.normal(size=n), np.zeros(n),
            np.array([*rng.normal(size=2), 0.05]),
            np.array([0, 0, np.sin(yaw / 2), np.cos(yaw / 2)]),
            np.array([*rng.normal(size=2), 0, 0, 0, rng.normal()]),
        )  # fmt: skip
        return state, rng.uniform(-1, 1, n)

    return draw
