"""`accord snake gait`: when a gait counts as steady."""

import re

import numpy as np
import pytest
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord_studies.snake.gait import (
    DEFAULT_GAIT,
    gait_command,
    is_steady,
    setup_of,
    travel_of_cycles,
)
from roboaccord_studies.snake.ideal import IdealModel
from snake.model.ground import friction_of
from snake.simulators.metrics import body_motion

G = 9.81  # m/s^2


@pytest.mark.parametrize(
    ("travel", "steady"),
    [
        ([], False), ([1.0], False), ([0.5, 1.0, 1.009], True), ([1.0, 1.0, 1.011], False),
        ([-1.009, -1.0], True), ([0.01, -0.01], False),
        ([0.1, 0.1, 1.0, 1.009, 1.0, 1.005], True), ([1.0, 1.0, 1.0, 1.011, 1.0, 1.0], False),
        (1.0 - 0.9 ** np.arange(1.0, 23.0), False),  # two cycles differ by 1 %, 10 % are to come
    ],
)  # fmt: skip
def test_the_last_half_of_the_cycles_decides_but_at_least_two(travel, steady):
    """Within 1 % of the fastest one, in either direction along the body."""
    assert is_steady(np.array(travel)) is steady


def test_on_slippery_ground_the_snake_is_still_gaining_speed(setup_with):
    """Friction moves the centre of mass, so a cycle T adds mu g T^2 to its travel at most.

    The gait would settle at the order of its wave's 1 m/s; at mu = 0.01 that takes 10 s and more.
    """
    mu = 0.01
    setup = setup_with(f"friction.mu_across={mu}", "friction.mu_along=0.001", "duration=5")
    trajectory = run_setup(setup, make_simulator(setup))
    travel = travel_of_cycles(setup, trajectory.time, *body_motion(setup, trajectory))
    gained = np.diff(travel)
    assert len(travel) == 4
    assert (gained > 0).all()
    assert (gained <= mu * G).all()
    assert not is_steady(travel)


@pytest.mark.slow
def test_the_speed_of_a_steady_gait_is_that_of_its_limit_cycle():
    """Which the ideal gait has within 0.5 %; with the cycles that get there it is 0.9 % less.

    The same holds for the cost, and neither depends on how long the run goes on.
    """
    ground = {"mu_along": 0.2, "mu_across": 0.4}
    found = [gait_command(duration=duration, **ground).data for duration in (6.0, 12.0)]
    setup = setup_of(DEFAULT_GAIT, joints=21, **ground)
    ideal = IdealModel(setup.parameters, *friction_of(setup)).evaluate(DEFAULT_GAIT)
    for each in found:
        assert each.steady and each.speed == pytest.approx(ideal.speed, rel=5e-3)
        assert each.cost_of_transport == pytest.approx(ideal.cost_of_transport, rel=5e-3)
        assert each.speed == pytest.approx(found[-1].speed, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "steady", "message"),
    [
        ({"duration": 4.0}, True, "^steady: the last 2 cycles"),
        ({"duration": 2.5}, False, "less than two whole cycles"),
        ({"mu_across": 0.01, "mu_along": 0.001, "duration": 3.0}, False, "by more than 1 %"),
    ],
)
def test_the_command_says_so(options, steady, message):
    """A run that is too short cannot be steady."""
    result = gait_command(**options)
    assert result.data.steady is steady
    remarks = [str(item) for item in result.shown if "steady:" in str(item)]
    assert len(remarks) == 1 and re.search(message, remarks[0])
