"""Inelastic joint stops: where they act, what they conserve, what they take."""

from collections import Counter

import numpy as np
import oracle
import pytest
from roboaccord import Command, make_simulator
from running import run_in, setup_of
from snake.model.coordinates import PlanarSnake
from snake.model.stops import first_violation
from snake.simulators.steps import advance_rows


@pytest.fixture
def two_links(setup_with):
    """Return two links on ice, one joint."""
    return setup_with("parameters.joints=1", "friction={law: none}")


@pytest.mark.parametrize("sign", [1, -1])
def test_the_joint_that_is_first_at_its_stop_is_found_when_it_is(sign):
    """Joints that move along a cubic in time, the second at its stop after 0.3 of the step."""
    h, limit, n = 1e-3, 0.5, 4

    def state(x):
        angles = [sign * (limit + (x - root) * (x * x + 1.0)) for root in (0.7, 0.3, 0.9)]
        rates = [sign * (3 * x * x - 2 * root * x + 1.0) / h for root in (0.7, 0.3, 0.9)]
        headings = [-np.cumsum([0.1, *of_joints]) for of_joints in (angles, rates)]
        return np.concatenate([np.zeros(2), headings[0], np.zeros(2), headings[1]])

    side = np.zeros(n - 1, dtype=np.int8)
    joint, direction, fraction = first_violation(state(0.0), state(1.0), h, limit, side)
    assert (joint, direction) == (1, sign)
    assert fraction == pytest.approx(0.3, abs=1e-9)


def test_steps_away_from_the_stops_are_those_of_the_kernel_with_impacts(setup_with):
    """To the last bit, whichever kernel makes which step of a motion into its stops and out."""
    setup = setup_with("duration=0.1")
    first, second = make_simulator(setup), make_simulator(setup)
    rng, seen = np.random.default_rng(4), set()
    rows = np.stack([np.concatenate([rng.normal(0.0, 0.1, 24), rng.normal(0.0, 4.0, 24)])] * 2)
    efforts = rng.normal(0.0, 0.3, (2, 21))
    records = [first._make_record(2), second._make_record(2)]
    others = rows.copy()
    for counts in rng.integers(1, 8, (40, 2)):
        first._advance_rows(rows, efforts, counts, records[0])
        seen |= {*(records[0].steps_taken - counts).tolist()}
        records[1].steps_taken[:] = 0
        advance_rows(second._model, others, efforts, second.physics_step, counts, records[1])
        np.testing.assert_array_equal(rows, others)
        for ours, other in zip(records[0][:3], records[1][:3], strict=True):
            np.testing.assert_array_equal(ours, other)
    assert 0 in seen and len(seen) > 2  # all, some and none away from the stops


def test_a_driven_joint_comes_to_rest_at_its_stop(two_links):
    """A constant effort drives the joint to the limit, once, and holds it there."""
    simulator = make_simulator(two_links)
    events = []
    for _ in range(300):
        state = simulator.step(Command(np.array([0.1])), 1e-3)
        events += simulator.take_events()
    limit = two_links.parameters.joint_limit
    assert state.q[0] == pytest.approx(limit, abs=1e-8) and abs(state.qd[0]) < 1e-8
    assert [e.kind for e in events] == ["joint_stop"]
    assert events[0].subject == "joint_01"


def test_time_and_impulse_of_the_impact_are_those_of_the_closed_form(two_links):
    """One joint on ice: M_r q'' = tau while the links' angle hardly changes M_r.

    By symmetry (a differs from b by 10 %) the reduced inertia is taken from the dense equations
    at each angle, and the impact time from energy: v^2 = 2 tau q / M_r at the stop.
    """
    p = two_links.parameters
    simulator = make_simulator(two_links)
    tau = 1e-3
    events = []
    energy_before = 0.0
    chain = PlanarSnake(p)
    while not events:
        state = simulator.state()
        energy_before = oracle.momenta(p, chain.pack(state))[2]
        simulator.step(Command(np.array([tau])), 1e-3)
        events = list(simulator.take_events())
    # All work becomes kinetic energy until the stop: E = tau * limit there.
    speed_energy = tau * p.joint_limit
    th = oracle.headings(np.array([p.joint_limit]), 0.0)
    K = oracle.lever_matrix(2, p.pivot_behind_front, p.pivot_ahead_of_rear)
    G = p.link_mass * K.T @ K
    M = p.inertia_vertical * np.eye(2) + G * np.cos(th[:, None] - th[None, :])
    E = np.array([1.0, -1.0])
    reduced = 1.0 / (E @ np.linalg.solve(M, E))
    # With zero angular momentum the whole energy is in the joint's own motion.
    assert events[0].impulse == pytest.approx(np.sqrt(2 * speed_energy * reduced), rel=1e-6)
    assert energy_before < speed_energy


