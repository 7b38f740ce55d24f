"""The analytical simulator of the Packbot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.assembly import Setup
from roboaccord.interfaces import Acceleration
from roboaccord.loop import clip_efforts, count_steps
from roboaccord.state import Array, Command, RobotState
from roboaccord.trajectory import Event

from packbot.arm import Arm


class PackbotReference:
    """Simulate the Packbot's arm (Simulator)."""

    name = "reference"
    version = f"roboaccord-packbot {roboaccord.__version__}"
    order = 4

    def __init__(self, setup: Setup) -> None:
        self.arm = Arm.of(setup)
        self.joints, self.effort_limits = setup.joints, setup.effort_limits
        self.physics_step = setup.scenario.physics_step
        self._viscous = setup.parameters.of_joints("viscous")
        self.reset(setup.initial)

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`."""
        self._state = state
        return state

    def state(self) -> RobotState:
        """Return the present state."""
        return self._state

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command."""
        h = self.physics_step
        effort = clip_efforts(command.effort, self.effort_limits)
        q, v = self._state.q, self._state.qd
        for _ in range(count_steps(duration, h, "control period over physics step")):
            x = np.array([q, v])
            k1 = self._slope(x, effort)
            k2 = self._slope(x + 0.5 * h * k1, effort)
            k3 = self._slope(x + 0.5 * h * k2, effort)
            k4 = self._slope(x + h * k3, effort)
            q, v = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        time = round(self._state.time + duration, 9)
        self._state = RobotState(time, q, v, effort)
        return self._state

    def _slope(self, x: Array, effort: Array) -> Array:
        q, v = x
        return np.array([v, self.arm.acceleration(q, v, effort - self._viscous * v)])

    def take_events(self) -> Sequence[Event]:
        """Return the events since the last call."""
        return ()

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact or friction."""
        return Acceleration(np.zeros(6), self.arm.acceleration(state.q, state.qd, effort))

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        names = [self.arm.model.frames[i].name for i in range(self.arm.model.nframes)]
        del names
        return {}
