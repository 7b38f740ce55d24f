"""A run in progress: the core's loop driven by messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from roboaccord.contract.checks import check_command
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Observer, Tally
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.timing import NANOSECONDS, count_steps
from roboaccord.contract.trajectory import Event
from roboaccord.run.loop import advance
from roboaccord.run.motion import Motion
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


class Stepper:
    """Step a simulator tick by tick, as `roboaccord.run.loop.drive` does, and hash the motion.

    Args:
        setup: robot and scenario.
        simulator: what simulates.
        duration: infinite for a run without end.
        observers: told of each state, command and event.
        make_tally: as of `Motion`.
    """

    def __init__(
        self,
        setup: Setup,
        simulator: Simulator,
        duration: float,
        observers: Sequence[Observer],
        *,
        make_tally: Callable[[], Tally] | None = None,
    ) -> None:
        self.motion = Motion(simulator.joints, make_tally)
        self._simulator, self._initial = simulator, setup.initial
        self._observers = (self.motion, *observers)
        self.joints = simulator.joints
        self.period = setup.scenario.control_period
        count_steps(self.period, simulator.physics_step, "control period over physics step")
        self._period_ns = round(self.period * NANOSECONDS)
        self.ticks = 0
        if math.isfinite(duration):
            self.ticks = count_steps(setup.scenario.duration, self.period, "duration")
        self.tick = 0
        self.state: RobotState = setup.initial
        self._faults: list[Fault] = []

    @property
    def over(self) -> bool:
        """True once the last tick is done."""
        return self.tick == self.ticks > 0

    def start(self) -> None:
        """Begin, or begin again."""
        self.tick = 0
        self.state = self._simulator.reset(self._initial)
        self._simulator.take_events()
        self.motion.clear()
        for observer in self._observers:
            observer.on_state(self.state)

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next step, which can be the first."""
        self._faults.append(fault)

    def step(self, command: Command) -> Sequence[Event]:
        """Advance by one control period, and return the events.

        Raises:
            AccordError: for a command that is not valid, or a simulation that diverged.
        """
        check_command(command, self.joints, "the controller", self.state.time)
        for observer in self._observers:
            observer.on_command(self.state, command)
        while self._faults:
            self._simulator.fail(self._faults.pop(0))
        self.tick += 1
        self.state = advance(self._simulator, command, self.period, self.tick, self._period_ns)
        events = self._simulator.take_events()
        for observer in self._observers:
            for event in events:
                observer.on_event(event)
            observer.on_state(self.state)
        return events
