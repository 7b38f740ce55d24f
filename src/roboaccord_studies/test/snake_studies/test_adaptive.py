"""Estimating the ground, noticing that it changes, and crawling better for it."""

from dataclasses import replace

import numpy as np
import pytest
from oracle import lever_matrix
from roboaccord import AccordError, Setup, load_scenario, make_controller, make_simulator
from roboaccord_studies.snake.estimator import GroundEstimator
from roboaccord_studies.snake.ideal import IdealModel
from running import run_in
from scipy.optimize import curve_fit
from slow_cases import late
from snake.model.coordinates import PlanarSnake
from snake.model.ground import friction_of
from snake.simulators.metrics import body_motion

pytestmark = pytest.mark.thorough

LIMIT = 3.0  # N m, of the scenario


def crawl(setup, engine="reference"):
    """Run a setup; return the motion and the controller."""
    controller = make_controller(setup)
    return run_in(setup, engine, controller=controller), controller


def change(*changes):
    """Return the setup of change_of_ground with changes."""
    return Setup.of(load_scenario("snake", "snake", "change_of_ground", changes))


def speed_of(setup, part):
    """Return the speed of the centre of mass along the mean heading [m/s]."""
    centre, heading = body_motion(setup, part)
    mean = heading.mean()
    return (centre[-1] - centre[0]) @ (np.cos(mean), np.sin(mean)) / np.ptp(part.time)


def estimates(setup, trajectory, start, noise=0.0):
    """Return every estimate (k, 2) after the first second of a motion, and the deviations.

    Noise 1 is 1 mrad, 20 mrad/s, and 10 mm/s and 10 mrad/s for the base, white, in each sample.
    """
    rng = np.random.default_rng(0)
    chain = PlanarSnake(setup.parameters)
    estimator = GroundEstimator(
        setup.parameters, period=1e-3, window=0.5, interval=0.05, slip_speed=0.01
    )
    estimator.restart(np.array(start))
    found = []
    for i in range(len(trajectory)):
        state = trajectory.state(i)
        state = replace(
            state,
            q=state.q + noise * 1e-3 * rng.normal(size=len(state.q)),
            qd=state.qd + noise * 2e-2 * rng.normal(size=len(state.q)),
            twist=state.twist + noise * 1e-2 * rng.normal(size=6),
        )
        estimator.add(state.time, chain.pack(state))
        if estimator.full and i % 20 == 0:
            estimator.fit()
            if state.time > 1.0:
                found.append([estimator.mu, estimator.deviation])
    mu, deviation = np.array(found).transpose(1, 0, 2)
    return mu, deviation


@pytest.mark.parametrize("seed", range(4))
def test_estimator_finds_grounds_drawn_at_random(setup_with, seed):
    """Within 0.1 %: momenta are exact, and friction is integrated from samples every 1 ms."""
    mu = np.random.default_rng(seed).uniform(0.1, 1.2, 2)
    setup = setup_with(f"friction.mu_along={mu[0]}", f"friction.mu_across={mu[1]}", "duration=1.3")
    trajectory, _ = crawl(setup)
    found, _ = estimates(setup, trajectory, start=(0.5, 0.5))
    np.testing.assert_allclose(found, np.tile(mu, (len(found), 1)), rtol=1e-3)


def test_estimator_degrades_gracefully_with_noise(setup_with):
    """The error stays in proportion to the noise, and the estimate's own deviation covers it."""
    mu = np.array([0.3, 0.5])
    setup = setup_with("friction.mu_along=0.3", "friction.mu_across=0.5", "duration=3")
    trajectory, _ = crawl(setup)
    before = 0.0
    for noise in (0.01, 0.03, 0.1):
        found, deviation = estimates(setup, trajectory, start=(0.1, 1.0), noise=noise)
        assert np.abs(found / mu - 1.0).max() < noise
        assert (np.abs(found - mu) < 3.0 * deviation).mean() > 0.95
        assert deviation.mean() > before
        before = deviation.mean()


