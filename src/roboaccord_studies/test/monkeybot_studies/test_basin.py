"""Basins and robustness: walks against the Lagrangian, shares against theory, threads, mistakes."""

import lagrangian
import numpy as np
import pytest
from monkeybot.gaits.gait import ENSEMBLE, evaluate
from monkeybots import REPORT, oracle
from roboaccord import AccordError
from roboaccord.run import pieces
from roboaccord_studies.monkeybot.basin import (
    Disturbance,
    Draws,
    basin,
    robustness,
    share_of,
    with_errors,
)
from roboaccord_studies.monkeybot.orbits import shipped_gait
from roboaccord_studies.monkeybot.rollouts import walk

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def clocked():
    return shipped_gait("clocked", REPORT)


@pytest.fixture(scope="module")
def wide(clocked):
    """Return a basin in which some starts come back and others do not."""
    return basin(clocked, REPORT, sd_angle=0.05, sd_rate=0.25, draws=Draws(200, 100))


def test_disturbed_steps_are_the_lagrangians(clocked):
    """Three changes of hands by scipy, in coordinates that are never flipped."""
    rng = np.random.default_rng(8)
    start = clocked.start + rng.normal(0.0, [0.02, 0.02, 0.1, 0.1])
    jitter, factor = rng.uniform(-2e-3, 2e-3, 3), 1.03
    found = walk(
        clocked, REPORT, start, 3, jitter=jitter[None, :, None], factors=np.array([factor]),
        tolerance=1e-12,
    )  # fmt: skip
    x, v = oracle(np.array([*start, 0.0, 0.0, 0.0, 0.0]))
    for late, held, free, sign in zip(jitter, "aba", "bab", (1, -1, 1), strict=True):
        torque = sign * factor * clocked.controls["torque"]
        x, v = lagrangian.move(REPORT, x, v, torque, held, clocked.period + late)
        v, _ = lagrangian.impact(REPORT, x, v, free)
    seen = np.array([x[2] + x[3] - np.pi, -x[3], v[2] + v[3], -v[3]])
    away = found.final[0] - seen
    away[0] -= 2.0 * np.pi * round(away[0] / (2.0 * np.pi))
    assert np.abs(away).max() < 1e-8
    length = REPORT.length_a
    down = np.array([x[2], x[2] + x[3]])
    tip = x[:2] + length * np.array([np.sin(down).sum(), -np.cos(down).sum()])
    assert found.displacement[0] == pytest.approx(tip, abs=1e-8) and found.survived[0]


def test_survivors_are_back_on_the_orbit_and_the_others_are_lost(clocked, wide):
    """A disturbance fades like a power of the spectral radius, 0.53: none is left after 100."""
    alive = wide.walks.survived
    assert 0 < alive.sum() < len(alive)
    assert np.abs(wide.walks.final[alive] - clocked.start).max() < 1e-6
    assert (wide.walks.cycles[alive] == 100).all()
    assert (wide.walks.cycles[~alive] < 100).all()
    longer = walk(clocked, REPORT, wide.starts, 200)
    assert np.array_equal(longer.survived, alive)


def one_by_one(orbit, state, most):
    """Return the steps until the loss, by its definition: backwards, or the elbow round; which."""
    for count in range(most):
        step = evaluate(orbit.gait, REPORT, state)
        state = step.final[0]
        if step.travel[0, 0] <= 0.0:
            return count, "backwards"
        if abs(state[1] - orbit.start[1]) > np.pi:
            return count, "round"
    return most, ""


def test_steps_one_by_one_come_to_the_same(clocked, wide):
    for start, cycles in zip(wide.starts[:30], wide.walks.cycles[:30], strict=True):
        assert one_by_one(clocked, start, 100)[0] == cycles


def test_who_goes_backwards_or_turns_the_elbow_round_is_lost(clocked):
    spread = np.random.default_rng(0).normal(0.0, [0.2, 0.2, 1.0, 1.0], (ENSEMBLE, 4))
    starts = clocked.start + spread
    alone = [one_by_one(clocked, start, 3) for start in starts]
    assert min(np.unique([why for _, why in alone], return_counts=True)[1]) > 5
    assert walk(clocked, REPORT, starts, 3).cycles.tolist() == [count for count, _ in alone]


def test_threads_change_no_bit_and_the_seed_does(clocked, wide, monkeypatch):
    noise, found = Disturbance(jitter=1e-3, torque_error=0.01, parameter_error=1e-3), []
    for threads in (1, 3):
        monkeypatch.setattr(pieces, "cores", lambda threads=threads: threads)
        again = basin(clocked, REPORT, sd_angle=0.05, sd_rate=0.25, draws=Draws(200, 100))
        found.append(robustness(clocked, REPORT, noise, draws=Draws(12, 40)))
        assert again.walks.final.tobytes() == wide.walks.final.tobytes()
    other = basin(clocked, REPORT, sd_angle=0.05, sd_rate=0.25, draws=Draws(200, 100, 1))
    assert not np.array_equal(other.starts, wide.starts)
    assert len({one.walks.final.tobytes() for one in found}) == 1


def test_starts_are_spread_as_asked(clocked, wide):
    """Standard deviations of 200 samples: within four standard errors, sd / sqrt(2 n)."""
    found = (wide.starts - clocked.start).std(axis=0)
    expected = np.array([0.05, 0.05, 0.25, 0.25])
    assert (np.abs(found / expected - 1.0) < 4.0 / np.sqrt(400.0)).all()


