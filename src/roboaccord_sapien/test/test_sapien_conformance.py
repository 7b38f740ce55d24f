"""PhysX keeps the rules of all engines (roboaccord.testing.engines)."""

import numpy as np
import pytest
from roboaccord.contract import AccordError, Command
from roboaccord.engines import simulate_model
from roboaccord.testing import EngineConformance
from roboaccord.testing import small_robots as robots


@pytest.mark.slow
class TestSapien(EngineConformance):
    """Both solvers of PhysX, in single precision."""

    engine = "sapien"
    settings = ({"tgs": False},)


def test_a_pendulum_swings_as_in_the_reference() -> None:
    """Two links for 10 ms of 1 ms, within the error of the largest scheme, of order 1."""
    try:
        simulator = simulate_model(robots.model_of("pendulums"), "sapien")
    except AccordError as error:
        pytest.skip(str(error))
    simulator.reset(robots.start("pendulums"))
    end = simulator.step(Command(robots.CONSTANT_EFFORTS), 0.01)
    start = robots.start("pendulums")
    first = robots.dynamics("pendulums").acceleration_at(start, robots.CONSTANT_EFFORTS).joints
    np.testing.assert_allclose(end.qd, start.qd + 0.01 * first, atol=0.05 * abs(first).max() * 0.01)
