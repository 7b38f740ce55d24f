"""The report's gait, the gaits that repeat exactly, and their return maps."""

import lagrangian
import numpy as np
import pytest
from monkeybot.gaits.collisionless import find_collisionless
from monkeybot.gaits.gait import Gait, evaluate, horizontal
from monkeybot.gaits.multipliers import all_multipliers, multipliers
from monkeybot.gaits.repetition import repeat, to_sample
from monkeybot.gaits.search import minimise, refine
from monkeybot.model.coordinates import Mode
from monkeybot.model.events import VERTICAL, linear
from monkeybot.model.hybrid import Phase, Then
from monkeybot.model.motion import Motion
from monkeybots import REPORT, UNLIKE
from roboaccord import AccordError

pytestmark = pytest.mark.thorough

RATES = np.array([0.902, 10.935])
SECOND = np.array([0.768, 11.094])


def solve(start, torque, condition, hand="a"):
    return lagrangian.move_until(REPORT, start, torque, condition, hand)


def energy(x, v):
    return sum(lagrangian.energy(REPORT, x, v))


def test_the_reports_gait_to_the_millisecond():
    """Report: switch at 0.428 s; measured apart: motor 0.02405 s, error 7.6e-4 (facts)."""
    found = evaluate(horizontal(2.0), REPORT, RATES, tolerance=1e-12)
    assert found.switch_time[0] == pytest.approx(0.42805, abs=5e-6)
    assert found.motor_time[0] == pytest.approx(0.02405, abs=5e-6)
    assert found.error[0] == pytest.approx(7.6e-4, abs=1e-5)
    second = evaluate(horizontal(2.0), REPORT, SECOND, tolerance=1e-12)
    assert second.error[0] == pytest.approx(1.07e-3, abs=1e-5)


def test_the_reports_gait_from_the_lagrangian_by_another_integrator():
    """The whole gait in coordinates that are never flipped, with impact and motor on hand B."""
    tip = lambda x: -0.61 * (np.cos(x[2]) + np.cos(x[2] + x[3]))  # noqa: E731
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, *RATES])
    switch, s = solve(start, 0.0, lambda x, v: tip(x))
    rates, _ = lagrangian.impact(REPORT, s[:4], s[4:], "b")
    full = energy(start[:4], start[4:])
    motor, s = solve(np.array([*s[:4], *rates]), -2.0, lambda x, v: energy(x, v) - full, hand="b")
    # The held link is B: it hangs straight down where th1 + th2 = pi, rising to the right.
    coast, s = solve(s, 0.0, lambda x, v: np.sin(x[2] + x[3] - np.pi), hand="b")
    th2, w1, w2 = -s[3], s[6] + s[7], -s[7]
    expected = th2**2 + (w1 - RATES[0]) ** 2 + (w2 - RATES[1]) ** 2
    found = evaluate(horizontal(2.0), REPORT, RATES, tolerance=1e-12)
    assert np.abs(found.times[0] - [switch, motor, coast]).max() < 1e-9
    assert np.abs(found.final[0] - [0.0, th2, w1, w2]).max() < 1e-7
    assert found.error[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("guess", "angle", "period", "stride"),
    [(0.58, 0.58225, 0.86424, 0.671), (1.08, 1.07740, 0.88445, 1.075)],
)
def test_collisionless_gaits_of_the_facts_return_to_their_start(guess, angle, period, stride):
    found = find_collisionless(REPORT, guess)
    assert found.angle == pytest.approx(angle, abs=1e-5)
    assert found.period == pytest.approx(period, abs=1e-5)
    assert found.stride == pytest.approx(stride, abs=1e-3) and found.residual < 1e-8
    # The same from the Lagrangian, without a flip: at the end both hands rest on the line.
    x = np.array([0.0, 0.0, -found.angle, 2.0 * found.angle - np.pi])
    x, v = lagrangian.move(REPORT, x, np.zeros(4), 0.0, "a", found.period)
    assert np.abs(x[2:] - [found.angle, np.pi - 2.0 * found.angle]).max() < 1e-8
    assert np.abs(v).max() < 1e-8


def test_collisionless_gaits_are_refused_where_there_are_none():
    with pytest.raises(AccordError, match="both links alike"):
        find_collisionless(UNLIKE, 0.6)
    with pytest.raises(AccordError, match="within 15 degrees"):
        find_collisionless(REPORT, 0.2)


def test_starts_that_miss_the_line_are_nan_and_no_hang():
    found = evaluate(horizontal(2.0), REPORT, np.array([[0.1, 2.0], RATES, [np.nan, 3.0]]))
    assert np.array_equal(np.isnan(found.error), [True, False, True])
    assert np.isnan(found.switch_time[0])


