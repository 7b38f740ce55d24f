"""Event location within a step, against the closed form of gaps with constant acceleration."""

from __future__ import annotations

import numpy as np
import pytest
from packbot.simulators.closing import first_closing
from packbot.simulators.reference import PackbotReference
from packbot.source.collapse import collapse_setup
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.numerics.runge_kutta import Step, take_step
from roboaccord.run.loop import make_simulator
from scipy.optimize import brentq

SIZE, BEND = 4e-3, 50.0  # s, the longest step; m/s^2
ONE_STEP = "engine_options.reference.tolerance=1e-3"  # by which 4 ms can be one step
TOLERANCE, MARGIN = 1e-9, 5e-4  # m: of gaps, and of the law


def parabolas(lowest: Array, depth: Array) -> Step:
    """Return a step of gaps that are lowest at parts of it, `depth` [m] below 0."""
    rates = -BEND * SIZE * lowest
    gaps = -depth + 0.5 * BEND * (SIZE * lowest) ** 2
    m = len(lowest)
    start = np.concatenate([gaps, rates])

    def slope(x: Array) -> Array:
        return np.concatenate([x[m:], np.full(m, BEND)])

    return take_step(slope, start, slope(start), SIZE, 1e-8)


def found(step: Step) -> float:
    m = len(step.start) // 2
    ends = (step.start, step.end)
    gaps, rates = ((a[part], b[part]) for a, b in [ends] for part in (slice(m), slice(m, None)))
    return first_closing(step, lambda x: x[:m], gaps, rates, TOLERANCE)


def closing(lowest: float, depth: float) -> float:
    """Return the part at which a gap is half the tolerance below 0."""
    return lowest - np.sqrt(2.0 * (depth - 0.5 * TOLERANCE) / BEND) / SIZE


@pytest.mark.parametrize("lowest", [0.07, 0.31, 0.5, 0.72, 0.93])
@pytest.mark.parametrize("depth", [2e-9, 1e-7, 1e-6])
def test_a_gap_that_closes_and_opens_again_is_closed_at_its_first_crossing(
    lowest: float, depth: float
) -> None:
    """However short it is closed. It is located to 0.05 of the tolerance, whatever its rate."""
    rate = BEND * SIZE**2 * (lowest - closing(lowest, depth))
    part = found(parabolas(np.array([lowest]), np.array([depth])))
    assert part == pytest.approx(closing(lowest, depth), rel=0.0, abs=0.1 * TOLERANCE / rate)


@pytest.mark.parametrize("lowest", [0.07, 0.31, 0.5, 0.72, 0.93])
def test_a_gap_that_stays_open_is_not_closed(lowest: float) -> None:
    """By the tolerance, or by far."""
    for clear in (TOLERANCE, 1e-7, 1e-5, 1e-2):
        assert found(parabolas(np.array([lowest]), np.array([-clear]))) == 2.0
    assert found(parabolas(np.array([-0.5, 1.5]), np.array([-1e-3, -1e-3]))) == 2.0


def test_the_first_of_several_is_taken() -> None:
    """One that closes and opens, one that stays closed, one that stays open; in any order."""
    for dip in (0.3, 0.8):
        lowest, depth = np.array([dip, 1.9, 0.2]), np.array([1e-6, 8e-4, -1e-6])
        first = min(closing(dip, 1e-6), closing(1.9, 8e-4))
        for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
            part = found(parabolas(lowest[order], depth[order]))
            assert part == pytest.approx(first, rel=0.0, abs=1e-5)


def test_a_gap_below_0_is_closed_where_it_comes_lower() -> None:
    """By half the tolerance, located to 0.05 of it; one that opens is not closed."""
    down = parabolas(np.array([0.7]), np.array([1e-3 + 0.5 * BEND * (0.7 * SIZE) ** 2]))
    assert found(down) == pytest.approx(0.5 * TOLERANCE / (0.7 * BEND * SIZE**2), rel=0.11)
    assert found(parabolas(np.array([-0.1]), np.array([1e-3]))) == 2.0


