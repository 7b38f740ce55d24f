"""Two recordings of one motion compare as equal, whatever samples they hold and in either order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import toy_robot
from compared_bags import compare
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.bag.compare import Pair
from roboaccord.bag.resampling import Resampling, find_jumps
from roboaccord.bag.writer import write_trajectory
from roboaccord.contract.checks import NANOSECONDS, tick_time
from roboaccord.contract.state import RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.numerics.rotations import quaternion_matrix, rpy_quaternion, turn_quaternion

pytestmark = pytest.mark.thorough

TICKS = 50
PERIOD = toy_robot.PERIOD
W = 7.0  # rad/s
impacts = st.lists(st.integers(1, 10 * TICKS - 1), max_size=4, unique=True)
decimation = st.tuples(st.integers(1, 8), st.integers(0, 5))


def motion(hits: list[int], seed: int) -> Trajectory:
    """Return a motion: `turn` swings, `slide` goes straight from hit to hit, efforts are random.

    A hit is at a tenth of a tick, so within one or at its end.
    """
    rng = np.random.default_rng(seed)
    efforts = rng.uniform(-1.0, 1.0, (TICKS + 1, 2))
    times = np.array(sorted(hits)) * 0.1 * PERIOD
    speeds = rng.uniform(-1.0, 1.0, len(hits) + 1)
    states = []
    for i in range(TICKS + 1):
        t = tick_time(i, round(PERIOD * NANOSECONDS))
        passed = np.searchsorted(times, t, side="right")
        ends = np.clip(np.append(times, np.inf), 0.0, t)
        slide = speeds @ np.diff(ends, prepend=0.0)
        q, qd = np.array([np.sin(W * t), slide]), np.array([W * np.cos(W * t), speeds[passed]])
        turn = rpy_quaternion(0.0, 0.0, 4.0 * t)
        states.append(RobotState(t, q, qd, efforts[i], np.array([t, 0.0, 0.0]), turn, np.zeros(6)))
    events = [Event(float(t), "impact", "slide") for t in times]
    return Trajectory.from_states(toy_robot.JOINTS, states, events)


def part_of(whole: Trajectory, stride: int, offset: int) -> Trajectory:
    """Return every n-th sample."""
    states = [whole.state(i) for i in range(offset, len(whole), stride)]
    return Trajectory.from_states(whole.joints, states, whole.events)


def tumbling(t: float, rates: float) -> RobotState:
    """Return a joint that swings, on a base that circles and turns about a tilted axis."""
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    turn = turn_quaternion(np.sin(t) * axis)
    place, speed = np.array([np.cos(t), np.sin(t), t]), np.array([-np.sin(t), np.cos(t), 1.0])
    twist = np.concatenate([quaternion_matrix(turn).T @ speed, np.cos(t) * axis])
    q, qd = np.array([np.sin(t), 0.0]), rates * np.array([np.cos(t), 0.0])
    return RobotState(t, q, qd, np.zeros(2), place, turn, rates * twist)


@pytest.mark.parametrize("rates", [1.0, 0.0, -1.0, 1.1])
def test_positions_between_samples_are_cubics_where_the_recorded_rates_fit(rates: float) -> None:
    """By Taylor a cubic is off by h^4 / 384 of a fourth derivative at most, a line by h^2 / 8.

    No derivative of the base's angles is above 10. Rates that are missing, of the wrong sign or
    unit leave lines, whose error is not made worse.
    """
    states = [tumbling(tick_time(i, 10_000_000), rates) for i in range(101)]
    whole = Trajectory.from_states(toy_robot.JOINTS, states)
    h = 3 * PERIOD
    for pair in both_ways(part_of(whole, 2, 0), part_of(whole, 3, 1)):
        assert pair.interpolated == 50 + 34 - 2 * 17 and not pair.stamps_left
        cubic, line = h**4 / 384, h**2 / 8
        largest = {name: d.max for name, d in pair.signals.items() if name[:2] in ("q/", "ba")}
        bound = cubic if rates == 1.0 else line
        assert largest.pop("q/turn") <= 1.01 * bound
        assert all(off <= 10.0 * bound for off in largest.values())
        assert rates == 1.0 or max(largest.values()) > 0.1 * line


def both_ways(one: Trajectory, other: Trajectory) -> tuple[Pair, Pair]:
    """Return the result of comparing two motions, in either order."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in "ab"]
        for path, trajectory in zip(paths, (one, other)):
            write_trajectory(path, toy_robot.make_setup(), "e", "1", trajectory)
        a, b = paths
        return compare(a, [b]).pairs[0], compare(b, [a]).pairs[0]


