"""Reach of rigs against all headings: blocked ones, largest speeds and slips."""

import numpy as np
import pytest
from roboaccord_studies.roller_sphere.reach import (
    blocked,
    fastest_heading,
    gains,
    slip_gains,
    top_speed,
)
from robot_commands import commands_of
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig

TURN = 2.0 * np.pi
figures, complaint = commands_of("roller-sphere", quiet=True)
PAPER = "--radius 1 --azimuth-deg 215 325 --latitude-deg 60 60"


@pytest.mark.parametrize("seed", range(12))
def test_reach_against_all_headings(seed):
    """Blocked headings, largest speeds and slips, against a fine sample of headings."""
    rng = np.random.default_rng(seed)
    count = 2 + seed % 3
    angles = rng.uniform(-1.2, 1.2, (2, count))
    kinematics = Kinematics(Rig(0.5, rng.uniform(0.0, TURN, count), *angles))
    # Off round numbers, so that no sample is at the edge of a blocked span.
    headings = 1e-5 + np.linspace(0.0, TURN, 20_001)[:-1]
    nu = kinematics.inverse(1.0, headings).nu
    fastest, slope = np.abs(nu).max(axis=1), gains(kinematics).max() * TURN / 20_000
    assert np.abs(nu).max(axis=0) == pytest.approx(gains(kinematics), rel=1e-6)
    slips = np.linalg.norm(kinematics.zeta(nu), axis=-1).max(axis=0)
    assert slips == pytest.approx(slip_gains(kinematics), rel=1e-6, abs=1e-12)
    best = fastest_heading(kinematics)
    assert 1.0 / top_speed(kinematics, best, 1.0) == pytest.approx(fastest.min(), abs=slope)
    assert 1.0 / top_speed(kinematics, best, 1.0) <= fastest.min() + 1e-12
    for limit in np.linspace(0.9 * fastest.min(), 1.1 * fastest.max(), 5):
        inside = np.zeros(len(headings), bool)
        for start, stop in blocked(kinematics, 1.0, limit):
            inside |= (headings - start) % TURN < stop - start
        assert np.array_equal(inside, fastest > limit)


def test_the_command(figures):
    found = figures(f"reach {PAPER} --alpha-deg 10 -10 --limit 1.5 --speed 1")
    kinematics = Kinematics(Rig.degrees(1.0, (215, 325), (60, 60), (10, -10)))
    around = np.abs(kinematics.inverse(1.0, np.radians(np.arange(0.0, 360.0, 0.01))).nu)
    assert found["roller_speed_over_speed"] == pytest.approx(around.max(axis=0), rel=1e-6)
    assert found["speed_everywhere"] == pytest.approx(1.5 / around.max(), rel=1e-6)
    edges = np.radians(np.ravel(found["blocked_deg"]))
    assert np.abs(kinematics.inverse(1.0, edges).nu).max(axis=1) == pytest.approx(1.5)
    stuck = figures(f"reach {PAPER} --alpha-deg 38.9566 -38.9566")
    assert stuck["remaining_deg"] == pytest.approx([90.0, 270.0])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("reach --speed -1", "Invalid value for '--speed'"),
        ("reach --limit 0", "Invalid value for '--limit'"),
        ("reach --limit inf", "--limit: inf is not a number"),
        ("survey --points 2", "Invalid value for '--points'"),
        ("survey --out /proc/none", "cannot write in /proc/none"),
    ],
)
def test_a_mistake_is_one_line(words, line, complaint):
    assert line in complaint(words)
