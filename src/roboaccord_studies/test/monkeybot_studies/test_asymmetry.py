"""Symmetry of gaits about the vertical: what reversibility implies, and the search for others."""

from __future__ import annotations

import lagrangian
import numpy as np
import pytest
from monkeybot.gaits.gait import wrap
from monkeybots import REPORT
from roboaccord_studies.monkeybot.find import TILT_SPREAD, find_gaits, random_starts
from roboaccord_studies.monkeybot.kinds import CLOCKED, PASSIVE
from roboaccord_studies.monkeybot.orbits import shipped_gait
from roboaccord_studies.monkeybot.symmetry import asymmetry
from scipy.integrate import solve_ivp

pytestmark = pytest.mark.thorough


def test_a_passive_gait_is_its_own_mirror_image_in_time_and_hangs_straight_half_way():
    """A start that is off by 1e-8 grows tenfold in a swing."""
    apart = asymmetry(shipped_gait("passive", REPORT), REPORT)
    assert apart.mirror < 1e-5 and apart.straight < 1e-5


def test_a_driven_gait_is_not_and_an_independent_integration_says_the_same():
    """Lagrange's equations with a torque on the elbow, by SciPy."""
    orbit = shipped_gait("clocked", REPORT)
    torque = orbit.controls["torque"]

    def slope(_, s):
        x, v = np.array([0.0, 0.0, *s[:2]]), np.array([0.0, 0.0, *s[2:]])
        return [*s[2:], *lagrangian.acceleration(REPORT, x, v, torque, "a")[2:]]

    times = np.linspace(0.0, orbit.period, 201)
    found = solve_ivp(
        slope, (0.0, orbit.period), orbit.start, method="DOP853", t_eval=times, rtol=1e-11,
        atol=1e-11,
    )  # fmt: skip
    q = found.y[:2].T
    apart = asymmetry(orbit, REPORT)
    assert apart.mirror == pytest.approx(np.abs(wrap(q + q[::-1])).max(), abs=1e-6)
    assert apart.straight == pytest.approx(np.abs(wrap(q)).max(axis=1).min(), abs=1e-6)
    assert apart.mirror > 1.0
    # Both hands are level at both ends: those poses are mirror images.
    assert wrap(q[0] + q[-1]) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_gaits_with_a_flight_have_no_swing_to_compare():
    assert asymmetry(shipped_gait("flying", REPORT), REPORT) is None


def test_starts_from_anywhere_have_level_hands_and_the_elbow_on_either_side():
    starts = random_starts(CLOCKED, {"period": 0.9, "torque": 1.0}, 200, 3, anywhere=True)
    level = starts[:, 0] + 0.5 * starts[:, 1] + 0.5 * np.pi
    assert np.abs(wrap(level)).max() <= 0.5 * TILT_SPREAD + 1e-12
    above = np.cos(starts[:, 0]) < 0.0
    assert 0.3 < above.mean() < 0.7


@pytest.mark.slow
def test_from_anywhere_all_passive_gaits_are_symmetric():
    """Facts: they rest at 0.58225 and 1.07740 rad; each walks in either direction."""
    found = find_gaits(PASSIVE, REPORT, {"period": 0.9}, samples=200, seed=0, anywhere=True)
    angles = {round(abs(float(wrap(orbit.start[:1])[0])), 5) for orbit in found}
    assert angles == {0.58225, 1.07740}
    for orbit in found:
        apart = asymmetry(orbit, REPORT)
        assert max(apart.mirror, apart.straight) < 1e-4