def momenta_of(p, rows):
    """Return changes of momentum (30,) in a window of motion, and what friction makes of them.

    Over intervals of 50 ms, 10 each of x, y and the turn, which is over the radius of gyration of
    a rod; summed over the links of the chain written out, with vectors as complex numbers.
    """
    n, load = p.links, p.link_mass * p.gravity
    K = lever_matrix(n, p.pivot_behind_front, p.pivot_ahead_of_rear)
    gyration = n * (p.pivot_behind_front + p.pivot_ahead_of_rear) / np.sqrt(12.0)
    w, u = rows[:, n + 4 :], np.exp(1j * rows[:, 2 : n + 2])
    r, v = u @ K.T, (rows[:, n + 2] + 1j * rows[:, n + 3])[:, None] + (1j * w * u) @ K.T
    spin = p.link_mass * (r.conj() * v).imag + p.inertia_vertical * w
    linear, slip = p.link_mass * v.sum(axis=1), v / u

    def friction(_, along, across):
        size = np.hypot(along * slip.real, across * slip.imag)
        size = np.hypot(size, max(along, across) * 0.01)
        pull = -load * u * (along**2 * slip.real + 1j * across**2 * slip.imag) / size
        turn = (r.conj() * pull).imag.sum(axis=1) / gyration
        rates = np.stack([pull.real.sum(axis=1), pull.imag.sum(axis=1), turn])
        means = 0.5 * (rates[:, 1:] + rates[:, :-1])
        return 1e-3 * means.reshape(3, 10, 50).sum(axis=2).ravel()

    momenta = np.stack([linear.real, linear.imag, spin.sum(axis=1) / gyration])
    return np.diff(momenta[:, ::50]).ravel(), friction


@pytest.mark.parametrize("noise", [1e-3, 1e-2])
def test_estimate_and_deviation_are_those_of_nonlinear_least_squares(setup_with, noise):
    """The fit of scipy to 30 changes of momentum, and its standard errors, under noise in rates.

    On the way there no step goes further than by a factor of 2. Both fits end where the gradient
    vanishes; Gauss and Newton's matrix is J'J, and scipy's the same by differences of 1e-8.
    """
    setup = setup_with("friction.mu_along=0.3", "friction.mu_across=0.5", "duration=0.7")
    trajectory, _ = crawl(setup)
    p, chain, rng = setup.parameters, PlanarSnake(setup.parameters), np.random.default_rng(1)
    rows = np.array([chain.pack(trajectory.state(i)) for i in range(150, 651)])
    rows[:, p.links + 2 :] += noise * rng.normal(size=(501, p.links + 2))
    estimator = GroundEstimator(p, period=1e-3, window=0.5, interval=0.05, slip_speed=0.01)
    estimator.restart(np.array([0.1, 1.0]))
    for i, y in enumerate(rows):
        assert not estimator.full
        estimator.add(1e-3 * i, y)
    assert estimator.full
    steps = []
    for _ in range(30):
        before = estimator.mu
        estimator.fit()
        steps.append(np.abs(np.log2(estimator.mu / before)).max())
    assert max(steps) == pytest.approx(1.0)
    measured, friction = momenta_of(p, rows)
    best, covariance = curve_fit(friction, None, measured, p0=(0.3, 0.5), xtol=1e-12)
    np.testing.assert_allclose(estimator.mu, best, rtol=1e-6)
    np.testing.assert_allclose(estimator.deviation, np.sqrt(np.diag(covariance)), rtol=1e-4)


def judged(monkeypatch, script):
    """Return what the controller finds by estimates of a script, on a robot at rest.

    Args:
        script: of the time since the first estimate [s] mu_along, mu_across and the standard
            deviation of mu_across.
    """
    setup, first = change("controller.adapt=false"), []

    def fit(self):
        if not first:
            first.append(now)
        along, across, deviation = script(now - first[0])
        self.mu, self.deviation = np.array([along, across]), np.array([0.0, deviation])

    now = 0.0
    controller = make_controller(setup)
    monkeypatch.setattr(GroundEstimator, "fit", fit)
    for tick in range(2000):
        now = tick * 1e-3
        controller.update(replace(setup.initial, time=now), None)
    return [(finding.kind, finding.time - first[0]) for finding in controller.findings]


@pytest.mark.parametrize(
    ("across", "deviation", "after"),
    [
        (1.24, 0.0, None), (0.76, 0.0, None),  # 25 % of the 1 that is believed
        (1.26, 0.0, 0.1), (0.74, 0.0, 0.1),  # patience
        # 0.25 beyond the threshold, and 3 deviations over sqrt(1 + t / 0.5 s).
        (1.5, 0.083, 0.1), (1.5, 0.125, 0.625), (0.5, 0.125, 0.625), (1.5, 0.15, 1.12),
    ],
)  # fmt: skip
def test_a_change_is_noticed_beyond_three_standard_errors(monkeypatch, across, deviation, after):
    """At the first of the estimates, one in 20 ms, that clears threshold, patience and doubt."""
    found = judged(monkeypatch, lambda time: (0.1, across, deviation))
    if after is None:
        assert found == []
    else:
        kind, time = found[0]
        assert kind == "noticed"
        assert after - 1e-9 <= time <= after + 0.02 + 1e-9


