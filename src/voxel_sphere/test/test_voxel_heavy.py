"""A heavy sphere: the rolling pendulum, energy, friction's limit, and leaving the ground."""

import closed_fields as closed
import heavy_newton_euler
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from voxel_sphere.rolling import heavy_equations as equations
from voxel_sphere.rolling.heavy import HeavyRoller

N, R, G = 100, 10.0, 981.0
MIDDLE = (50.0, 50.0, 60.0)


@pytest.fixture(scope="module")
def bowl():
    """Return a bowl in which the centre moves on a radius of 4 r."""
    return closed.bowl(MIDDLE, 5 * R, radius=R, size=N)


@pytest.fixture(scope="module")
def flat():
    return closed.plane((50, 50, 20), (0, 0, 1), radius=R, size=N)


def heavy(field, *, mass=1.0, friction=np.inf, **start):
    """Return a solid ball of the radius R at a start; by default it rolls whatever happens."""
    return HeavyRoller(field, (R, mass, 0.4 * mass * R**2, G, friction), **start)


def energy_of(roller):
    """Return the kinetic and potential energy of a ball of the mass 1."""
    v, w = roller.velocity, roller.omega
    return 0.5 * v @ v + 0.2 * R**2 * w @ w + G * roller.centre[2]


def pendulum(angle, times):
    """Return the angle of th'' = -5/7 g/(4 r) sin th, at rest at first."""

    def rate(_, y):
        return y[1], -5 / 7 * G / (4 * R) * np.sin(y[0])

    span = (0.0, times[-1])
    return solve_ivp(rate, span, (angle, 0.0), t_eval=times, rtol=1e-10, atol=1e-12).y[0]


def test_the_rolling_pendulum(bowl):
    roller = heavy(bowl, centre=bowl.place(70, 50))
    times = np.linspace(0.0, 4.0, 41)
    expected = 50 + 4 * R * np.sin(pendulum(np.arcsin(0.5), times))
    for end, x in zip(times[1:], expected[1:]):
        roller.advance((0, 0, 0), end - roller.time)
        assert roller.centre[0] == pytest.approx(x, abs=1e-3 * R)


def test_energy_is_kept(bowl):
    """Also with spin about the normal, which couples to the ground's curvature."""
    roller = heavy(bowl, centre=bowl.place(65, 45), omega=(3.0, -2.0, 8.0))
    energy = energy_of(roller)
    roller.advance((0, 0, 0), 3.0)
    assert roller.status == "done"
    assert energy_of(roller) == pytest.approx(energy, rel=1e-9)


K, AXIS = 2 * np.pi / (5 * R), (1.0, 0.2, -0.3)
SURFACES = {
    "wave": (
        closed.wave(20, 0.3 * R, 5 * R, 0.4, radius=R, size=N),
        heavy_newton_euler.wave(20, 0.3 * R, K, 0.4), ([0.0, -50.0], [100.0, 50.0]),
    ),
    "tube": (
        closed.cylinder(MIDDLE, AXIS, 3 * R, radius=R, size=N),
        heavy_newton_euler.tube(MIDDLE, AXIS, 3 * R), ([-50.0, -np.pi], [50.0, np.pi]),
    ),
    "bowl": (
        closed.bowl(MIDDLE, 5 * R, radius=R, size=N),
        heavy_newton_euler.bowl(MIDDLE, 5 * R), ([0.1, 0.0], [np.pi - 0.1, 2 * np.pi]),
    ),
}  # fmt: skip


@pytest.fixture(params=SURFACES)
def states(request):
    """Return what draws random states on a surface: what the kernel finds, and what it is given."""
    field, surface, ends = SURFACES[request.param]
    rng = np.random.default_rng(11)

    def draw(mode, mu):
        for _ in range(100):
            patch = surface(*rng.uniform(*ends))
            centre, n = patch.centre(R)[:2]
            m, w = rng.uniform(0.5, 3.0), rng.normal(size=3) * 8.0
            inertia, torque = rng.uniform(0.2, 0.6) * m * R * R, rng.normal(size=3) * m * R * 500.0
            slip = np.cross(rng.normal(size=3) * 50.0, n) if mode == equations.SLIDE else 0.0
            v = R * np.cross(w, n) + slip
            rate, force = np.empty(9), np.empty(4)
            y, body = np.concatenate([centre, v, w]), (R, m, inertia, G, mu)
            equations.rates(mode, field.arrays, body, y, torque, rate, force)
            yield (rate, force), (patch, R, m, inertia, G), (v, w, torque), n

    return draw


def near(found, expected):
    """To 1e-10 of the largest: some thousand roundings, and feet of waves found to 1e-13."""
    expected = np.asarray(expected)
    return found == pytest.approx(expected, rel=0.0, abs=1e-10 * np.abs(expected).max())


