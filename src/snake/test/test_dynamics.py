"""The O(N) dynamics against the dense equations, and the laws of mechanics."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord import Command, make_controller, make_simulator
from running import setup_of
from snake.model import dynamics, ground, tracking
from snake.model.coordinates import PlanarSnake


def forward(setup, y, tau):
    """Return p'' and th'' of the solver under test, without friction."""
    n = setup.parameters.links
    acc, work = np.empty(n + 2), np.empty((12, n))
    body = PlanarSnake(setup.parameters).body
    dynamics.accelerations(body, y, tau, ground.NO_FRICTION, ground.NO_POINTS, work, acc)
    return acc


@given(seed=st.integers(0, 2**32 - 1), joints=st.sampled_from([1, 2, 3, 20, 21]))
@settings(max_examples=40, deadline=None)
def test_accelerations_are_those_of_the_dense_equations(seed, joints):
    """1e-9 relative: the condition of M is about 1e4 at 21 joints, round-off 1e-16."""
    setup = setup_of("snake", "serpenoid", f"parameters.joints={joints}")
    rng = np.random.default_rng(seed)
    n = setup.parameters.links
    y = rng.normal(size=2 * n + 4)
    tau = rng.normal(size=n - 1)
    _, expected = oracle.accelerations(setup.parameters, y[2 : n + 2], y[n + 4 :], tau)
    found = forward(setup, y, tau)
    np.testing.assert_allclose(found[2:], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_friction_enters_as_the_dense_equations_say(setup_with):
    """Ground forces at the corners, taken from the law, put through both formulations."""
    setup = setup_with("friction.points=corners")
    rng = np.random.default_rng(3)
    n = setup.parameters.links
    y, tau = rng.normal(size=2 * n + 4), rng.normal(size=n - 1)
    body = PlanarSnake(setup.parameters).body
    friction, points = ground.friction_of(setup)
    th, w = y[2 : n + 2], y[n + 4 :]
    fx, fy, moment = np.empty((3, n))
    acc, work = np.empty(n + 2), np.empty((12, n))
    dynamics.accelerations(body, y, tau, friction, points, work, acc)
    ground.ground_forces(
        body, *work[:2], y[0], y[n + 2], y[n + 3], w, friction, points, fx, fy, moment
    )
    centre, turn = oracle.accelerations(
        setup.parameters, th, w, tau, np.column_stack([fx, fy]), moment
    )
    np.testing.assert_allclose(acc[:2], centre, rtol=1e-12)
    np.testing.assert_allclose(acc[2:], turn, rtol=0, atol=1e-9 * np.abs(turn).max())


def test_inverse_dynamics_undoes_forward_dynamics(frictionless):
    """Efforts from wanted joint accelerations give those accelerations."""
    rng = np.random.default_rng(5)
    n = frictionless.parameters.links
    y, wanted = rng.normal(size=2 * n + 4), rng.normal(size=n - 1)
    tau, none = np.empty(n - 1), np.zeros(n)
    body = PlanarSnake(frictionless.parameters).body
    tracking.inverse_dynamics(body, y[2 : n + 2], y[n + 4 :], wanted, none, none, none, tau)
    found = forward(frictionless, y, tau)[2:]
    np.testing.assert_allclose(found[:-1] - found[1:], wanted, atol=1e-8)


def test_states_survive_the_change_of_coordinates(setup_with, random_state):
    """Pack and unpack are each other's inverses, to round-off."""
    setup = setup_with()
    chain = PlanarSnake(setup.parameters)
    for seed in range(20):
        state, effort = random_state(setup, np.random.default_rng(seed))
        back = chain.unpack(chain.pack(state), 0.0, effort)
        for name in ("q", "qd", "position", "orientation", "twist"):
            np.testing.assert_allclose(getattr(back, name), getattr(state, name), atol=1e-13)


def test_without_friction_momenta_are_kept_and_energy_is_work(frictionless):
    """Torque-driven for 5 s: centre of mass and angular momentum 1e-9, energy - work 1e-8 J."""
    setup = frictionless
    p = setup.parameters
    simulator = make_simulator(setup)
    chain = PlanarSnake(p)
    state = simulator.reset(setup.initial)
    start = chain.pack(state)
    work = worst_centre = worst_angular = 0.0
    controller = make_controller(setup)  # its efforts keep the joints off their stops
    for _ in range(5000):
        command = controller.update(state, None)
        after = simulator.step(command, 1e-3)
        work += command.effort @ (after.q - state.q)
        state = after
        y = chain.pack(state)
        _, angular, energy = oracle.momenta(p, y)
        worst_centre = max(worst_centre, np.abs(y[:2] - start[:2]).max())
        worst_angular = max(worst_angular, abs(angular))
    assert np.abs(state.q).max() > 0.2, "the snake must move for this to say anything"
    assert not simulator.take_events(), "a stop would take energy"
    assert worst_centre < 1e-9
    assert worst_angular < 1e-9
    assert energy > 1e-3 and energy == pytest.approx(work, abs=1e-8)


def test_runge_kutta_is_of_fourth_order(frictionless):
    """Halving the step divides the error by 16."""
    ends = []
    for step in ("0.004", "0.002", "0.001", "0.0000625"):
        setup = setup_of(
            "snake",
            "serpenoid",
            "friction={law: none}",
            "control_period=0.004",
            f"physics_step={step}",
        )
        simulator = make_simulator(setup)
        effort = np.linspace(-1e-3, 1e-3, len(setup.joints))
        for _ in range(50):
            state = simulator.step(Command(effort), 0.004)
        ends.append(state.q)
    errors = [np.abs(q - ends[-1]).max() for q in ends[:-1]]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)