def test_what_comes_and_goes_is_no_change_and_a_ground_is_measured_when_it_settles(monkeypatch):
    """A departure that is back within the patience begins anew.

    Then an estimate that goes on by 6 % has not settled, and one that goes on by 4 % has, 0.5 s
    after that.
    """

    def script(time):
        if time < 0.3:
            return 0.1, 1.5 if time % 0.1 < 0.07 else 1.0, 0.0
        return 0.1, 1.5 if time < 0.7 else 1.5 * 1.06 if time < 0.95 else 1.5 * 1.06 * 1.04, 0.0

    (noticed, first), (measured, second) = judged(monkeypatch, script)
    assert (noticed, measured) == ("noticed", "measured")
    assert 0.4 - 1e-9 <= first <= 0.42 + 1e-9
    assert 1.2 - 1e-9 <= second <= 1.24 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "duration"), [("reference", 20), ("dart", 6)])
def test_no_false_alarm_on_constant_ground(engine, duration):
    """Nothing is noticed, the start from rest included."""
    setup = change("friction.beyond=null", f"duration={duration}")
    _, controller = crawl(setup, engine)
    assert controller.findings == []


@pytest.mark.parametrize("engine", ["reference", *late("dart", "mujoco")])
def test_a_change_of_ground_is_noticed_measured_and_answered(engine):
    """Noticed within 4 periods, measured within 3 %, and twice the speed of the gait kept.

    3 % leaves room for DART's integrator, of first order; the speed of the gait kept is the
    ideal one.
    """
    setup = change("duration=7.5")
    trajectory, controller = crawl(setup, engine)
    noticed, measured, *_ = controller.findings
    p = setup.parameters
    line = setup.scenario.friction["beyond"]["x"]
    # The body is nearly straight, so the head is a body's length ahead of the tail.
    reached = trajectory.time[np.argmax(trajectory.position[:, 0] + 0.1 * (p.links - 1) > line)]
    assert noticed.kind == "noticed"
    assert 0 < noticed.time - reached < 4 / noticed.gait.frequency
    assert measured.kind == "measured"
    assert measured.mu == pytest.approx((0.5, 1.0), rel=0.03)
    friction, points = friction_of(setup)
    beyond = {"mu_along": friction.mu_along_beyond, "mu_across": friction.mu_across_beyond}
    kept = IdealModel(p, friction._replace(**beyond), points).evaluate(noticed.gait)
    after = trajectory.window(6.0, 7.5)
    assert speed_of(setup, after) > 2.0 * kept.speed
    assert np.abs(after.effort[1:]).max() < LIMIT


def test_ground_that_grips_along_the_body_turns_the_wave_round():
    """Given that the ground grips across the body, it learns better.

    The speed is to be above 0.38 m/s, what the default gait makes there backwards (an independent
    computation, as in test_ideal). A border has no part in this: while the body lies on both
    grounds, which of them wins is chance.
    """
    ground = "friction={law: ellipse, mu_along: 1.0, mu_across: 0.1}"
    trajectory, controller = crawl(change(ground, "duration=7"))
    assert controller.gait.frequency < 0
    assert controller.believed == pytest.approx([1.0, 0.1], rel=0.03)
    assert speed_of(change(ground), trajectory.window(6.0, 7.0)) > 0.38


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("controller.frequency=0", "frequency must not be 0"),
        ("controller.patience=-1", "patience not negative"),
    ],
)
def test_what_makes_no_sense_is_said_before_the_run(key, message):
    """One line each."""
    with pytest.raises(AccordError, match=message):
        make_controller(change(key))


def test_the_true_ground_is_not_read():
    """Controllers with the same inputs answer the same states alike, whatever the ground is."""
    setups = [change("duration=0.7"), change("duration=0.7", "friction.mu_along=0.7")]
    trajectory, _ = crawl(setups[1])
    one, two = (make_controller(setup) for setup in setups)
    for i in range(len(trajectory)):
        state = trajectory.state(i)
        np.testing.assert_array_equal(
            one.update(state, None).effort, two.update(state, None).effort
        )


def test_after_a_reset_the_run_is_the_same_to_the_bit():
    """The search included."""
    setup = change("duration=1.5", "controller.mu_along=0.3")
    simulator, controller = make_simulator(setup), make_controller(setup)
    hashes, counts = set(), set()
    for _ in range(2):
        run = run_in(setup, simulator, duration=1.5, controller=controller)
        hashes.add(run.sha256())
        counts.add(len(controller.findings))
    assert len(hashes) == 1
    assert counts.pop() > 0
