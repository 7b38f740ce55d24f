"""The snake among pegs: the exact advance of a cycle, laws of contact, one link against one peg."""

import math
import xml.etree.ElementTree as ET
from functools import partial

import numpy as np
import pytest
from roboaccord import AccordError, Command, make_simulator
from roboaccord.crosscheck.levels.invariance import check_invariance
from roboaccord.engines import spec
from roboaccord.gazebo import expand_for_gazebo
from roboaccord.run.metrics import metrics_of
from roboaccord.scenario import start_view
from running import book_of, or_skip, run_in, setup_of
from snake.model.coordinates import PlanarSnake
from snake.model.pegs import peg_field
from snake.model.touches import contacts_of
from snake.simulators.peg_figures import wavelength
from snake.simulators.peg_world import make_world

ENGINES = ["dart", "mujoco"]
MU, HALF_WIDTH, RADIUS = 0.2, 0.05, 0.1
# A straight body of two links whose joint is frozen, on ice: a rigid body. It meets one peg with
# the side at its centre of mass.
BODY = (
    "parameters.joints=1", "faults=[joint_01=frozen@0]", "friction={law: none}",
    "controller={name: none}", "terrain.mu=0", "initial={twist: [0.3, 0.4, 0, 0, 0, 0]}",
)  # fmt: skip


@pytest.fixture
def pegs_with():
    """Return a function that makes the scenario `pegs` with changes."""
    return partial(setup_of, "snake", "pegs")


def deepest(setup, trajectory, every=10):
    """Return the deepest overlap of a link and a peg in a run [m], by geometry."""
    chain, field = PlanarSnake(setup.parameters), peg_field(setup.contact, setup.parameters)
    gaps = [0.0]
    for i in range(0, len(trajectory), every):
        gaps += contacts_of(chain, field, trajectory.state(i), 1e-3)[1][:, 0].tolist()
    return -min(gaps)


def test_the_track_has_a_wavelength_by_bessels_function(pegs_with):
    """1.4 m J0(alpha), alpha = 0.4 / (2 sin(beta / 2)), with J0 by its power series."""
    alpha = 0.2 / math.sin(math.pi * 1.5 / 21)
    series = sum((-0.25 * alpha**2) ** k / math.factorial(k) ** 2 for k in range(20))
    found = wavelength(pegs_with().parameters, 0.4, 1.5)
    assert found == pytest.approx(1.4 * series, rel=1e-14)
    assert found == pytest.approx(1.131, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.1, 0.3, 0.5])
def test_a_cycle_takes_the_snake_a_wavelength_on_whatever_the_ground(pegs_with, mu):
    """Each cycle from the second on, within 1 %; links overlap pegs by less than 0.02 mm."""
    ground = f"friction.mu_along={mu}", f"friction.mu_across={mu}"
    setup = pegs_with(*ground, "duration=16.667")
    trajectory = run_in(setup)
    figures = metrics_of(setup, trajectory)
    assert figures["advance"] == pytest.approx(figures["wavelength"], rel=0.01)
    assert figures["kept_cycles"] == 4
    assert deepest(setup, trajectory) < 2e-5


def test_without_pegs_it_gets_nowhere(pegs_with):
    """The same gait on the same ground moves it back by a few centimetres a cycle."""
    setup = pegs_with("terrain={}", "duration=6.667")
    travel = metrics_of(setup, run_in(setup))["travel_per_cycle"]
    assert -0.1 < travel < -0.02


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_engines_advance_by_the_wavelength(pegs_with, name):
    """Within 3 % over two cycles, by the engine's own contacts; overlaps are below a millimetre."""
    setup = pegs_with("duration=10.0")
    with or_skip():
        simulator = make_simulator(setup, name)
    trajectory = run_in(setup, simulator)
    figures = metrics_of(setup, trajectory)
    assert figures["advance"] == pytest.approx(figures["wavelength"], rel=0.03)
    assert deepest(setup, trajectory) < 1e-3


def test_impulses_of_pegs_push_and_stay_in_the_cone(pegs_with):
    """In each step p_n >= 0 and |p_t| <= mu p_n, and all together they take energy."""
    setup = pegs_with()
    simulator, state = make_simulator(setup), setup.initial
    simulator.meter()
    pressed, lost = 0, 0.0
    for _ in range(400):
        q, qd = setup.initial.q, np.zeros(21)
        state = simulator.step(Command(20.0 * (1.2 * q - state.q) + 0.05 * (qd - state.qd)), 0.001)
        normal, tangential = simulator.touches[1][:, 5:].T
        assert (normal >= -1e-15).all()
        assert (np.abs(tangential) <= MU * normal + 1e-12).all()
        pressed += bool((normal > 0.0).any())
        lost += simulator.take_losses()["impacts"]
    assert lost > 0.0
    assert pressed > 100
    assert simulator.unsolved == 0