@pytest.mark.parametrize("drive", [0.3, 10.0])
def test_impacts_take_energy_and_no_joint_passes_its_stop(setup_with, drive):
    """Bang-bang for 0.4 s: energy stays below work, linear momentum is kept, stops hold.

    Angular momentum is kept by each impact, and by the impulses of steps with too many of them to
    locate. What is left is the integrator's error between impacts: over four seeds up to 0.013 %
    of the scale sqrt(2 E I) at 0.3 N m. Moving joints inside without regard to momentum, instead
    of by impulses, gave 0.2 to 2 %; 0.1 % tells the two apart. At 10 N m links turn by 0.4 rad in
    a step, which is not resolved: 2 to 7 %.
    """
    setup = setup_with("friction={law: none}")
    p = setup.parameters
    simulator = make_simulator(setup)
    rng = np.random.default_rng(1)
    state = simulator.state()
    work, impacts = 0.0, 0
    for tick in range(400):
        if tick % 100 == 0:
            effort = rng.choice([-drive, drive], p.joints)
        after = simulator.step(Command(effort), 1e-3)
        work += effort @ (after.q - state.q)
        state = after
        impacts += len(simulator.take_events())
        assert np.abs(state.q).max() < p.joint_limit + 1e-8
    linear, angular, energy = oracle.momenta(p, PlanarSnake(p).pack(state))
    assert impacts > p.joints
    assert np.abs(linear).max() < 1e-9
    assert 0 < energy < work
    if drive < 1:
        inertia = p.mass * (p.links * 0.1) ** 2 / 12
        assert abs(angular) < 1e-3 * np.sqrt(2 * energy * inertia)


def test_one_impact_keeps_angular_momentum_to_round_off(setup_with, random_state):
    """Joints put at their stops, moving outwards: momenta stay, those joints stop, energy falls."""
    from snake.model.stops import impact

    setup = setup_with()
    p = setup.parameters
    state, _ = random_state(setup, np.random.default_rng(4))
    y = PlanarSnake(p).pack(state)
    side = np.zeros(p.joints, dtype=np.int8)
    side[[0, 3, 4, 5, 20]] = [1, -1, 1, 1, -1]
    before = oracle.momenta(p, y)
    impact(PlanarSnake(p).body, y, side)
    after = oracle.momenta(p, y)
    w = y[p.links + 4 :]
    outward = side * (w[:-1] - w[1:])
    assert outward.max() < 1e-12
    assert after[1] == pytest.approx(before[1], abs=1e-12) and after[2] < before[2]


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco"])
def test_a_stop_is_logged_when_the_joint_comes_to_it(engine):
    """As often as angles at the ticks come within 1 urad of a limit after 0.1 mrad off it.

    Bang-bang efforts of 10 N m make impacts by the hundred in each tick.
    """
    changes = ["duration=0.4"]
    setup = setup_of("snake", "lateral_undulation", *changes)
    motion = run_in(setup, engine, duration=0.4)
    gaps = setup.parameters.joint_limit - np.abs(motion.q)
    expected = dict.fromkeys(motion.joints, 0)
    for name, gap in zip(motion.joints, gaps.T):
        there = gap[0] < 1e-6
        for distance in gap:
            expected[name] += distance < 1e-6 and not there
            there = distance < 1e-6 or (there and distance < 1e-4)
    found = Counter(event.subject for event in motion.events)
    assert found == Counter(expected) and found.total() > 21
    times = [event.time for event in motion.events]
    assert times == sorted(times)


def test_the_other_stop_is_another_event(two_links):
    """Pushed to one stop and held there, then to the other; each is hit with an impulse."""
    simulator = make_simulator(two_links)
    events = []
    for tick in range(600):
        simulator.step(Command(np.array([0.1 if tick < 300 else -0.1])), 1e-3)
        events += simulator.take_events()
    assert [event.kind for event in events] == ["joint_stop"] * 2
    assert all(event.impulse > 0.0 for event in events)
