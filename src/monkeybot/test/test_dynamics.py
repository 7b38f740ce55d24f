"""The equations in a hand's frame, against the Lagrangian and against what must be kept."""

import lagrangian
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monkeybot.model import dynamics
from monkeybot.model.coordinates import Mode
from monkeybot.model.events import direction
from monkeybot.model.motion import Motion
from monkeybots import REPORT, ROUGH, UNLIKE, angles, oracle, states


def slope(p, flight, torque, u):
    slopes = np.zeros((1, 8))
    dynamics.derivative(p, flight, torque, u, slopes, 0)
    return slopes[0]


def flipped(parameters, u, hand=0):
    out = np.empty(8)
    dynamics.flip(parameters.row(hand), u, out)
    return out


def momenta(p, u):
    """Return the momentum in x and y [N s], and the angular one about the centre [N m s]."""
    th1, th2, w1, w2, vx, vy = u[0], u[1], u[2], u[3], u[6], u[7]
    m11, m12, _ = dynamics.inertia(p, np.cos(th2))
    x1, x2, y1, y2 = dynamics.coupling(p, th1, th1 + th2)
    m = p.m1 + p.m2
    px, py = x1 * w1 + x2 * w2, y1 * w1 + y2 * w2  # of the centre about the hand
    spin = m11 * w1 + m12 * w2 - (x1 * px + y1 * py) / m
    return m * vx + px, m * vy + py, spin


@settings(max_examples=100, deadline=None)
@given(states, st.floats(-5.0, 5.0))
@pytest.mark.parametrize("parameters", [REPORT, UNLIKE, ROUGH], ids=["report", "unlike", "rough"])
def test_motion_is_the_lagrangians(parameters, u, torque):
    x, v = oracle(u)
    expected = lagrangian.acceleration(parameters, x, v, torque, "")
    found = slope(parameters.row(), True, torque, u)
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(found[[6, 7, 2, 3]] - expected).max() < 1e-11 * scale
    u[6:] = 0.0
    x, v = oracle(u)
    expected = lagrangian.acceleration(parameters, x, v, torque, "a")
    found = slope(parameters.row(), False, torque, u)
    assert np.abs(found[2:4] - expected[2:]).max() < 1e-11 * max(1.0, np.abs(expected).max())


@settings(max_examples=100, deadline=None)
@given(states)
def test_the_mass_matrix_is_the_lagrangians(u):
    found, expected = dynamics.mass_matrix(UNLIKE.row(), u), oracle(u)[0]
    assert np.abs(found - lagrangian.mass_matrix(UNLIKE, expected)).max() < 1e-13


@settings(max_examples=100, deadline=None)
@given(states)
def test_energy_is_the_lagrangians(u):
    x, v = oracle(u)
    kinetic, potential = dynamics.energies(UNLIKE.row(), u)
    assert (kinetic, potential) == pytest.approx(
        lagrangian.energy(UNLIKE, x, v), rel=1e-12, abs=1e-12
    )


@settings(max_examples=100, deadline=None)
@given(states)
def test_flip_twice_is_the_identity_and_keeps_energy_and_momenta(u):
    seen = flipped(UNLIKE, u)
    again = flipped(UNLIKE, seen, hand=1)
    again[0] += 2.0 * np.pi * round((u[0] - again[0]) / (2.0 * np.pi))
    assert np.abs(again - u).max() < 1e-12
    # The energy and the momenta are the robot's, whichever hand is first.
    here = [*dynamics.energies(UNLIKE.row(0), u), *momenta(UNLIKE.row(0), u)]
    there = [*dynamics.energies(UNLIKE.row(1), seen), *momenta(UNLIKE.row(1), seen)]
    assert np.allclose(here, there, rtol=1e-11, atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(states)
def test_impact_stops_the_hand_and_takes_the_energy_that_its_impulse_does(u):
    p, before = UNLIKE.row(), u.copy()
    energy = dynamics.energies(p, u)[0]
    impulse = np.array(dynamics.impact(p, u))
    x, v = oracle(before)
    rates, expected = lagrangian.impact(UNLIKE, x, v, "a")
    assert np.abs(u[2:4] - rates[2:]).max() < 1e-11 * max(1.0, np.abs(rates).max())
    assert np.abs(impulse - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())
    assert not u[6:].any()
    lost = energy - dynamics.energies(p, u)[0]
    assert lost >= -1e-12 * max(1.0, energy)
    # An impulse does the work J (v- + v+) / 2 at the point where it acts.
    assert -0.5 * impulse @ before[6:] == pytest.approx(lost, rel=1e-9, abs=1e-10)


@settings(max_examples=100, deadline=None)
@given(angles, st.floats(-9.0, 9.0), st.sampled_from([(0.5, 0.83), (0.83, 0.5), (0.6, 0.6)]))
def test_direction_points_from_hand_to_hand(th1, th2, lengths):
    l1, l2 = lengths
    x = l1 * np.sin(th1) + l2 * np.sin(th1 + th2)
    y = -l1 * np.cos(th1) - l2 * np.cos(th1 + th2)
    found = direction(l1, l2, th1, th2)
    # Both hands together have no direction; of links of one length only the line is known.
    along, across = x * np.sin(found) - y * np.cos(found), x * np.cos(found) + y * np.sin(found)
    assert abs(across) < 1e-12
    assert l1 == l2 or along > 0.0
    small = 1e-7
    assert abs(direction(l1, l2, th1, th2 + small) - found) < 100 * small or np.hypot(x, y) < 1e-2


@settings(max_examples=20, deadline=None)
@given(states)
def test_flight_keeps_energy_and_momenta(u):
    motion = Motion(UNLIKE, u, Mode.FLIGHT)
    p = UNLIKE.row()
    before, energy = momenta(p, u), sum(motion.energies)
    motion.advance(0.5)
    after = momenta(p, motion.u)
    size = motion.energies[0] + 1.0  # J, and N s as well: the scale of what goes to and fro
    assert abs(sum(motion.energies) - energy) < 1e-10 * size
    assert abs(after[0] - before[0]) < 1e-10 * size
    assert abs(after[2] - before[2]) < 1e-10 * size
    weight = UNLIKE.mass * UNLIKE.gravity
    assert after[1] == pytest.approx(before[1] - 0.5 * weight, abs=1e-10 * size)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"mass_a": 0.0}, "mass_a is 0, and must be positive"),
        ({"mass_b": -1.0}, "mass_b is -1, and must be positive"),
        ({"inertia_a": -0.1}, "inertia_a is -0.1, and must be positive"),
        ({"length_b": 0.0}, "length_b is 0, and must be positive"),
        ({"centre_a": 0.7}, "centre_a is 0.7 m, outside link A of length 0.61 m"),
        ({"centre_b": -0.1}, "centre_b is -0.1 m, outside link B of length 0.61 m"),
        ({"gravity": float("nan")}, "gravity is nan, and must be finite"),
        ({"viscous_hand": -1.0}, "viscous_hand must not be negative"),
    ],
)
def test_a_robot_that_cannot_be_is_refused_in_one_line(changes, line):
    with pytest.raises(ValueError, match=line):
        REPORT.replace(**changes)