@pytest.mark.slow
def test_the_search_goes_down_the_valley_to_the_collisionless_gait():
    """Facts: the valley's floor falls to 0 at (1.55052, 10.18253)."""
    best = minimise(horizontal(2.0), REPORT, np.array([1.0, 12.0]))
    assert best.figures.error < 1e-10
    assert np.abs(best.rates - [1.55052, 10.18253]).max() < 0.02
    assert find_collisionless(REPORT, 0.58).rates == pytest.approx([1.55052, 10.18253], abs=1e-5)


def test_an_exact_gait_repeats_and_is_the_facts_one():
    gait = horizontal(10.0)
    found = refine(gait, REPORT, np.array([0.63, 11.21]))
    assert found.residual < 1e-10
    assert np.abs(found.rates - [0.63, 11.21]).max() < 5e-3
    # Twice in a row, on one hand and on the other, it ends where it began.
    motion = Motion(REPORT, np.array([0.0, 0.0, *found.rates, 0.0, 0.0, 0.0, 0.0]))
    times = found.evaluation.times[0]
    for hand in (Mode.SWING_B, Mode.SWING_A):
        motion.advance(times[0])
        motion.switch_to(hand)
        motion.advance(times[1], 10.0)
        motion.advance(times[2])
        assert np.abs(motion.hand_state[:4] - [0.0, 0.0, *found.rates]).max() < 1e-8


@pytest.mark.slow
def test_multipliers_are_those_of_another_integrator():
    """The derivative of the timed map, from the Lagrangian by scipy and differences of its own."""
    gait = horizontal(10.0)
    found = refine(gait, REPORT, np.array([0.63, 11.21]))
    times = found.evaluation.times[0]

    def pure(state):
        x, v = np.array([0.0, 0.0, *state[:2]]), np.array([0.0, 0.0, *state[2:]])
        x, v = lagrangian.move(REPORT, x, v, 0.0, "a", times[0])
        v, _ = lagrangian.impact(REPORT, x, v, "b")
        x, v = lagrangian.move(REPORT, x, v, -10.0, "b", times[1])
        x, v = lagrangian.move(REPORT, x, v, 0.0, "b", times[2])
        return np.array([x[2] + x[3] - np.pi, -x[3], v[2] + v[3], -v[3]])

    start = np.array([0.0, 0.0, *found.rates])
    h = 1e-5
    slope = np.array([pure(start + h * e) - pure(start - h * e) for e in np.eye(4)]).T / (2 * h)
    expected = np.sort_complex(np.linalg.eigvals(slope))
    values = all_multipliers(gait, REPORT, start)
    assert np.sort_complex(values["clock"]) == pytest.approx(expected, abs=1e-4)
    # Energy is restored to that of each start, whatever it was: nothing brings it back to another.
    assert np.abs(values["state_triggered"] - 1.0).min() < 1e-8
    assert len(values["timed"]) == len(values["state_triggered"]) == 3
    assert max(abs(values["timed"])) > 1.0  # facts: all spectral radii exceed 1


def test_repetition_decays_as_the_report_says():
    """Facts: 7 to 12 gaits, depending on how the clock is reset."""
    for clock in ("reset", "pure"):
        found = repeat(REPORT, RATES, 2.0, steps=14, clock=clock)
        lost = int(np.argmax(~(found.error < 1.0)))
        assert 5 <= lost <= 12
        assert abs(found.height[0]) < 1e-3
        assert found.kinetic_energy[0] == pytest.approx(6.8, abs=0.05)
    exact = repeat(REPORT, RATES, 2.0, steps=1, sample=0.0)
    assert exact.error[0] == pytest.approx(7.65e-4, abs=1e-6)


def test_times_are_rounded_to_samples():
    assert to_sample(0.42805, 0.001) == pytest.approx(0.428)
    assert to_sample(0.42805, 0.0) == 0.42805


@pytest.mark.slow
def test_a_gait_of_another_kind_needs_no_change_of_the_search():
    """Two motor intervals: before the change of hands and after it."""
    gait = Gait(
        "two motor intervals",
        (
            Phase(linear("half-way", th2=1.0, above=1.0), torque=0.5),
            Phase(horizontal(2.0).phases[0].until, then=Then.CHANGE),
            Phase(horizontal(2.0).phases[1].until, torque=-2.0, may_stop=True),
            Phase(VERTICAL),
        ),
        stop=VERTICAL,
    )
    best = minimise(gait, REPORT, np.array([1.0, 11.0]), tolerance=1e-10)
    assert best.figures.error < evaluate(gait, REPORT, np.array([1.0, 11.0])).error[0]
    assert len(multipliers(gait, REPORT, np.array([0.0, 0.0, 1.0, 11.0]))) == 3
    # Its least error is where the hand only just reaches the line: beside it there is no gait.
    with pytest.raises(AccordError, match="no derivative"):
        multipliers(gait, REPORT, np.array([0.0, 0.0, *best.rates]))