def body_against_peg(pegs_with, step, mu, duration):
    """Return the body's setup, and the run of its oblique impact on a peg."""
    centre = 0.5 * (0.0525 + 0.0475)  # of mass, from the centre of the rear link
    reach = HALF_WIDTH + RADIUS
    # After 0.1 s the body's centre is beside the peg, and has come 40 mm closer.
    peg = f"terrain.pegs=[[{centre + 0.03}, {reach + 0.04}]]"
    changes = f"physics_step={step}", f"terrain.mu={mu}", f"duration={duration}"
    setup = pegs_with("terrain.spread=0", *BODY, peg, *changes)
    return setup, run_in(setup)


def test_an_oblique_impact_follows_newtons_and_coulombs_laws(pegs_with):
    """Of a rigid body against one peg: no rebound; friction mu p_n turns and slows it.

    With mass m, moment of inertia I and half width b: p_n = m v_n, p_t = mu p_n, as the slip does
    not end: p_t (1 / m + b^2 / I) < v_t. In any step, but for CFM, which is 1e-5 of an inertia.
    """
    for step in (1e-3, 2.5e-4):
        setup, run = body_against_peg(pegs_with, step, MU, 0.103)
        p = setup.parameters
        mass = 2 * p.link_mass
        inertia = 2 * p.inertia_vertical + 2 * p.link_mass * 0.05**2
        # The motion of the centre of mass is along (0.3, 0.4), the normal along -y.
        push = mass * 0.4
        assert MU * push * (1 / mass + HALF_WIDTH**2 / inertia) < 0.3
        # Friction acts at the side, b to the left of the centre, against x: it turns to the left.
        spin = HALF_WIDTH * MU * push / inertia
        y = PlanarSnake(p).pack(run.state(len(run) - 1))
        found = y[4:8]  # velocity of the centre of mass, then the rates of both links
        exact = np.array([0.3 - MU * 0.4, 0.0, spin, spin])
        assert np.abs(found - exact)[[0, 2, 3]].max() < 1e-4 * spin


def test_sliding_round_a_peg_without_friction_keeps_energy_and_angular_momentum(pegs_with):
    """About the peg's centre, through which the force passes; to first order in the step."""
    changes = []
    for step in (1e-3, 5e-4, 2.5e-4):
        setup, run = body_against_peg(pegs_with, step, 0.0, 0.35)
        p, chain = setup.parameters, PlanarSnake(setup.parameters)
        peg = setup.contact.fixtures[0].position[:2]
        inertia = 2 * p.inertia_vertical + 2 * p.link_mass * 0.05**2
        kept = []
        for time in (0.11, 0.3):
            y = chain.pack(run.state(int(np.searchsorted(run.time, time - 1e-9))))
            arm, v, w = y[:2] - peg, y[4:6], y[6]
            momentum = 2 * p.link_mass * (arm[0] * v[1] - arm[1] * v[0]) + inertia * w
            kept.append((0.5 * (2 * p.link_mass * v @ v + inertia * w * w), momentum))
        changes.append(np.abs(np.subtract(*kept) / kept[0]).max())
    assert changes[0] < 0.02
    assert changes[2] < 0.4 * changes[0] + 1e-12


@pytest.mark.parametrize("name", ENGINES)
def test_engines_find_the_contact_where_geometry_has_it(pegs_with, name):
    """Place, normal and depth of the side of a body on a peg, 0.1 mm deep."""
    reach = HALF_WIDTH + RADIUS
    setup = pegs_with(*BODY[:-1], f"terrain.pegs=[[0.03, {reach - 1e-4}]]", "initial={}")
    with or_skip():
        simulator = make_simulator(setup, name)
    simulator.step(Command(np.zeros(1)), 0.001)
    points = [point for point in simulator.contacts() if point.pair == ("base_link", "peg_01")]
    assert points
    for point in points:
        np.testing.assert_allclose(point.normal, [0, 1, 0], atol=1e-2)
        np.testing.assert_allclose(point.position[:2], [0.03, HALF_WIDTH], atol=2e-3)
        assert point.depth == pytest.approx(1e-4, rel=0.1)


