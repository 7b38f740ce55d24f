"""Multipliers by variational equations in other coordinates, by another integrator."""

from dataclasses import replace

import lagrangian
import linearised as lin
import numpy as np
import pytest
from hypothesis import given, settings
from monkeybot.gaits.gait import Gait, evaluate, horizontal, map_slope
from monkeybot.gaits.orbits import shipped_data, shipped_gait
from monkeybot.gaits.search import find_collisionless, refine, start_of
from monkeybot.model.events import NO_EVENT, VERTICAL, energy_restored, level, linear
from monkeybot.model.hybrid import Phase, Then
from monkeybots import REPORT as ROBOT
from monkeybots import ROUGH, UNLIKE, oracle, states
from roboaccord import AccordError
from variational import passage, variational_slope

NEAR = np.array([-0.95, -1.25, 0.4, 0.45])


def seen(u):
    """Return a state of the kernels as one of the links' own angles."""
    X = np.zeros(8)
    X[lin.MOVED], X[lin.HAND], X[lin.SPEED] = lin.TO_LINKS @ u[:4], u[4:6], u[6:]
    return X


def differences(function, X, step=1e-5):
    """Return a derivative by central differences."""
    sides = step * np.eye(len(X))
    return np.array([(function(X + s) - function(X - s)) / (2.0 * step) for s in sides]).T


def agrees(gait, parameters, start, relative=1e-8):
    """Compare both derivatives, the ends and the times of a cycle."""
    found, other = (
        passage(gait, parameters, start),
        evaluate(gait, parameters, start, tolerance=1e-13),
    )
    slope = map_slope(gait, parameters, start)
    assert found.final == pytest.approx(other.final[0], abs=1e-10)
    assert found.times == pytest.approx(other.times[0], abs=1e-11)
    assert found.travel == pytest.approx(other.travel[0], abs=1e-11)
    assert np.abs(found.slope - slope).max() < relative * np.abs(slope).max()
    return found.slope


@given(states)
@settings(max_examples=30, deadline=None)
def test_the_equations_are_the_lagrangian_s(u):
    k, X = lin.links(ROUGH, 0), seen(u)
    for hands in ("a", ""):
        x, v = oracle(u * (1.0 if not hands else np.array([1, 1, 1, 1, 1, 1, 0, 0])))
        expected = lagrangian.acceleration(ROUGH, x, v, 0.7, hands)
        rate, _ = lin.motion(k, X, 0.7, flight=not hands)
        angles = np.array([expected[2], expected[2] + expected[3]])
        assert rate[4:6] == pytest.approx(angles, rel=1e-9, abs=1e-8)
        if not hands:
            assert rate[6:] == pytest.approx(expected[:2], rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("flight", [False, True])
def test_derivatives_are_those_of_the_functions(flight):
    """Central differences, whose error is step^2 times third derivatives, relative to the whole."""
    rng = np.random.default_rng(5)
    for hand in (0, 1):
        k = lin.links(ROUGH, hand)
        for X in rng.uniform(-2.0, 2.0, (10, 8)):
            for function in (
                lambda X, k=k: lin.motion(k, X, 0.7, flight=flight),
                lambda X, k=k: lin.energy(k, X),
                lambda X, k=k: lin.flip(k, X),
                lambda X, k=k: lin.impact(k, X),
            ):
                slope = function(X)[1]
                rough = differences(lambda X, f=function: np.asarray(f(X)[0]), X)
                used = slice(None) if flight else [0, 1, 2, 3, 4, 5]  # a held hand has no speed
                assert slope[..., used] == pytest.approx(
                    rough[..., used], abs=1e-7 * (1.0 + np.abs(slope).max())
                )


@pytest.mark.parametrize("name", shipped_data())
def test_multipliers_of_shipped_gaits_are_those_of_differences(name):
    """To seven digits; issue 5 asks for four."""
    orbit = shipped_gait(name, ROBOT)
    values = np.linalg.eigvals(agrees(orbit.gait, ROBOT, orbit.start))
    for value in orbit.multipliers:
        assert np.abs(values - value).min() < 1e-7


def test_those_of_the_report_s_gait_with_its_events():
    """One multiplier is 1: energy is restored to that of the start, which the derivative knows."""
    gait = horizontal(10.0)
    start = np.array([0.0, 0.0, *refine(gait, ROBOT, np.array([0.63, 11.21])).rates])
    slope = agrees(gait, ROBOT, start, relative=1e-6)
    values = np.linalg.eigvals(slope[1:, 1:])
    assert np.abs(values - 1.0).min() < 1e-8


@pytest.mark.parametrize("parameters", [UNLIKE, ROUGH])
def test_unlike_links_friction_and_every_kind_of_end(parameters):
    """Release, grip, grip by the other hand, change and nothing; by clock and by event."""
    rising = linear("rising", th1=0.8, th2=0.3, w1=0.02, w2=0.01, above=-0.2)
    gait = Gait(
        "all",
        (
            Phase(rising, 0.4),
            Phase(torque=0.3, duration=0.1, then=Then.RELEASE),
            Phase(torque=0.2, duration=0.06, then=Then.GRIP),
            Phase(torque=-0.2, duration=0.12, then=Then.CHANGE),
            Phase(torque=0.1, duration=0.05, then=Then.RELEASE),
            Phase(duration=0.04, then=Then.GRIP_OTHER),
            Phase(duration=0.1),
        ),
    )
    agrees(gait, parameters, NEAR)


def test_unlike_links_level_by_their_tip_and_an_energy():
    gait = Gait(
        "level",
        (
            Phase(level(0.1), then=Then.CHANGE),
            Phase(energy_restored(0.2), 10.0, may_stop=True),
            Phase(VERTICAL),
        ),
        stop=VERTICAL,
    )
    agrees(gait, UNLIKE, np.array([0.0, 0.0, 0.5, 6.0]), relative=1e-7)


def test_a_stop_that_comes_first_ends_the_gait():
    gait = replace(horizontal(0.1), stop=linear("early", th1=1.0, above=-0.1))
    start = np.array([0.0, 0.0, 1.0, 12.0])
    slope = agrees(gait, ROBOT, start, relative=1e-6)
    assert slope[0] == pytest.approx(np.zeros(4), abs=1e-9)  # the end is at th1 = -0.1 for all
    assert passage(gait, ROBOT, start).times[2] == 0.0


def test_what_has_no_derivative_is_refused():
    missed = Gait("far", (Phase(linear("far", th1=1.0, above=50.0), duration=0.5),))
    with pytest.raises(AccordError, match="misses the event far"):
        variational_slope(missed, ROBOT, NEAR)
    rest = Gait("rest", (Phase(level(), then=Then.CHANGE),))
    angle = find_collisionless(ROBOT, 0.58).angle
    with pytest.raises(AccordError, match=r"grazes|misses"):
        variational_slope(rest, ROBOT, start_of(angle)[:4])


def test_a_phase_by_the_clock_needs_no_event():
    gait = Gait("still", (Phase(NO_EVENT, duration=0.0),))
    assert variational_slope(gait, ROBOT, NEAR) == pytest.approx(np.eye(4))
