"""Gaits that repeat for ever: they do, and their figures are as stated."""

import numpy as np
import pytest
from monkeybot.gaits.collisionless import find_collisionless, start_of
from monkeybot.gaits.gait import evaluate
from monkeybot.model.coordinates import Mode
from monkeybot.model.motion import Motion
from monkeybots import REPORT
from roboaccord import AccordError
from roboaccord_studies.monkeybot.kinds import (
    CLOCKED,
    FLYING,
    KINDS,
    LEVEL_TRIGGERED,
    PASSIVE,
    TWO_STEP,
    gait_of,
)
from roboaccord_studies.monkeybot.orbits import find_orbit

NEAR = np.array([-0.95, -1.25, 0.4, 0.45])  # a start of a stable clocked gait, roughly


@pytest.fixture(scope="module")
def clocked():
    return find_orbit(CLOCKED, REPORT, {"period": 0.935, "torque": 0.7}, NEAR)


def test_a_clocked_gait_is_stable_and_horizontal(clocked):
    """Facts: constant torque, T between 0.922 and 0.949 s, torque between 0.50 and 0.77 N m."""
    assert 0.50 < clocked.controls["torque"] < 0.77 and clocked.spectral_radius < 1.0
    assert abs(clocked.drop) < 1e-9 and clocked.stride > 0.9


def test_the_level_triggered_gait_is_the_same_orbit_and_keeps_its_height(clocked):
    found = find_orbit(LEVEL_TRIGGERED, REPORT, {"torque": clocked.controls["torque"]}, NEAR)
    assert found.start == pytest.approx(clocked.start, abs=1e-9)
    assert found.period == pytest.approx(clocked.period, abs=1e-9)
    assert np.abs(found.multipliers).min() < 1e-6  # what leaves the line is gone at the next change
    away = evaluate(found.gait, REPORT, found.start + np.array([0.05, -0.1, 0.2, -0.3]))
    assert abs(away.travel[0, 1]) < 1e-9


def test_work_is_what_the_motor_gives_and_takes(clocked):
    """Over a cycle the motor's net work is what the impact takes; both signs together are more."""
    torque = clocked.controls["torque"]
    motion = Motion(REPORT, np.array([*clocked.start, 0.0, 0.0, 0.0, 0.0]))
    rates = []
    for _ in range(20000):
        motion.advance(clocked.period / 20000, torque)
        rates.append(motion.u[3])
    expected = torque * np.abs(rates).mean() * clocked.period
    assert clocked.work == pytest.approx(expected, rel=1e-3)
    before = motion.energies[0]
    motion.switch_to(Mode.SWING_B)
    assert before - motion.energies[0] == pytest.approx(
        torque * np.mean(rates) * clocked.period, rel=2e-3
    )


def test_the_passive_gait_is_the_collisionless_one():
    gait = find_collisionless(REPORT, 0.58)
    found = find_orbit(PASSIVE, REPORT, {"period": 0.864}, start_of(gait.angle)[:4])
    assert found.period == pytest.approx(gait.period, abs=1e-7)
    assert found.stride == pytest.approx(gait.stride, abs=1e-7) and found.work == 0.0


def test_a_flight_of_no_time_at_all_is_a_change_of_hands(clocked):
    controls = {"period": 0.935, "flight": 1e-9, "torque": clocked.controls["torque"]}
    found = find_orbit(FLYING, REPORT, controls, clocked.start)
    assert found.start == pytest.approx(clocked.start, abs=1e-6)
    hop = find_orbit(FLYING, REPORT, {**controls, "flight": 0.007}, clocked.start)
    assert hop.spectral_radius < 1.0  # facts: stable with flights of 7 to 16 ms


def test_two_equal_steps_are_one_step_twice(clocked):
    torque = clocked.controls["torque"]
    controls = {"first": 0.935, "second": 0.935, "torque": torque, "more": 0.0}
    found = find_orbit(TWO_STEP, REPORT, controls, clocked.start)
    assert found.stride == pytest.approx(clocked.stride, abs=1e-9)
    assert found.changes == 2
    squares = np.sort_complex(clocked.multipliers**2)
    assert np.sort_complex(found.multipliers) == pytest.approx(squares, abs=1e-6)


def test_a_gait_that_climbs(clocked):
    found = find_orbit(CLOCKED, REPORT, dict(clocked.controls), clocked.start, rise=0.005)
    assert found.drop == pytest.approx(-0.005, abs=1e-9)


def test_what_cannot_be_found_or_made_is_one_line():
    with pytest.raises(AccordError, match="no gait of kind clocked was found"):
        find_orbit(CLOCKED, REPORT, {"period": 0.2, "torque": 0.0}, NEAR)
    with pytest.raises(AccordError, match="clocked takes period, torque"):
        gait_of(KINDS["clocked"], {"period": 0.9})
