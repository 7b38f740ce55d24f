"""The loop: time, validity of commands, divergence, observers."""

from __future__ import annotations

import math
import os
import pickle
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from roboaccord.contract.checks import count_steps
from roboaccord.contract.errors import AccordError, DivergedError, LockstepError
from roboaccord.contract.state import Array, Command, RobotState, Target
from roboaccord.run.answer import reset_controller
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import drive
from roboaccord.run.metrics import KeptMotion
from roboaccord.scenario.watch import SIGNAL
from roboaccord.simulators.base import Simulator

JOINTS = ("a", "b", "c")


class Drift(Simulator):
    """Integrate q' = effort exactly: no physics, but a simulator."""

    name, version, order = "drift", "1", 1

    def __init__(self, burst: float = np.inf) -> None:
        super().__init__(JOINTS, np.full(3, 9.0), 0.01)
        self.burst = burst

    def masses(self) -> dict[str, float]:
        return {}

    def _place(self, state: RobotState) -> None:
        self._q = state.q

    def _read(self) -> RobotState:
        return RobotState(self._time, self._q, np.zeros(3), self._effort)

    def _advance(self, command: Command, duration: float) -> None:
        self._q = self._q + duration * self._effort
        if self.state().time >= self.burst:
            self._q = self._q * np.array([1, np.nan, 1])

    def _accelerate(self, state: RobotState, effort: Array) -> None:
        return None


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


def run(controller: Push, simulator: Drift | None = None, **changes: Any):
    """Run for 1 s with changes."""
    simulator = simulator or Drift()
    motion = KeptMotion(simulator.joints)
    reset_controller(controller, 5)
    options = {"duration": 1.0, "control_period": 0.1, **changes}
    observers = (motion, *options.pop("observers", ()))
    drive(simulator=simulator, controller=controller, initial=START, observers=observers, **options)
    return motion.trajectory


def test_samples_start_with_the_initial_state_and_carry_the_effort_in_force() -> None:
    controller = Push(1.0, 0.0, -1.0)
    motion = run(controller)
    assert len(motion) == 11
    assert controller.seeds == [5]
    np.testing.assert_allclose(motion.q[:, 0], motion.time, atol=1e-12)
    assert not motion.effort[0].any()
    assert (motion.effort[1:, 2] == -1.0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"control_period": 0.3}, "not a whole multiple of 0.3 s"),
        ({"control_period": 0.005, "duration": 0.1}, "not a whole multiple of 0.01 s"),
    ],
)
def test_periods_that_do_not_divide_are_refused(changes: dict[str, float], message: str) -> None:
    with pytest.raises(AccordError, match=message):
        run(Push(0, 0, 0), **changes)


def test_a_switch_that_is_not_there_is_named() -> None:
    class Grip(Push):
        def update(self, state: RobotState, target: object) -> Command:
            return Command(self.effort, switches={"magnet": True})

    with pytest.raises(
        AccordError, match=r"Grip sets switch magnet at t = 0\.0.*; available: none"
    ):
        run(Grip(0, 0, 0))


def test_divergence_names_time_and_joint() -> None:
    with pytest.raises(DivergedError, match=r"drift diverged at t = 0\.6\d* s, first at b"):
        run(Push(1, 1, 1), Drift(burst=0.49))


def test_hash_changes_with_the_last_bit() -> None:
    a = run(Push(1.0, 0.0, 0.0))
    b = run(Push(np.nextafter(1.0, 2.0), 0.0, 0.0))
    assert a.sha256() == run(Push(1.0, 0.0, 0.0)).sha256() and a.sha256() != b.sha256()
    assert run(Push(0.0, 0, 0)).sha256() == run(Push(-0.0, 0, 0)).sha256()


@pytest.mark.parametrize(("duration", "step", "count"), [(0.3, 0.1, 3), (10, 0.001, 10000)])
def test_count_steps_takes_no_offence_at_rounding(duration: float, step: float, count: int) -> None:
    assert count_steps(duration, step, "x") == count


class Doing(Push):
    """Do something with state and target from t = 0.5 s on, then answer with zeros."""

    def __init__(self, deed: Callable[[RobotState, Any], object]) -> None:
        super().__init__(0.0, 0.0, 0.0)
        self.deed = deed

    def update(self, state: RobotState, target: object) -> Command:
        if state.time > 0.45:
            self.deed(state, target)
        return Command(self.effort)


def add(values: Any) -> None:
    values += 0.001


def switch(state: RobotState) -> None:
    state.switches["magnet"] = True  # type: ignore[index]


WRITES: dict[str, Callable[[RobotState, Any], object]] = {
    **{
        name: lambda state, target, name=name: add(getattr(state, name))
        for name in ("q", "qd", "effort", "position", "orientation", "twist")
    },
    "switches": lambda state, target: switch(state),
    "a field": lambda state, target: setattr(state, "q", state.q + 0.001),
    "the target's twist": lambda state, target: add(target.twist),
    "the target's velocity": lambda state, target: add(target.velocity),
}


