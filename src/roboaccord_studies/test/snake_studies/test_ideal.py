"""The ideally tracked gait against independent figures, and what a search takes of it."""

import math

import numpy as np
import pytest
from oracle import headings, lever_matrix
from roboaccord import Setup, load_scenario
from roboaccord_studies.snake import compass as search
from roboaccord_studies.snake.compass import Task
from roboaccord_studies.snake.ideal import Figures, Gait, IdealModel
from scipy.optimize import brentq
from snake.model.ground import friction_of

pytestmark = pytest.mark.thorough

DEFAULT_GAIT = Gait(amplitude=0.4, frequency=1.0, waves=1.5)


def model_on(mu_along, mu_across, joints=21):
    """Return the ideal model of a snake on a ground."""
    ground = f"friction={{law: ellipse, mu_along: {mu_along}, mu_across: {mu_across}}}"
    changes = [f"parameters.joints={joints}", ground]
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", changes))
    return IdealModel(setup.parameters, *friction_of(setup))


@pytest.mark.parametrize(
    ("joints", "mu", "speed"),
    [
        (21, (0.1, 1.0), 1.066), (20, (0.1, 1.0), 1.03), (20, (0.3, 0.9), 0.69),
        (20, (0.5, 1.0), 0.40), (20, (1.0, 1.0), -0.07), (20, (1.0, 0.1), -0.38),
    ],
)  # fmt: skip
def test_speed_is_that_of_an_independent_computation(joints, mu, speed):
    """Within 1 %, or half of the last digit that the independent figures have."""
    figures = model_on(*mu, joints=joints).evaluate(DEFAULT_GAIT)
    assert figures.speed == pytest.approx(speed, rel=0.01, abs=0.005)


@pytest.mark.parametrize(("frequency", "effort"), [(1.0, 1.3), (2.0, 4.4), (3.0, 9.7)])
def test_peak_effort_is_that_of_an_independent_computation(frequency, effort):
    """Within half of the last digit."""
    figures = model_on(0.1, 1.0, joints=20).evaluate(Gait(0.4, frequency, 1.5))
    assert figures.peak_effort == pytest.approx(effort, abs=0.05)


def test_both_signs_reversed_are_the_same_gait():
    """sin(-(2 pi f t - beta i)) is the wave half a period later, seen in a mirror."""
    model = model_on(0.3, 0.9, joints=8)
    one, other = (model.evaluate(Gait(0.3, s * 1.2, s * 1.1), 1e-7) for s in (1, -1))
    assert one.speed == pytest.approx(other.speed, rel=1e-5)
    assert one.peak_effort == pytest.approx(other.peak_effort, rel=1e-5)


def test_in_portions_or_at_once_is_the_same():
    """Looking at a gait beside the control of a robot gives the same figures, to round-off."""
    model = model_on(0.1, 1.0, joints=8)
    *_, portions = model.evaluating(DEFAULT_GAIT, 7)
    assert portions.speed == pytest.approx(model.evaluate(DEFAULT_GAIT).speed, rel=1e-9)


def test_clearance_of_a_straight_and_of_a_curled_body():
    """Next but one links are 0.2 m apart when straight; half a turn in 10 joints is a semicircle.

    Links of 0.1 m and 18 degrees lie on a circle of 0.1 / (2 sin 9 deg); the ends are the nearest
    of all but neighbours only when the circle closes.
    """
    assert model_on(0.1, 1, joints=10).clearance(Gait(0.0, 1.0, 1.0)) == pytest.approx(0.2)
    closed = model_on(0.1, 1, joints=20).clearance(Gait(math.radians(18), 1.0, 1e-6))
    assert closed < 0.01


def test_clearance_is_that_of_the_chain_written_out():
    """Least distance of centres of links that are no neighbours, over 16 phases of a period."""
    model, rng = model_on(0.1, 1.0, joints=12), np.random.default_rng(5)
    p = model.parameters
    K = lever_matrix(13, p.pivot_behind_front, p.pivot_ahead_of_rear)
    apart = np.subtract.outer(range(13), range(13)) > 1
    for _ in range(5):
        gait = Gait(rng.uniform(0.2, 0.43), rng.uniform(-2, 2), rng.uniform(0.3, 3.0))
        least = math.inf
        for phase in np.copysign(np.arange(16), gait.frequency) / 16:
            lags = gait.waves * np.arange(1, 13) / 12
            th = headings(gait.amplitude * np.sin(2 * math.pi * (phase - lags)), 0.0)
            r = K @ np.exp(1j * th)
            least = min(least, np.abs(np.subtract.outer(r, r))[apart].min())
        assert model.clearance(gait) == pytest.approx(least, rel=1e-12)


def test_links_nearer_than_their_diagonal_are_penalised():
    """That of 70 by 100 mm is 122 mm: two that are so far apart touch in no direction."""
    model, diagonal = model_on(0.1, 1.0, joints=20), math.hypot(0.07, 0.1)

    def nearing(part):
        def over(bend):
            return model.clearance(Gait(bend, 1.0, 1e-6)) - part * diagonal

        return Gait(brentq(over, 0.2, math.radians(18)), 1.0, 1e-6)

    assert search.overlap(model, nearing(1.001)) == 0.0
    assert search.overlap(model, nearing(0.999)) > 0.0
    assert search.overlap(model, nearing(0.9)) == pytest.approx(0.1 * search.PENALTY_WEIGHT)


def test_efforts_keep_five_percent_below_the_limit():
    """Nothing up to limit / 1.05, then in proportion; a lack of speed adds to that."""
    task = Task(objective="cost", max_effort=2.1, min_speed=0.3)
    for peak, speed, expected in [
        (1.99, 0.4, 0.0), (2.01, 0.4, 0.005), (2.4, 0.4, 0.2), (1.0, 0.1, 0.2), (2.4, 0.1, 0.4),
        (1.0, -0.3, 0.6),
    ]:  # fmt: skip
        figures = Figures(speed=speed, peak_effort=peak, cost_of_transport=1.0)
        assert search.excess(figures, task) == pytest.approx(expected, abs=1e-12)
    # Beyond the limit nothing is to be gained: speed grows by 3 m/s for the whole of it at most.
    within, beyond = (Figures(speed=0.5 + 3.0 * more, peak_effort=2.0 * (1.0 + more),
                              cost_of_transport=1.0) for more in (0.0, 0.1))  # fmt: skip
    fast = Task(objective="speed", max_effort=2.1, min_speed=0.3)
    assert search.score(beyond, fast) > search.score(within, fast) + 1.0
    slow = Figures(speed=-1.0, peak_effort=2.0, cost_of_transport=math.inf)
    assert search.excess(slow, fast) == 0.0
    worst = 1e3 + 1.3 * search.PENALTY_WEIGHT
    assert (search.score(slow, fast), search.score(slow, task)) == (1.0, worst)
