"""A run in progress: the core's loop driven by messages."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from roboaccord.contract.checks import check_command
from roboaccord.contract.interfaces import Observer, Simulator
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.timing import NANOSECONDS, count_steps
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.run.loop import advance
from roboaccord.scenario.setup import Setup


BLOCK = 1000  # states of a run without end that are kept before they are hashed


class Stepper:
    """Step a simulator tick by tick, and keep the motion, as `roboaccord.run.loop.simulate` does.

    Args:
        setup: robot and scenario.
        simulator: what simulates.
        duration: infinite for a run without end, whose motion is hashed and not kept.
        observers: told of each state, command and event.
    """

    def __init__(
        self, setup: Setup, simulator: Simulator, duration: float, observers: Sequence[Observer]
    ) -> None:
        self._simulator, self._initial, self._observers = simulator, setup.initial, observers
        self.joints = simulator.joints
        self.period = setup.scenario.control_period
        count_steps(self.period, simulator.physics_step, "control period over physics step")
        self._period_ns = round(self.period * NANOSECONDS)
        self.ticks = 0
        if math.isfinite(duration):
            self.ticks = count_steps(setup.scenario.duration, self.period, "duration")
        self.tick = 0
        self.state: RobotState = setup.initial
        self._motion: list[RobotState] = []
        self._events: list[Event] = []
        self._hash = hashlib.sha256()

    @property
    def over(self) -> bool:
        """True once the last tick is done."""
        return self.tick == self.ticks > 0

    @property
    def trajectory(self) -> Trajectory:
        """The motion so far; of a run without end the last of it."""
        return Trajectory.from_states(self.joints, self._motion, self._events)

    @property
    def sha256(self) -> str:
        """The hash of the motion so far: `Trajectory.sha256`, for a run without end too."""
        whole = self._hash.copy()
        whole.update(self.trajectory.hashed_bytes())
        return whole.hexdigest()

    def start(self) -> None:
        """Begin, or begin again."""
        self._hash = hashlib.sha256()
        self.tick = 0
        self.state = self._simulator.reset(self._initial)
        self._simulator.take_events()
        self._motion, self._events = [self.state], []
        for observer in self._observers:
            observer.on_state(self.state)

    def step(self, command: Command) -> Sequence[Event]:
        """Advance by one control period, and return the events.

        Raises:
            AccordError: for a command that is not valid, or a simulation that diverged.
        """
        check_command(command, self.joints, "the controller", self.state.time)
        for observer in self._observers:
            observer.on_command(self.state, command)
        self.tick += 1
        self.state = advance(self._simulator, command, self.period, self.tick, self._period_ns)
        events = self._simulator.take_events()
        self._motion.append(self.state)
        self._events.extend(events)
        if not self.ticks and len(self._motion) >= BLOCK:
            self._hash.update(self.trajectory.hashed_bytes())
            self._motion, self._events = [], []
        for observer in self._observers:
            for event in events:
                observer.on_event(event)
            observer.on_state(self.state)
        return events
