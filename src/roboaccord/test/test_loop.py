"""The loop: time, validity of commands, divergence, observers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from roboaccord.errors import AccordError, DivergedError
from roboaccord.loop import count_steps, simulate, tick_time
from roboaccord.state import Command, RobotState

JOINTS = ("a", "b", "c")


class Drift:
    """Integrate q' = effort exactly: no physics, but a simulator by its interface."""

    name, version, order, physics_step = "drift", "1", 1, 0.01
    joints, effort_limits = JOINTS, np.ones(3)

    def __init__(self, burst: float = np.inf) -> None:
        self.burst = burst

    def reset(self, state: RobotState) -> RobotState:
        self._state = state
        return state

    def state(self) -> RobotState:
        return self._state

    def step(self, command: Command, duration: float) -> RobotState:
        q = self._state.q + duration * command.effort
        if self._state.time >= self.burst:
            q = q * np.array([1, np.nan, 1])
        self._state = replace(
            self._state, q=q, effort=command.effort, time=self._state.time + duration
        )
        return self._state

    def take_events(self) -> tuple[()]:
        return ()


class Push:
    """Give the same efforts for ever."""

    def __init__(self, *effort: float) -> None:
        self.effort = np.array(effort)
        self.seeds: list[int] = []

    def reset(self, seed: int) -> None:
        self.seeds.append(seed)

    def update(self, state: RobotState, target: object) -> Command:
        return Command(self.effort)


START = RobotState(0.0, np.zeros(3), np.zeros(3), np.zeros(3))


def run(controller: Push, simulator: Drift | None = None, **changes: float):  # type: ignore[no-untyped-def]
    """Run for 1 s with changes."""
    options = {"duration": 1.0, "control_period": 0.1, **changes}
    return simulate(
        simulator=simulator or Drift(), controller=controller, initial=START, seed=5, **options
    )


def test_samples_start_with_the_initial_state_and_carry_the_effort_in_force() -> None:
    controller = Push(1.0, 0.0, -1.0)
    motion = run(controller)
    assert len(motion) == 11
    assert controller.seeds == [5]
    np.testing.assert_allclose(motion.q[:, 0], motion.time, atol=1e-12)
    assert not motion.effort[0].any()
    assert (motion.effort[1:, 2] == -1.0).all()


def test_tick_times_survive_a_ros_stamp() -> None:
    """Seconds and nanoseconds of a stamp give back the very same float."""
    for tick in (1, 7, 1234567, 10**9 + 1):
        time = tick_time(tick, 1_000_000)
        ns = round(time * 1e9)
        assert (ns // 10**9 * 10**9 + ns % 10**9) / 1e9 == time


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"control_period": 0.3}, "no whole multiple of 0.3 s"),
        ({"control_period": 0.005, "duration": 0.1}, "no whole multiple of 0.01 s"),
    ],
)
def test_periods_that_do_not_divide_are_refused(changes: dict[str, float], message: str) -> None:
    with pytest.raises(AccordError, match=message):
        run(Push(0, 0, 0), **changes)


def test_missing_and_nan_efforts_are_named() -> None:
    with pytest.raises(AccordError, match=r"2 efforts .* 3 joints: c is missing"):
        run(Push(0, 0))
    with pytest.raises(AccordError, match=r"effort nan for b at t = 0\.0"):
        run(Push(0, np.nan, 0))


def test_a_switch_that_is_not_there_is_named() -> None:
    class Grip(Push):
        def update(self, state: RobotState, target: object) -> Command:
            return Command(self.effort, switches={"magnet": True})

    with pytest.raises(AccordError, match=r"Grip sets switch magnet at t = 0\.0.*; there is none"):
        run(Grip(0, 0, 0))


def test_divergence_names_time_and_joint() -> None:
    with pytest.raises(DivergedError, match=r"drift diverged at t = 0\.6\d* s, first at b"):
        run(Push(1, 1, 1), Drift(burst=0.49))


def test_hash_changes_with_the_last_bit() -> None:
    a = run(Push(1.0, 0.0, 0.0))
    b = run(Push(np.nextafter(1.0, 2.0), 0.0, 0.0))
    assert a.sha256() == run(Push(1.0, 0.0, 0.0)).sha256()
    assert a.sha256() != b.sha256()
    assert run(Push(0.0, 0, 0)).sha256() == run(Push(-0.0, 0, 0)).sha256()


@pytest.mark.parametrize(("duration", "step", "count"), [(0.3, 0.1, 3), (10, 0.001, 10000)])
def test_count_steps_takes_no_offence_at_rounding(duration: float, step: float, count: int) -> None:
    assert count_steps(duration, step, "x") == count