class Mistaken(Push):
    """Gives a command whose parts are something else."""

    def update(self, state: RobotState, target: object) -> Command:
        return Command(self.effort, ["magnet"])  # type: ignore[arg-type]


def test_a_command_of_wrong_parts_is_refused() -> None:
    with pytest.raises(AccordError, match=r"^Mistaken gave an invalid Command \(dictionary .*0 s$"):
        run(Mistaken(0.0, 0.0, 0.0))


class Finding(Push):
    """Find something that is no event."""

    def update(self, state: RobotState, target: object) -> Command:
        return Command(self.effort, findings=("loose",))  # type: ignore[arg-type]


def test_findings_that_are_no_events_are_refused() -> None:
    message = r"^Finding gave findings that are not events at t = 0\.000000 s$"
    with pytest.raises(AccordError, match=message):
        run(Finding(0.0, 0.0, 0.0))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_states_and_targets_are_read_only(write: Callable[[RobotState, Any], object]) -> None:
    with pytest.raises(
        AccordError, match=r"Doing raised \w+: .*\(states are read-only: .*\) at t = 0\.5"
    ) as caught:
        run(Doing(write), inputs=Hold(Target(velocity=np.ones(3))))
    assert "\n" not in str(caught.value)


def test_a_state_does_not_change_when_the_memory_of_its_maker_does() -> None:
    memory = np.zeros((2, 3))
    state = RobotState(0.0, memory[0], memory[1], np.zeros(3))
    copy = pickle.loads(pickle.dumps(state))
    memory += 1.0
    for one in (state, copy):
        assert not one.q.any() and not one.qd.any() and not one.q.flags.writeable


def test_a_motion_does_not_change_when_the_arrays_of_its_controller_do() -> None:
    class Reusing(Push):
        def update(self, state: RobotState, target: object) -> Command:
            self.effort[:] = state.time
            self.wrench[:] = state.time
            return self.command

        def reset(self, seed: int) -> None:
            self.effort, self.wrench = np.zeros(3), np.zeros(6)
            self.command = Command(self.effort, wrench=self.wrench)

    motion = run(Reusing())
    assert motion.wrench is not None
    expected = np.append(0.0, motion.time[:-1])
    np.testing.assert_array_equal(motion.effort[:, 0], expected)
    np.testing.assert_array_equal(motion.wrench[:, 0], expected)
    for values in (motion.q, motion.time, motion.wrench):
        with pytest.raises(ValueError, match="read-only"):
            values += 1.0


def sleep(state: RobotState, target: object) -> None:
    time.sleep(600.0)


IN_VAIN = 0.2  # s


def spin(state: RobotState, target: object) -> None:
    while True:
        try:
            math.sqrt(state.time)
        except Exception:
            continue


@pytest.mark.parametrize("deed", [sleep, spin])
def test_a_controller_that_gives_no_answer_is_ended(deed: Callable[..., None]) -> None:
    before = signal.getsignal(SIGNAL)
    started = time.monotonic()
    with pytest.raises(
        LockstepError, match=r"^no command for t = 0\.500000 s from the controller within 0\.2 s$"
    ):
        run(Doing(deed), timeout=IN_VAIN)
    assert time.monotonic() - started < 300.0  # half of the sleep
    assert signal.getsignal(SIGNAL) == before


def test_a_controller_that_gives_no_answer_is_ended_in_any_thread() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(LockstepError, match=r"within 0\.2 s"):
        pool.submit(run, Doing(spin), timeout=IN_VAIN).result(300.0)


def test_time_is_counted_for_each_answer_and_without_what_numba_compiles() -> None:
    """Ten answers, each of a third of what is allowed, are in time; so is a slow compiler.

    A machine that stands still for a while may need more of it.
    """

    def drive_within(allowed: float) -> None:
        def compile_slowly(state: RobotState, target: object) -> None:
            with global_compiler_lock:
                time.sleep(1.5 * allowed)

        run(Doing(lambda state, target: time.sleep(allowed / 3.0)), timeout=allowed)
        run(Doing(compile_slowly), timeout=allowed, duration=0.6)

    for allowed in (0.3, 3.0):
        with suppress(LockstepError):
            return drive_within(allowed)
    return drive_within(60.0)


def leave(kind: type[BaseException]) -> Callable[..., None]:
    def raise_it(*_: object) -> None:
        raise kind

    return raise_it


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration])
def test_a_controller_cannot_end_the_process(kind: type[BaseException]) -> None:
    with pytest.raises(
        AccordError, match=rf"^Doing raised {kind.__name__} at t = 0\.500000 s \(\S+\.py:\d+ in "
    ):
        run(Doing(leave(kind)))
    controller = Push(0, 0, 0)
    controller.reset = leave(kind)  # type: ignore[method-assign]
    with pytest.raises(AccordError, match=rf"^Push.reset raised {kind.__name__} \(\S+\.py:\d+ in "):
        run(controller)


def test_a_person_can_interrupt_a_controller() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Doing(lambda state, target: os.kill(os.getpid(), signal.SIGINT) or sleep(state, None)))