def test_a_joint_that_turns_back_within_a_step_has_been_at_its_limit() -> None:
    """Thrown so that the effort brings it back to where it was in one step of 4 ms."""
    setup = collapse_setup("normal", 1.0, [ONE_STEP])
    simulator = make_simulator(setup)
    assert isinstance(simulator, PackbotReference)
    arm, tilt, away = simulator.arm, 4, 1e-4  # rad
    q, v = np.array([0.0, 1.2, 0.3, -0.5, 0.0, 0.0, 0.0]), np.zeros(7)
    q[tilt] = setup.parameters.upper_tilt - away
    effort = arm.bias(q, v)
    effort[tilt] -= 6.0
    pull = -float(arm.acceleration(q, v, effort)[tilt])
    v[tilt] = 0.5 * pull * SIZE
    assert v[tilt] ** 2 / (2.0 * pull) > 2.0 * away  # it would come that far
    simulator.reset(RobotState(0.0, q, v, np.zeros(7)))
    simulator.step(Command(effort), SIZE)
    (event,) = simulator.take_events()
    assert (event.kind, event.subject) == ("joint_stop", "tilt")
    meets = (v[tilt] - np.sqrt(v[tilt] ** 2 - 2.0 * pull * away)) / pull
    assert event.time == pytest.approx(meets, rel=0.02)  # of friction, and of what else moves


def over_a_board(away: float, thick: float = 0.1) -> tuple[PackbotReference, Array, Array]:
    """Return a simulator, angles with the fingers over a board, and how the gap changes with them.

    Args:
        away: the gap [m].
        thick: the board [m].
    """
    board = f"board: {{size: [0.1, 0.4, {thick}], position: [2.03, 0, {0.25 - 0.5 * thick}]}}"
    level = [f"initial.q.{name}=0" for name in ("shoulder", "elbow1", "elbow2", "tilt")]
    changes = [f"terrain.boxes={{{board}}}", *level, ONE_STEP]
    simulator = make_simulator(collapse_setup("normal", 1.0, changes))
    assert isinstance(simulator, PackbotReference)
    clearance, elbow2 = simulator.clearance, np.eye(7)[3]
    bend = brentq(lambda a: clearance.closest(a * elbow2)[1] - MARGIN - away, -0.04, 0.0)
    q = bend * elbow2
    return simulator, q, clearance.witness(q, [clearance.closest(q)[0]]).jacobian[0]


def test_what_is_fast_meets_a_thin_board() -> None:
    """Thrown down at 9 m/s from 15 mm the fingers would be through it after a step of 4 ms."""
    away, elbow2 = 0.015, np.eye(7)[3]
    simulator, q, row = over_a_board(away, thick=1e-3)
    v = -12.0 * elbow2
    simulator.reset(RobotState(0.0, q, v, np.zeros(7)))
    state = simulator.step(Command(np.zeros(7)), SIZE)
    first = simulator.take_events()[0]
    assert first.subject.endswith("board/board")
    assert first.time == pytest.approx(-away / (row @ v), rel=0.05)  # and other joints turn, too
    assert simulator.clearance.distances(state.q).min() > MARGIN - 10 * TOLERANCE


def test_hulls_that_part_within_a_step_have_met() -> None:
    """The hand is thrown down at a board, and pulled back to where it was in one step of 4 ms."""
    away, elbow2, rest = 5e-5, np.eye(7)[3], np.zeros(7)
    simulator, q, row = over_a_board(away)
    arm = simulator.arm
    effort = arm.bias(q, rest) + 30.0 * elbow2
    pull = float(row @ arm.acceleration(q, rest, effort))  # m/s^2, of the gap
    speed = 0.5 * pull * SIZE
    assert speed**2 / (2.0 * pull) > 2.0 * away
    simulator.reset(RobotState(0.0, q, -speed * elbow2 / row[3], rest))
    simulator.step(Command(effort), SIZE)
    events = simulator.take_events()
    assert {event.subject for event in events} == {
        f"gripper_link/finger_{side} board/board" for side in ("left", "right")
    }
    meets = (speed - np.sqrt(speed**2 - 2.0 * pull * away)) / pull
    for event in events:
        assert event.kind == "impact"
        assert event.time == pytest.approx(meets, rel=0.02)  # of friction, and of turning rows