@pytest.fixture(autouse=True, scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMENT_PREFIX_PATH", "")
        toy_robot.install(tmp_path_factory.mktemp("prefix"))
        yield


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(impacts, decimation, decimation, st.integers(0, 99))
def test_one_motion_is_equal_to_itself_at_any_rate(
    hits: list[int], one: tuple[int, int], other: tuple[int, int], seed: int
) -> None:
    """Held efforts and a speed that only hits change are the same; the swing is within h^2 / 8."""
    whole = motion(hits, seed)
    pair, _ = both_ways(part_of(whole, *one), part_of(whole, *other))
    h = PERIOD * max(one[0], other[0])
    for name, deviation in pair.signals.items():
        curvature = {"q/turn": W**2, "qd/turn": W**3}.get(name, 0.0)
        bound = h**2 / 8 * curvature + 1e-12
        if name != "q/slide":  # bends at hits; there a chord is off by more
            assert deviation.max <= bound, name
    shared = set(range(one[1], TICKS + 1, one[0])) & set(range(other[1], TICKS + 1, other[0]))
    assert ("effort/turn" in pair.signals) >= bool(shared)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(impacts, decimation, decimation, st.integers(0, 99))
def test_the_order_of_two_bags_does_not_matter(
    hits: list[int], one: tuple[int, int], other: tuple[int, int], seed: int
) -> None:
    """Two motions that have nothing in common, each with samples of its own."""
    pair, back = both_ways(part_of(motion(hits, seed), *one), part_of(motion([], 100), *other))
    assert pair.signals == back.signals
    assert (pair.duration, pair.left_out) == (back.duration, back.left_out)


def test_a_rate_is_not_interpolated_through_an_impact_of_either_run() -> None:
    """One hit within a tick: of seven fine samples between two coarse ones all but these go."""
    whole = motion([205], 1)  # at 0.205 s, between samples 20 and 21
    coarse = part_of(whole, 7, 0)  # the hit is between 0.14 and 0.21 s
    states = [whole.state(i) for i in range(len(whole)) if i != 42]  # so neither has all stamps
    fine = Trajectory.from_states(whole.joints, states, whole.events)
    pair, back = both_ways(fine, coarse)
    for found in (pair, back):
        assert found.left_out["qd/turn"] == found.left_out["qd/slide"] == 6
        assert found.signals["qd/slide"].max < 1e-12
    silent = Trajectory.from_states(whole.joints, [coarse.state(i) for i in range(len(coarse))])
    assert both_ways(fine, silent)[0].signals["qd/slide"].max < 1e-12


def test_a_jump_is_found_without_an_event() -> None:
    times = np.linspace(0.0, 1.0, 101)
    rate = np.cos(W * times)
    assert not find_jumps(times, rate).any()
    assert not find_jumps(times, np.maximum(times - 0.5, 0.0)).any()  # a force that begins to act
    assert np.flatnonzero(find_jumps(times, rate + (times > 0.304))).tolist() == [31]


def test_a_held_value_rules_the_control_period_that_ends_at_its_sample() -> None:
    times, values = np.array([0.0, 0.02, 0.04]), np.array([1.0, 2.0, 3.0])
    grid = np.array([0.0, 0.005, 0.01, 0.015, 0.02, 0.035])
    held, known = Resampling(times, grid, np.inf, []).piecewise_constant(values)
    assert held.tolist() == [1.0, 2.0, 2.0, 2.0, 2.0, 3.0] and known.all()
    known = Resampling(times, grid, 0.01, []).piecewise_constant(values)[1]
    assert known.tolist() == [True, False, False, True, True, True]


def test_a_turn_is_followed_on_the_shortest_way_whatever_the_sign_of_the_quaternion() -> None:
    times = np.array([0.0, 1.0])
    ends = np.array([rpy_quaternion(0.0, 0.0, 0.2), -rpy_quaternion(0.0, 0.0, 1.0)])
    found = Resampling(times, np.array([0.25]), np.inf, []).orientations(ends, np.zeros((2, 3)))[0]
    np.testing.assert_allclose(found, rpy_quaternion(0.0, 0.0, 0.4), atol=1e-15)


def test_only_the_time_that_both_cover_is_compared() -> None:
    """Runs from 0 to 0.3 s and from 0.2 to 0.5 s, the same in between; the rest is no matter."""
    states = [motion([], 1).state(i) for i in range(TICKS + 1)]
    one = Trajectory.from_states(toy_robot.JOINTS, states[:31])
    other = Trajectory.from_states(toy_robot.JOINTS, states[20:])
    for pair in both_ways(one, other):
        assert pair.duration == pytest.approx(0.1, abs=1e-12)
        assert all(deviation.max == 0.0 for deviation in pair.signals.values())
    moved = replace(states[25], q=states[25].q + 0.5)
    other = Trajectory.from_states(toy_robot.JOINTS, [*states[20:25], moved, *states[26:]])
    for pair in both_ways(one, other):
        deviation = pair.signals["q/turn"]
        assert deviation.max == pytest.approx(0.5) and deviation.at == states[25].time
        assert deviation.rms == pytest.approx(0.5 / np.sqrt(11))  # of 11 samples that both have
