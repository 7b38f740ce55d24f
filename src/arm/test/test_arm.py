"""The arm keeps the rules of all robots, and moves as theory says."""

import numpy as np
import pytest
from roboaccord import Setup, load_scenario, make_controller, make_simulator, simulate
from roboaccord.testing import RobotConformance

ROBOT = "arm"


class TestConformance(RobotConformance):
    """Names, limits, determinism, engines against the reference: what every robot keeps."""

    robot = ROBOT


def test_a_small_swing_has_the_period_of_theory():
    """T = 2 pi sqrt((I + m c^2) / (m g c)): after T it is back where it was let go at rest."""
    setup = Setup.of(load_scenario(ROBOT, ROBOT, "swing", ["initial.q.pivot=1e-3"]))
    p = setup.parameters
    inertia = p.inertia + p.mass * p.centre**2
    period = 2 * np.pi * np.sqrt(inertia / (p.mass * p.gravity * p.centre))
    run = simulate(
        simulator=make_simulator(setup),
        controller=make_controller(setup),
        initial=setup.initial,
        duration=2.0,
        control_period=setup.scenario.control_period,
    )
    falling = np.flatnonzero((run.q[:-1, 0] > 0) & (run.q[1:, 0] <= 0))
    a, b = run.q[falling, 0], run.q[falling + 1, 0]
    crossings = run.time[falling] + (run.time[1] - run.time[0]) * a / (a - b)
    assert np.diff(crossings) == pytest.approx(period, rel=1e-5)  # a^2 / 16 and interpolation