def test_rolling_has_the_accelerations_of_newton_and_euler(states):
    """On curved ground, with spin, which turns with the normal, and any torque."""
    for (rate, force), ball, (v, w, torque), n in states(equations.ROLL, np.inf):
        a, turn, push = heavy_newton_euler.rolling(*ball, w, torque)
        assert near(rate[:3], v) and near(rate[3:6], a) and near(rate[6:], turn)
        assert near(force, [*(push - (push @ n) * n), push @ n])


def test_sliding_has_the_accelerations_of_newton_and_euler(states):
    """The normal force carries what bends the path on curved ground; negative, it lifts off."""
    for (rate, force), ball, (v, w, torque), _ in states(equations.SLIDE, 0.3):
        a, turn, friction, normal = heavy_newton_euler.sliding(*ball, 0.3, v, w, torque)
        assert near(rate[:3], v) and near(rate[3:6], a) and near(rate[6:], turn)
        assert near(force, [*friction, normal])


def test_the_golfers_dilemma():
    """Down a tube that stands upright a ball comes up again [Gualtieri et al. 2006].

    It goes round at the rate W, and w.n couples with the descent: z'' = -5/7 g - 2/7 W^2 (z - z0).
    """
    field = closed.cylinder((50, 50, 0), (0, 0, 1), 4.5 * R, radius=R, size=N)
    rate, low = 14.0, np.sqrt(2 / 7)
    about = -rate * 3.5  # of the ball about the upright, at 3.5 r from the middle
    roller = heavy(field, centre=(50 + 3.5 * R, 50, 80), omega=(0, 0, about))
    for end in np.linspace(0.1, 1.0, 10):
        roller.advance((0, 0, 0), end - roller.time)
        fallen = 5 * G / (2 * rate**2) * (1 - np.cos(low * rate * end))
        x, y = 50 + 3.5 * R * np.cos(rate * end), 50 + 3.5 * R * np.sin(rate * end)
        assert roller.centre == pytest.approx([x, y, 80 - fallen], abs=1e-6 * R)


@pytest.mark.parametrize("friction", [0.3, 0.166, 0.164, 0.1])
def test_an_incline(friction):
    """5/7 g sin a while tan a < 7/2 mu, beyond it g (sin a - mu cos a) and slip."""
    angle = np.radians(30.0)
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    field = closed.plane((50, 50, 30), normal, radius=R, size=N)
    roller = heavy(field, centre=field.place(80, 50), friction=friction)
    roller.advance((0, 0, 0), 0.2)
    holds = np.tan(angle) < 3.5 * friction
    rolling = 5 / 7 * G * np.sin(angle)
    sliding = G * (np.sin(angle) - friction * np.cos(angle))
    assert np.linalg.norm(roller.velocity) / 0.2 == pytest.approx(rolling if holds else sliding)
    assert [event.kind for event in roller.events] == ([] if holds else ["slip"])


def test_a_thrown_ball_comes_to_roll(flat):
    """After 2 v / (7 mu g), at 5/7 of its speed: the bowler's ball."""
    roller = heavy(
        flat, centre=flat.place(10, 50), velocity=(100.0, 0, 0),
        friction=0.2,
    )  # fmt: skip
    roller.advance((0, 0, 0), 0.3)
    (event,) = roller.events
    assert (event.kind, event.time) == ("roll", pytest.approx(200 / (7 * 0.2 * G), rel=1e-6))
    assert roller.velocity == pytest.approx([500 / 7, 0, 0])


def test_a_torque(flat):
    """On the level a torque t gives t / (7/5 m r^2), and friction 5/7 t / r."""
    roller = heavy(flat, centre=flat.place(30, 50), mass=2.0)
    torque = np.array([0.0, 500.0, 0.0])
    y, force = np.array([30.0, 50.0, 30.0, *np.zeros(6)]), np.empty(4)
    body = (R, 2.0, 0.8 * R**2, G, np.inf)
    equations.rates(equations.ROLL, flat.arrays, body, y, torque, np.empty(9), force)
    assert force == pytest.approx([5 / 7 * 500 / R, 0, 0, 2 * G])
    roller.advance(torque, 0.5)
    turn = 500 / (1.4 * 2.0 * R**2)
    assert roller.omega[1] == pytest.approx(0.5 * turn)
    half = 0.5 * (0.5 * turn * 0.5**2)  # of the angle that it has turned by
    assert roller.orientation == pytest.approx([0, np.sin(half), 0, np.cos(half)], abs=1e-9)


