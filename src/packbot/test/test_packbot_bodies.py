"""Bodies beside the arm, by the reference: closed forms of sliding, tipping, impact and flight.

All boxes are on the table of `push`, and the arm stands still, if a test does not say otherwise.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from packbot.simulators.reference import PackbotReference
from roboaccord.contract import BODY_ORIENTATION, BODY_TWIST, AccordError, Array
from roboaccord.description import share
from roboaccord.numerics import quaternion_matrix
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from running import book_of, run_in
from scipy.integrate import solve_ivp

pytestmark = pytest.mark.thorough

G, TABLE, EPS = 9.81, 0.4, 5e-3  # m/s^2; m, its height; m/s, slip speed of regularised friction
GAP = 1e-9  # m, tolerance of a gap


def beside(bodies: str, *changes: str, duration: float = 0.3) -> Setup:
    """Return `push` with other bodies, by the text of their YAML, and an arm at rest."""
    arm = "initial.q={shoulder: 3.001966, elbow1: -2.705260, elbow2: 1.361357, tilt: -1.570796}"
    rest = (f"duration={duration}", "controller={name: velocity}", arm, *changes)
    return Setup.of(load_scenario("packbot", "packbot", "push", [f"bodies={bodies}", *rest]))


def box(x: float, height: float, speed: float, mass: float = 1.5, depth: float = 0.12) -> str:
    """Return the YAML of a box on the table that slides along x."""
    at = f"position: [{x}, 0.0, {TABLE + 0.5 * height}]"
    size = f"size: [{depth}, 0.2, {height}]"
    return f"{{{size}, mass: {mass}, {at}, twist: [{speed}, 0, 0, 0, 0, 0]}}"


@settings(max_examples=5, deadline=None)
@given(mu=st.floats(0.2, 0.6), speed=st.floats(0.2, 0.6))
def test_a_sliding_box_stops_where_friction_has_taken_its_energy(mu: float, speed: float) -> None:
    """By v dv/ds = -mu g v / sqrt(v^2 + eps^2): the integral of sqrt(v^2 + eps^2) / (mu g).

    Without eps it is v^2 / (2 mu g). After 0.6 s and more the rest of the creeping is below 1 nm.
    """
    setup = beside(f"{{box: {box(1.0, 0.1, speed)}}}", f"friction.mu={mu}", duration=0.6)
    run = run_in(setup)
    assert run.bodies is not None
    root = np.hypot(speed, EPS)
    distance = 0.5 * (speed * root + EPS**2 * np.arcsinh(speed / EPS)) / (mu * G)
    gone = run.bodies[-1, 0, 0] - run.bodies[0, 0, 0]
    assert gone == pytest.approx(distance, abs=1e-6)
    assert distance == pytest.approx(speed**2 / (2 * mu * G), rel=0.01)
    assert np.abs(run.bodies[:, 0, 1]).max() < 1e-9


@pytest.mark.parametrize("share_of_critical", [0.99, 1.01])
def test_a_box_tips_above_the_height_at_which_friction_outweighs_gravity(
    share_of_critical: float,
) -> None:
    """It slides with its centre b behind the front edge and h above: it tips if mu h > b.

    About the centre, I alpha = N (mu h - b), and the centre rises by b alpha: N = m (g + b alpha).
    """
    mu, depth = 0.5, 0.1
    height = share_of_critical * depth / mu  # twice b / mu, as the centre is at half the height
    setup = beside(f"{{box: {box(0.95, height, 1.0, depth=depth)}}}", f"friction.mu={mu}")
    run = run_in(setup, duration=0.05)
    assert run.bodies is not None
    b, h, square = 0.5 * depth, 0.5 * height, (depth**2 + height**2) / 12.0
    alpha = G * (mu * h - b) / (square - b * (mu * h - b))
    rates = run.bodies[:, 0, 11]  # about y
    if share_of_critical < 1.0:
        assert np.abs(rates).max() < 1e-9
    else:
        # To first order in time, by Richardson's extrapolation of two ticks from rest.
        first, second = rates[1] / run.time[1], rates[2] / run.time[2]
        assert 2.0 * first - second == pytest.approx(alpha, rel=2e-2)


@settings(max_examples=4, deadline=None)
@given(mass=st.floats(0.2, 5.0), speed=st.floats(0.1, 1.0))
def test_two_boxes_that_meet_go_on_together_with_their_momentum(mass: float, speed: float) -> None:
    """Without friction and restitution, (m1 v) / (m1 + m2) of both, and the energy book closes."""
    pair = f"{{one: {box(1.0, 0.1, speed, mass)}, two: {box(1.13, 0.1, 0.0, 1.0)}}}"
    duration = round(0.01 / speed + 0.03, 2)
    setup = beside(pair, "friction.mu=0.0", duration=duration)
    run = run_in(setup)
    assert run.bodies is not None
    assert run.bodies[-1, :, 7] == pytest.approx(mass * speed / (mass + 1.0), rel=1e-7)
    (impact,) = [event for event in run.events if event.subject == "one/one two/two"]
    assert impact.impulse == pytest.approx(mass * speed / (mass + 1.0), rel=1e-7)
    touch = (0.01 - setup.contact.margin) / speed  # type: ignore[union-attr]
    assert impact.time == pytest.approx(touch, rel=1e-6)


def test_a_spinning_body_in_free_flight_follows_eulers_equations() -> None:
    """Against DOP853 on the quaternion and on Euler's equations, over a whole turn and more."""
    spin = np.array([3.0, 8.0, 1.5])
    twist = ", ".join(map(str, (0.4, 0.1, 3.0, *spin)))
    body = f"{{size: [0.1, 0.2, 0.3], mass: 2.0, position: [2.0, 0, 1.5], twist: [{twist}]}}"
    run = run_in(beside(f"{{brick: {body}}}", duration=0.8))
    assert run.bodies is not None
    inertia = 2.0 / 12.0 * np.array([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2])

    def slope(_: float, y: Array) -> Array:
        w, (x, y_, z, s) = y[4:], y[:4]
        turned = 0.5 * np.array(
            [
                s * w[0] + y_ * w[2] - z * w[1],
                s * w[1] + z * w[0] - x * w[2],
                s * w[2] + x * w[1] - y_ * w[0],
                -(x * w[0] + y_ * w[1] + z * w[2]),
            ]
        )
        return np.concatenate([turned, -np.cross(w, inertia * w) / inertia])

    start = np.concatenate([[0.0, 0.0, 0.0, 1.0], spin])
    exact = solve_ivp(slope, (0.0, 0.8), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    end = run.bodies[-1, 0]
    rotations = quaternion_matrix(np.array([end[BODY_ORIENTATION], exact[:4]]))
    assert rotations[0] == pytest.approx(rotations[1], abs=1e-6)
    assert end[BODY_TWIST][3:] == pytest.approx(exact[4:], abs=1e-5)
    fall = np.array([2.0 + 0.4 * 0.8, 0.1 * 0.8, 1.5 + 3.0 * 0.8 - 0.5 * G * 0.64])
    assert end[:3] == pytest.approx(fall, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["push", "topple"])
def test_what_the_arm_moves_obeys_contact_and_the_energy_book_closes(scenario: str) -> None:
    """No gap is deeper than its tolerance, no energy comes from nowhere, and the body falls."""
    setup = Setup.of(load_scenario("packbot", "packbot", scenario))
    simulator = make_simulator(setup)
    assert isinstance(simulator, PackbotReference)
    run = run_in(setup, simulator)
    assert run.bodies is not None
    assert simulator._stepper.deepest < GAP
    assert simulator.energy_rise < 1e-6
    tilt = quaternion_matrix(run.bodies[-1, 0, BODY_ORIENTATION])[2, 2]
    assert abs(tilt) < 0.1  # on its side
    assert (run.bodies[-1, 0, 2] < TABLE) == (scenario == "push")
    book, _ = book_of(setup, "reference")
    assert np.abs(book.rest).max() < 1e-3 * np.abs(book.net_work).max()


def test_a_body_has_the_inertia_of_its_mesh() -> None:
    """As trimesh has it, at a uniform density; its frame is at the centre of mass."""
    (bottle,) = Setup.of(load_scenario("packbot", "packbot", "topple")).bodies
    solid = trimesh.load(share("packbot") / "meshes" / "bottle.obj")
    solid.density = bottle.mass / solid.volume
    assert bottle.inertia == pytest.approx(solid.moment_inertia, rel=1e-9, abs=1e-12)
    assert bottle.start[:3] == pytest.approx([1.15, 0.0, TABLE + solid.center_mass[2]], abs=1e-12)


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ("{box: {size: [0.1, 0.1, 0.1]}}", "mass"),
        ("{box: {mass: 1.0}}", "give size, or radius and height, or file"),
        ("{table: {size: [0.1, 0.1, 0.1], mass: 1.0}}", "the name table is taken"),
        ("{box: {size: [0.1, 0.1, 0.1], mass: 1.0, position: [1.1, 0, 0.3]}}", "mm deep"),
        ("{can: {radius: 0.03, height: 0.1, mass: 1.0, position: [2, 0, 1]}}", "convex mesh"),
    ],
)
def test_a_body_that_cannot_be_is_refused(bodies: str, message: str) -> None:
    with pytest.raises(AccordError, match=message):
        make_simulator(beside(bodies))


def test_bodies_are_part_of_the_hash() -> None:
    """Runs that differ only in where a body starts differ in their hashes."""
    runs = [run_in(beside(f"{{box: {box(x, 0.1, 0.0)}}}", duration=0.02)) for x in (1.0, 1.0, 1.1)]
    assert np.array_equal(runs[0].q, runs[2].q)
    assert runs[0].sha256() == runs[1].sha256() != runs[2].sha256()