@pytest.mark.parametrize("name", ENGINES)
def test_pegs_in_a_moved_world_move_the_snake_alike(pegs_with, name):
    """In 0.2 s it touches two pegs, which are shifted with it, but not above it."""
    setup = pegs_with("duration=0.2")
    with or_skip():
        simulator = make_simulator(setup, name)
    changes = check_invariance(setup, spec(name), run_in(setup, simulator)).changes
    assert not changes["shifted"].outside


def test_moved_pegs_depend_on_the_seed_and_overlap_no_link_at_the_start(pegs_with):
    """By N(0, 60 mm) in each direction; one that comes into the snake is moved out of it."""
    setups = [pegs_with("terrain.spread=0.06", f"seed={seed}") for seed in (0, 1)]
    places = [np.array([peg.position[:2] for peg in s.contact.fixtures]) for s in setups]
    given = np.array(pegs_with().scenario.terrain["pegs"])
    assert np.abs(places[0] - places[1]).max() > 0.01
    assert 0.03 < np.std(places[0] - given) < 0.12
    for setup in setups:
        chain, field = PlanarSnake(setup.parameters), peg_field(setup.contact, setup.parameters)
        assert contacts_of(chain, field, setup.initial, 1e-3)[1][:, 0].min(initial=0.0) > -1e-9


@pytest.mark.slow
def test_a_jam_names_its_pegs(pegs_with):
    """With soft joints the snake does not pass; figures name pegs, and no link is in one."""
    ground = "friction.mu_along=0.3", "friction.mu_across=0.3"
    setup = pegs_with("controller.kp=8", *ground, "duration=10.0")
    trajectory = run_in(setup)
    figures = metrics_of(setup, trajectory)
    assert figures["kept_cycles"] == 0
    assert any(name.startswith("jam_peg_") for name in figures)
    assert deepest(setup, trajectory) < 2e-5


def test_only_pegs_change_the_description(pegs_with, setup_with):
    """A stadium replaces the box in engines, and joins it in Gazebo, 1 mm above the ground."""

    def shapes(urdf):
        return len(ET.fromstring(urdf).findall("link[@name='base_link']/collision"))

    assert shapes(setup_with().urdf()) == 1
    assert shapes(pegs_with().urdf()) == 3
    assert shapes(expand_for_gazebo(pegs_with())) == 4
    assert make_world(setup_with()) is None
    world = ET.parse(make_world(pegs_with())).getroot()
    pegs = [m for m in world.iter("model") if m.attrib["name"].startswith("peg_")]
    assert len(pegs) == len(pegs_with().scenario.terrain["pegs"])
    assert {m.findtext("link/collision/geometry/cylinder/radius") for m in pegs} == {"0.1"}


def test_the_view_at_the_start_leaves_out_pegs_far_away(pegs_with):
    """A peg 50 m away does not make the snake small in Gazebo's window; one 1.2 m ahead counts."""
    near, far = "[-0.0938, 0.0996], [3.0, 0.0]", "[50.0, 0.0]"
    alone, beside, with_far = (
        start_view(pegs_with(f"terrain.pegs=[{pegs}]"), 0.8)
        for pegs in ("[-0.0938, 0.0996]", near, f"{near}, {far}")
    )
    assert with_far.distance == beside.distance > alone.distance
    np.testing.assert_array_equal(with_far.target, beside.target)
    assert start_view(pegs_with(), 0.8).distance < 1.5 * beside.distance


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("terrain.pegs=[[1]]", "two numbers"),
        ("terrain.radius=0", "radius"),
        ("terrain.mu=-1", "negative"),
    ],
)
def test_pegs_that_cannot_be_are_refused(pegs_with, change, message):
    """With the key and the reason."""
    with pytest.raises(AccordError, match=message):
        pegs_with(change)


@pytest.mark.slow
def test_the_rest_of_the_energy_book_falls_with_the_step():
    """55, 30 and 16 mJ of 6.3 J of work at 1, 0.5 and 0.25 ms: first order."""
    steps = (1e-3, 5e-4, 2.5e-4)
    words = [("duration=3.4", f"physics_step={step}") for step in steps]
    books = [book_of(setup_of("snake", "pegs", *changes), "reference")[0] for changes in words]
    rests = [book.rest[-1] for book in books]
    assert rests == pytest.approx([0.055, 0.030, 0.016], abs=1e-3)
    assert all(book.impacts[-1] == pytest.approx(1.288, abs=2e-3) for book in books)
