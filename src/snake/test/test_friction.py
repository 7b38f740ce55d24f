"""The ellipse of friction: bounds, dissipation, and the same law in planar and spatial form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord import AccordError, make_simulator
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.sliding_friction import (
    CFM,
    EllipseFriction,
    ellipse_force,
    pyramid_force,
    rigid_loads,
)
from running import run_in
from snake.model import ground, kinematics
from snake.model.coordinates import PlanarSnake

pytestmark = pytest.mark.thorough

speeds = st.floats(-10, 10, allow_nan=False)


@given(speeds, speeds, st.floats(0.01, 2), st.floats(0.01, 2), st.floats(1e-4, 0.1))
@settings(max_examples=200, deadline=None)
def test_force_stays_in_the_ellipse_and_dissipates(along, across, mu_a, mu_c, eps):
    """(f_a/mu_a)^2 + (f_c/mu_c)^2 <= N^2, and f . v <= 0."""
    load = 1.4715
    fa, fc = ellipse_force(along, across, mu_a, mu_c, load, eps)
    assert (fa / mu_a) ** 2 + (fc / mu_c) ** 2 <= load**2 * (1 + 1e-12)
    assert fa * along + fc * across <= 0


def test_full_sliding_reaches_coulombs_force_on_each_axis():
    """Far above the slip speed the force is mu N."""
    assert ellipse_force(5.0, 0.0, 0.1, 1.0, 2.0, 1e-4)[0] == pytest.approx(-0.2, rel=1e-6)
    assert ellipse_force(0.0, 5.0, 0.1, 1.0, 2.0, 1e-4)[1] == pytest.approx(-2.0, rel=1e-6)


def test_maximum_dissipation():
    """No other force of the ellipse takes more power from the slip."""
    v = np.array([0.8, 0.3])
    mu = np.array([0.1, 1.0])
    f = np.array(ellipse_force(*v, *mu, 1.0, 1e-9))
    angle = np.linspace(0, 2 * np.pi, 3601)
    others = mu * np.column_stack([np.cos(angle), np.sin(angle)])
    assert f @ v <= (others @ v).min() + 1e-7


@pytest.mark.parametrize("points", ["centre", "corners"])
@pytest.mark.parametrize("beyond", ["null", "{x: 0.3, mu_along: 0.7, mu_across: 0.2}"])
@pytest.mark.parametrize("law", ["ellipse", "pyramid, loads: rigid"])
def test_planar_and_spatial_forms_agree(setup_with, random_state, points, beyond, law):
    """The engines' form of the law gives what the reference's gives, also on changing ground."""
    setup = setup_with(f"friction={{law: {law}, points: {points}, beyond: {beyond}}}")
    law: EllipseFriction = setup.force_law
    state, _ = random_state(setup, np.random.default_rng(2))
    chain = PlanarSnake(setup.parameters)
    n = setup.parameters.links
    y = chain.pack(state)
    c, s, w = np.cos(y[2 : n + 2]), np.sin(y[2 : n + 2]), y[n + 4 :]
    vx, vy, fx, fy, moment = np.empty((5, n))
    kinematics.link_velocities(chain.body, c, s, y[n + 2], y[n + 3], w, vx, vy)
    places = np.array([_place(chain, y, i) for i in range(n)])
    friction, _ = ground.friction_of(setup)
    ground.ground_forces(
        chain.body, c, s, y[0], y[n + 2], y[n + 3], w, friction, law.points, fx, fy, moment
    )
    zero = np.zeros(n)
    rotation = np.zeros((n, 3, 3))
    rotation[:, 0, 0], rotation[:, 0, 1] = c, -s
    rotation[:, 1, 0], rotation[:, 1, 1] = s, c
    rotation[:, 2, 2] = 1
    force, torque = law.wrenches(
        LinkMotion(
            rotation, places, np.column_stack([vx, vy, zero]), np.column_stack([zero, zero, w])
        )
    )
    np.testing.assert_allclose(force, np.column_stack([fx, fy, zero]), atol=1e-12)
    np.testing.assert_allclose(torque[:, 2], moment, atol=1e-12)


def _place(chain, y, link):
    """Return the centre of a link (3,), summed up joint by joint from the centre of mass."""
    a, b = chain.body[:2]
    n = chain.parameters.links
    u = np.column_stack([np.cos(y[2 : n + 2]), np.sin(y[2 : n + 2]), np.zeros(n)])
    behind = [
        sum((a * u[k] + b * u[k + 1] for k in range(i, n - 1)), np.zeros(3)) for i in range(n)
    ]
    return np.array([*y[:2], 0.0]) + behind[link] - np.mean(behind, axis=0)


@pytest.mark.parametrize(
    ("beyond", "message"),
    [
        ("{x: 1, mu_along: 0.5}", "beyond.mu_across"),
        ("{x: 1, mu_along: 0.5, mu_acros: 1}", "did you mean friction.beyond.mu_across"),
        ("{x: 1, mu_along: -0.5, mu_across: 1}", "negative"),
    ],
)
def test_a_wrong_change_of_ground_is_refused_in_one_line(setup_with, beyond, message):
    """Missing and mistyped keys, and values that no ground has."""
    with pytest.raises(AccordError, match=message):
        setup_with(f"friction.beyond={beyond}")


@pytest.mark.parametrize("engine", ["mujoco", "dart"])
def test_engines_cross_a_change_of_ground_like_the_reference(setup_with, engine):
    """The line is not located inside a step, so even Runge-Kutta 4 is of first order here.

    DART's distance halves with the step. MuJoCo takes the same steps as the reference; but a link
    that is at the line within round-off at a stage can be beyond it in one and not in the other,
    which makes one stage of difference. The error of the step is of such stages, and bounds it.
    """

    def last(name, step):
        setup = setup_with(
            "friction.beyond={x: 0.8, mu_along: 0.5, mu_across: 0.8}", f"physics_step={step}"
        )
        return run_in(setup, name, duration=1.5).position

    truth = last("reference", 1e-4)
    errors = [np.abs(last(engine, step) - truth).max() for step in (1e-3, 5e-4)]
    assert errors[0] / errors[1] > 1.7
    if engine == "mujoco":
        assert np.abs(last(engine, 1e-3) - last("reference", 1e-3)).max() < errors[0]


def test_a_sliding_robot_stops_after_the_distance_of_coulomb(setup_with):
    """Pushed along its body at v, the snake slides v^2 / (2 mu g)."""
    from roboaccord import Command

    setup = setup_with(
        "initial.twist=[0.5,0,0,0,0,0]", "friction.slip_speed=0.0001", "physics_step=0.00001"
    )
    simulator = make_simulator(setup)
    idle = Command(np.zeros(len(setup.joints)))
    for _ in range(700):
        state = simulator.step(idle, 1e-3)
    expected = 0.5**2 / (2 * 0.1 * setup.parameters.gravity)
    assert state.position[0] == pytest.approx(expected, rel=2e-3)
    assert np.abs(state.twist).max() < 1e-3


@given(speeds, speeds, st.floats(0.01, 2), st.floats(0.01, 2))
@settings(max_examples=100, deadline=None)
def test_the_pyramid_is_the_ellipse_on_each_axis_alone(along, across, mu_a, mu_c):
    """One axis does not know of the other's slip, and alone it is the ellipse's."""
    both = pyramid_force(along, across, mu_a, mu_c, 2.0, 1e-3)
    alone = pyramid_force(along, 0.0, mu_a, mu_c, 2.0, 1e-3)[0]
    assert both == (alone, pyramid_force(0.0, across, mu_a, mu_c, 2.0, 1e-3)[1])
    assert alone == pytest.approx(ellipse_force(along, 0.0, mu_a, 0.0, 2.0, 1e-3)[0], abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rigid_loads_are_those_of_the_solvers_matrix(seed):
    """(A + CFM diag A) N = b for all contacts at once, with A = J M^-1 J' of heave and tilt."""
    rng = np.random.default_rng(seed)
    n, mass, gyration = 9, 0.15, np.array([2e-3, 3e-3])
    points = rng.uniform(-0.05, 0.05, (4, 2))
    x, y, heading = rng.uniform(-1, 1, (3, n))
    c, s = np.cos(heading), np.sin(heading)
    loads = np.empty((n, 4))
    rigid_loads(x, y, c, s, points, mass * 9.81, gyration, loads)
    place = np.stack([x - x.mean(), y - y.mean()], axis=1)
    turn = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
    own = mass * np.einsum("nij,j,nkj->ik", turn, gyration[::-1], turn)
    inertia = np.zeros((3, 3))
    inertia[0, 0], inertia[1:, 1:] = n * mass, mass * place.T @ place + own
    arms = (place[:, None] + np.einsum("nij,kj->nki", turn, points)).reshape(-1, 2)
    jacobian = np.column_stack([np.ones(len(arms)), arms])
    a = jacobian @ np.linalg.inv(inertia) @ jacobian.T
    weight = jacobian @ np.array([9.81, 0.0, 0.0])
    expected = np.linalg.solve(a + CFM * np.diag(np.diag(a)), weight)
    assert loads.ravel() == pytest.approx(expected, rel=1e-7)
    assert loads.sum() == pytest.approx(n * mass * 9.81, rel=CFM) and loads.min() > 0.0
    assert loads.max() > 1.5 * loads.min()