@pytest.mark.parametrize(("part", "kinds"), [(0.98, []), (1.02, ["lift"])])
def test_a_crest(part, kinds):
    """It leaves a crest where v^2 passes g times the radius of the centre's surface."""
    k = 2 * np.pi / (5 * R)
    field = closed.wave(20, 0.3 * R, 5 * R, radius=R, size=N)
    limit = np.sqrt(G * (1 / (0.3 * R * k**2) + R))
    roller = heavy(field, centre=field.place(1.25 * 5 * R, 50), omega=(0, part * limit / R, 0))
    roller.advance((0, 0, 0), 1e-4)
    assert [event.kind for event in roller.events] == kinds


def test_flight_is_a_parabola_and_lands(flat):
    roller = heavy(flat, centre=(20, 50, 30), velocity=(50.0, 0, 0), omega=(0, 5.0, 0))
    roller.mode, roller._state[9] = equations.FLIGHT, 100.0  # thrown up
    roller.advance((0, 0, 0), 0.1)
    assert roller.centre == pytest.approx([25, 50, 30 + 10 - G * 0.005])
    roller.advance((0, 0, 0), 0.2)
    (event,) = roller.events
    assert (event.kind, event.time) == ("land", pytest.approx(200 / G, rel=1e-6))
    assert roller.velocity == pytest.approx([50, 0, 0])  # it turned as it moved: no slip to end


def test_in_flight_a_torque_turns_alone(flat):
    roller = heavy(flat, centre=(50, 50, 30), velocity=(0, 0, 150), omega=(1.0, 2.0, 3.0))
    roller.mode = equations.FLIGHT
    roller.advance((300.0, 0.0, -200.0), 0.1)
    inertia = 0.4 * R**2
    assert roller.omega == pytest.approx([1.0 + 30.0 / inertia, 2.0, 3.0 - 20.0 / inertia])
    assert roller.velocity == pytest.approx([0, 0, 150 - 0.1 * G])


@pytest.mark.parametrize("friction", [0.1, 0.5])
def test_landing_has_friction_up_to_its_limit(flat, friction):
    """Without turning, at 100, down with 98.1: friction takes 98.1 mu at once, but no slip is left.

    The slip falls by 7/2 of that, to 0 after 7/2 mu g t more. It is 5/7 of the speed that rolls.
    """
    roller = heavy(
        flat, centre=(10, 50, 30), velocity=(100.0, 0, 0),
        friction=friction,
    )  # fmt: skip
    roller.mode, roller._state[9] = equations.FLIGHT, 0.1 * G
    roller.advance((0, 0, 0), 0.5)
    left = 100.0 - 3.5 * friction * 0.1 * G
    assert (roller.events[0].kind, roller.events[0].time) == ("land", pytest.approx(0.2, rel=1e-6))
    rolls = [event.time for event in roller.events[1:]]
    assert rolls == pytest.approx([0.2 + left / (3.5 * friction * G)] if left > 0.0 else [])
    assert roller.velocity == pytest.approx([500 / 7, 0, 0])


def test_landing_on_an_incline_slips_on():
    """The impulse of friction at landing is mu of the normal one: g (sin a - mu cos a) t in all."""
    angle, friction = np.radians(30.0), 0.1
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    along = np.array([-np.cos(angle), 0.0, -np.sin(angle)])
    field = closed.plane((50, 50, 30), normal, radius=R, size=N)
    roller = heavy(
        field, centre=field.place(80, 50), velocity=(0, 0, 0.05 * G),
        friction=friction,
    )  # fmt: skip
    roller.mode = equations.FLIGHT
    roller.advance((0, 0, 0), 0.25)
    (event,) = roller.events
    assert (event.kind, event.time) == ("land", pytest.approx(0.1, rel=1e-6))
    fallen = 0.25 - 0.05  # s; thrown up first
    speed = G * (np.sin(angle) - friction * np.cos(angle)) * fallen
    assert roller.velocity == pytest.approx(speed * along)


def test_a_start_off_the_ground_is_put_on_it(flat):
    """Within a tenth of the radius it is allowed."""
    for off in (-0.9, 0.9):
        roller = heavy(flat, centre=(50, 50, 30 + off))
        roller.advance((0, 0, 0), 0.01)
        assert roller.centre == pytest.approx([50, 50, 30])


def test_a_wall_takes_the_speed_and_leaves_the_spin(flat):
    wall = closed.plane((90, 50, 0), (-1, 0, 0), radius=R, size=N)
    start = {"centre": flat.place(70, 50), "omega": (0, 10.0, 7.0)}
    roller = heavy(flat, walls=wall, friction=0.5, **start)
    while not roller.events:
        roller.advance((0, 0, 0), 1e-3)
    assert roller.events[0].kind == "wall"
    assert roller.events[0].time == pytest.approx(0.1, abs=2e-3)
    assert roller.velocity == pytest.approx([0, 0, 0], abs=1e-9)
    assert roller.omega == pytest.approx([0, 10.0, 7.0], abs=1e-9)
