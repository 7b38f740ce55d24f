"""Time steps with friction that sticks: held links, Coulomb's deceleration, order, stops."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from roboaccord import AccordError, make_simulator
from roboaccord.contract.sliding_friction import CFM
from roboaccord.contract.state import Command
from roboaccord.scenario.gazebo_contacts import by_contacts
from snake.model.coordinates import PlanarSnake

STICKS = ("friction.law=pyramid", "friction.slip_speed=0")
NONE = Command(np.zeros(21))


def run(setup, time, command=NONE, step=None):
    simulator = make_simulator(setup, physics_step=step)
    simulator.reset(setup.initial)
    return simulator.step(command, time)


@pytest.mark.slow
def test_a_straight_snake_brakes_by_coulombs_force_and_then_lies_still(setup_with):
    """The speed falls by mu g t to exactly 0, sideways by the coefficient across."""
    for axis, mu in ((0, 0.1), (1, 1.0)):
        twist = [0.0] * 6
        twist[axis] = 0.5
        setup = setup_with(*STICKS, f"initial.twist={twist}")
        stop = 0.5 / (mu * setup.parameters.gravity)
        state = run(setup, round(0.5 * stop, 3))
        left = 0.5 - mu * setup.parameters.gravity * state.time
        assert state.twist[axis] == pytest.approx(left, abs=1e-6)
        state = run(setup, round(stop + 0.1, 3))
        assert np.abs(state.twist).max() < 1e-7
        # The places move by the speed at the end of a step: h v / 2 less than the parabola's.
        assert state.position[axis] == pytest.approx(0.5 * 0.5 * stop - 0.5e-3 * 0.5, abs=3e-6)


def test_what_the_ground_can_hold_stays_where_it_is(setup_with):
    """Efforts turn no link where points at the centres can hold them; without sticking it creeps.

    One motion leaves all centres of a straight snake at rest, the zigzag of a w_i = -b w_i+1, and
    friction there holds nothing of it. Efforts a / b to 1 in two joints in a row give it no power.
    """
    front, rear, *_ = PlanarSnake(setup_with().parameters).body
    effort = np.zeros(21)
    effort[10:12] = 0.01 * front / rear, 0.01
    held, creeping = (run(setup_with(*law), 0.1, Command(effort)) for law in (STICKS, STICKS[:1]))
    assert np.abs(held.q).max() < 1e-6  # rounds end at 1e-8 m/s
    assert np.abs(creeping.q).max() > 1e-3
    zigzag = run(setup_with(*STICKS), 1e-3, Command(np.full(21, 0.01)))
    rates = front * zigzag.qd[:-1] + rear * zigzag.qd[1:]
    assert np.abs(rates).max() < 1e-3 * front * np.abs(zigzag.qd).max()


def test_it_converges_to_the_smoothed_law_of_small_slip_speed(setup_with, random_state):
    """By first order in the step, from a state in motion."""
    start, effort = random_state(setup_with(), np.random.default_rng(3))
    smooth = setup_with("friction.law=pyramid", "friction.slip_speed=1e-5", "initial.spread_q=0")
    exact = make_simulator(smooth, physics_step=1e-6)
    exact.reset(start)
    expected = exact.step(Command(effort), 4e-3).qd
    errors = []
    for step in (2e-4, 1e-4, 5e-5):
        simulator = make_simulator(setup_with(*STICKS), physics_step=step)
        simulator.reset(start)
        errors.append(np.abs(simulator.step(Command(effort), 4e-3).qd - expected).max())
    assert errors[2] < 0.4 * errors[0]
    assert errors[2] < 0.02 * np.abs(expected - start.qd).max()


@pytest.mark.parametrize("part", [0.3, 0.8])
def test_a_stop_takes_the_kinetic_energy_that_is_missing(setup_with, part):
    """A joint that a part of the step brings to its stop; on ice nothing else takes any.

    Energies are those of Lagrange's equations, where the step's own error is of first order.
    """
    ice = ("friction.mu_along=0", "friction.mu_across=1e-9")
    setup = setup_with(*STICKS, *ice, "parameters.joints=3")
    p, rate, h = setup.parameters, 2.0, 1e-5
    simulator = make_simulator(setup, physics_step=h)
    angles = np.array([0.1, p.joint_limit - part * h * rate, -0.3])
    simulator.meter()
    simulator.reset(replace(setup.initial, q=angles, qd=np.array([0.3, rate, 0.1])))
    before = oracle.momenta(p, PlanarSnake(p).pack(simulator.state()))[2]
    state = simulator.step(Command(np.zeros(3)), h)
    after = oracle.momenta(p, PlanarSnake(p).pack(state))[2]
    assert state.q[1] == pytest.approx(p.joint_limit, abs=1e-9)
    assert simulator.take_losses()["stops"] == pytest.approx(before - after, rel=1e-4)
    assert before - after > 1e-5  # J


def test_only_a_joint_that_passes_its_stop_unconstrained_is_held(setup_with):
    """DART's rule: a joint that its neighbour's stop drives past its own goes past it.

    Without stops it moves away from its stop, so that the passing comes from the impulse alone.
    """
    ice = ("friction.mu_along=0", "friction.mu_across=1e-9")
    setup = setup_with(*STICKS, *ice, "parameters.joints=3")
    limit, h = setup.parameters.joint_limit, 1e-4
    simulator = make_simulator(setup, physics_step=h)
    rates = np.array([0.0, 20.0, 0.0])
    simulator.reset(replace(setup.initial, q=np.array([0.0, limit, 0.0]), qd=rates))
    push = np.sign(simulator.step(Command(np.zeros(3)), h).qd[0])
    angles = np.array([push * (limit - 1e-6), limit, 0.0])
    simulator.reset(replace(setup.initial, q=angles, qd=np.array([-0.1 * push, 20.0, 0.0])))
    passed, yields = simulator.step(Command(np.zeros(3)), h), 2 * CFM * 20.0 * h
    assert passed.q[1] == pytest.approx(limit, abs=yields)
    assert push * passed.q[0] > limit + 1e-4
    assert push * simulator.step(Command(np.zeros(3)), h).q[0] <= push * passed.q[0] + yields


def test_engines_that_need_a_force_law_refuse_it(setup_with):
    setup = setup_with(*STICKS)
    with pytest.raises(AccordError, match="slip_speed: 0 works only in the reference"):
        setup.force_law.wrenches(None)
    with pytest.raises(AccordError, match="slip speed"):
        setup_with("friction.slip_speed=0")


def test_the_cross_check_takes_the_law_of_the_contacts(setup_with):
    setup, known = by_contacts(setup_with(), "spheres")
    assert known and setup.force_law.pyramid and setup.force_law.slip_speed == 0.0
    assert not by_contacts(setup_with(), "boxes")[1]
    assert not by_contacts(setup_with("friction={law: none}"), "spheres")[1]
