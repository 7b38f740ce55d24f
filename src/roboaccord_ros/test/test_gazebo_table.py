"""The runs of the reference for the tables of Gazebo."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.run.metrics import metrics_of
from roboaccord.scenario.controllers import make_controller

pytest.importorskip("snake", reason="the snake, whose table has laws, is not installed")

from benchmarks.campaigns.gazebo_table import figure_of, reference_run, tables

pytestmark = pytest.mark.thorough


def test_only_the_simulator_has_the_changes_of_a_law(setup_for, tmp_path):
    """Even those that the scenario's own law does not mention; the bag has both."""
    changes = ["duration=0.1", "friction.mu_along=0.3"]
    law = ["friction.law=pyramid", "friction.loads=rigid", "friction.points=corners"]
    bag = reference_run("snake", "serpenoid", changes, law, tmp_path / "bag")
    found = read_run(bag)
    given, other = setup_for(*changes), setup_for(*changes, *law)
    expected = simulate(
        simulator=make_simulator(other), controller=make_controller(given),
        initial=given.initial, duration=0.1, control_period=given.scenario.control_period,
    )  # fmt: skip
    assert np.array_equal(found.trajectory.effort, expected.effort)
    assert np.array_equal(found.trajectory.q, expected.q)
    assert found.scenario["controller"]["friction"] == given.scenario.friction
    assert found.scenario["friction"] == other.scenario.friction
    whole = metrics_of(other, found.trajectory)["displacement_x"]
    assert figure_of(bag, {"figure": "displacement_x"}) == pytest.approx(whole, rel=1e-12)


def test_of_no_robot_no_figure_is_beside_what_it_should_be(tmp_path):
    assert tables([], tmp_path)
