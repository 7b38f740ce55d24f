"""The Packbot's arm in a real Gazebo server: it collapses onto its hulls, and joints fail."""

from __future__ import annotations

import numpy as np
import pytest
from running import run_in

pytest.importorskip("packbot", reason="the Packbot is not installed")
pytest.importorskip("coal", reason="coal, which measures the hulls' distances, is not installed")

from gazebo_server import cache, crawl  # noqa: F401 - for each test
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

SECONDS = 2.0  # it settles within 1 s


def angles(path):
    """Return the angles of links 1 to 3 from the horizontal (k, 3) [degrees]."""
    return np.degrees(np.cumsum(path.q[:, 1:4], axis=1))


def test_it_falls_and_rests_as_in_the_reference(tmp_path):
    given = load_scenario("packbot", "packbot", "collapse", [f"duration={SECONDS}"])
    setup, path = Setup.of(given), crawl(given, tmp_path / "run").trajectory
    assert path.time[-1] == SECONDS
    assert path.q[0] == pytest.approx(setup.initial.q, abs=1e-15)
    reference = run_in(setup, duration=SECONDS)
    # The fall of link 3, until it meets link 2 at 0.75 s: contact has a margin of 0.5 mm there and
    # none here, which turns link 1 by 0.07 degrees about its 0.5 m, and link 3 with it.
    falling = path.time < 0.7
    assert np.abs(angles(path) - angles(reference))[falling].max() < 1.0
    assert np.abs(angles(path)[-1] - angles(reference)[-1]).max() < 1.0
    assert np.abs(path.qd[-1]).max() < 0.01  # rad/s
    assert np.ptp(path.position, axis=0).max() < 1e-9  # the chassis stays where it is


def test_a_frozen_joint_is_held_and_a_loose_one_gets_nothing(tmp_path):
    faults = 'faults=["elbow1=frozen@1.0","turret=loose@1.2"]'
    given = load_scenario("packbot", "packbot", "reach", ["duration=1.6", faults])
    motion = crawl(given, tmp_path / "run").trajectory
    reported = [(event.time, event.kind, event.subject) for event in motion.events]
    assert reported == [(1.0, "joint_frozen", "elbow1"), (1.2, "joint_loose", "turret")]
    period, time, k = given.control_period, motion.time, motion.joints.index("elbow1")
    first = int(np.searchsorted(time, 1.0 - 1e-9))
    away = np.abs(motion.q[first:, k] - motion.q[first, k])
    # The hold acts in the period that follows: before, the joint goes on by its rate at most.
    assert away.max() < abs(motion.qd[first, k]) * period
    # Friction, 0.5 N m s/rad, is what the hold does not know; the joint has stopped.
    assert away[10:].max() < 1e-4  # rad
    loose = time > 1.2 + 0.5 * period
    assert (motion.effort[loose, motion.joints.index("turret")] == 0.0).all()
