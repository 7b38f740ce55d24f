"""A run in progress: the core's loop driven by messages."""

from __future__ import annotations

import math
from collections.abc import Sequence

from roboaccord.contract.checks import check_command
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Observer, Simulator
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.timing import NANOSECONDS, count_steps
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.run.loop import advance
from roboaccord.scenario.setup import Setup

from roboaccord_ros.graph.motion import Motion


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
        self.motion = Motion(self.joints, endless=not self.ticks)
        self._faults: list[Fault] = []

    @property
    def over(self) -> bool:
        """True once the last tick is done."""
        return self.tick == self.ticks > 0

    @property
    def trajectory(self) -> Trajectory:
        """The motion so far."""
        return self.motion.trajectory

    def start(self) -> None:
        """Begin, or begin again."""
        self.tick = 0
        self.state = self._simulator.reset(self._initial)
        self._simulator.take_events()
        self.motion.clear()
        self.motion.add(self.state)
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
        self.motion.add(self.state, events)
        for observer in self._observers:
            for event in events:
                observer.on_event(event)
            observer.on_state(self.state)
        return events