def test_small_disturbances_of_stable_gaits_fade_and_of_unstable_ones_do_not(clocked):
    small, few = {"sd_angle": 1e-4, "sd_rate": 1e-3}, Draws(50, 100)
    assert basin(clocked, REPORT, **small, draws=few).survived == 1.0
    two_step = basin(shipped_gait("two_step", REPORT), REPORT, **small, draws=Draws(50, 99))
    assert two_step.survived == 1.0
    passive = shipped_gait("passive", REPORT)
    assert passive.spectral_radius > 1.0
    assert basin(passive, REPORT, **small, draws=few).survived == 0.0


@pytest.mark.parametrize(("hits", "n"), [(0, 50), (7, 50), (887, 1000), (1000, 1000)])
def test_the_interval_is_wilsons(hits, n):
    """Wilson 1927: where |share - p| is 1.96 times the deviation that p would give."""
    found = share_of([True] * hits + [False] * (n - hits))
    assert found.survived == hits / n
    for p in (found.low, found.high):
        square = (found.survived - p) ** 2 * n
        assert square == pytest.approx(1.959963985**2 * p * (1.0 - p), abs=1e-9)
    assert found.low <= found.survived <= found.high


@pytest.mark.parametrize("spread", ["uniform", pytest.param("normal", marks=pytest.mark.slow)])
def test_the_clocked_gait_walks_500_steps_with_half_a_millisecond_of_jitter(clocked, spread):
    found = robustness(
        clocked, REPORT, Disturbance(jitter=5e-4, spread=spread), draws=Draws(100, 500)
    )
    assert len(found.walks.cycles) == 100 and found.share.survived == 1.0
    assert (found.walks.cycles == 500).all()


def test_height_under_jitter_is_a_random_walk(clocked):
    """Each late change displaces the robot for good, by what one alone does.

    The deviation is that times the root of the steps; of 200 samples, within four standard errors.
    """
    late = np.zeros((1, 60, 1))
    late[0, 0] = 1e-5
    alone = walk(clocked, REPORT, clocked.start, 60, jitter=late, tolerance=1e-12)
    never = walk(clocked, REPORT, clocked.start, 60, tolerance=1e-12)
    shift = (alone.displacement[0, 1] - never.displacement[0, 1]) / 1e-5
    noise = Disturbance(jitter=2e-4, spread="normal")
    found = robustness(clocked, REPORT, noise, draws=Draws(200, 100))
    expected = abs(shift) * 2e-4 * np.sqrt(100.0)
    assert found.rise_sd == pytest.approx(expected, rel=4.0 / np.sqrt(400.0) + 0.02)


def test_who_is_not_disturbed_rises_as_the_orbit_does():
    """Which is 12 mm a step, so that there is no rise over it."""
    climbing = shipped_gait("climbing", REPORT)
    found = robustness(climbing, REPORT, Disturbance(), draws=Draws(2, 20))
    assert found.walks.displacement[:, 1] == pytest.approx(20 * 0.012)
    assert found.rise == pytest.approx(0.0, abs=1e-8)


def test_a_gait_that_changes_hands_by_its_state_heeds_no_jitter():
    level = shipped_gait("level", REPORT)
    found = robustness(level, REPORT, Disturbance(jitter=0.01), draws=Draws(5, 20))
    assert found.share.survived == 1.0
    assert np.abs(found.walks.displacement[:, 1]).max() < 1e-9


def test_errors_of_parameters_are_shares_of_each():
    errors = np.array([0.01, -0.02, 0.03, -0.01, 0.02, 0.005, -0.03, 0.01])
    robot = with_errors(REPORT, errors)
    names = ("mass_a", "mass_b", "inertia_a", "inertia_b", "length_a", "length_b")
    ratios = [getattr(robot, name) / getattr(REPORT, name) for name in names]
    assert ratios == pytest.approx(1.0 + errors[:6])
    assert (robot.length_a - robot.centre_a) / (REPORT.length_a - REPORT.centre_a) == (
        pytest.approx(0.97)
    )
    assert robot.centre_b / REPORT.centre_b == pytest.approx(1.01)


def test_what_makes_no_sense_is_refused(clocked):
    with pytest.raises(AccordError, match="torque_error is -1"):
        Disturbance(torque_error=-1.0)
    with pytest.raises(AccordError, match="below 1"):
        Disturbance(parameter_error=1.0)


@pytest.mark.slow
def test_the_commands_say_it(figures, clocked):
    message = figures("basin --gait clocked --sd-angle 0.05 --sd-rate 0.25 --samples 60")
    found = basin(clocked, REPORT, sd_angle=0.05, sd_rate=0.25, draws=Draws(60, 100))
    assert (message["survived"], message["low"], message["high"]) == (
        found.survived, found.low, found.high,
    )  # fmt: skip
    (row,) = figures("robust --gait clocked --jitter 0.0005 --steps 50 --samples 10")["results"]
    assert row["jitter"] == 0.0005 and row["survived"] == 1.0
    assert row["steps_lost"] is None


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("basin --gait clockd --sd-angle 0.1 --sd-rate 0.1", "did you mean clocked?"),
        ("basin --gait clocked --sd-angle 0.1 --sd-rate 0.1 --samples 0", "'--samples'"),
        ("basin --gait clocked --sd-angle -0.1 --sd-rate 0.1", "sd-angle is -0.1"),
        ("basin --gait clocked --sd-angle 0.1 --sd-rate nan", "--sd-rate: nan is not a number"),
        ("robust --gait clocked --jitter -0.001", "jitter is -0.001"),
        ("robust --gait clocked --steps 0", "'--steps'"),
        ("lqr --gait clocked", "do not begin at the vertical"),
    ],
)
def test_a_mistake_is_one_line(words, line, complaint):
    assert line in complaint(f"{words} --json")
