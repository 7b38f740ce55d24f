"""The analytical simulator of the snake: planar dynamics, ellipse friction, inelastic stops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import roboaccord
from roboaccord.contract import Acceleration, Array, Command, Event, RobotState
from roboaccord.scenario import Setup
from roboaccord.simulators import DAMPING, IMPACTS, STOPS, Reference, StopWatch

from snake.model import dynamics, tracking
from snake.model.coordinates import PlanarSnake, friction_of
from snake.model.parameters import SnakeParameters
from snake.model.stops import FROZEN, hold
from snake.simulators import integrator, sticking


class SnakeReference(Reference):
    """Simulate the snake analytically."""

    version = f"roboaccord-snake {roboaccord.__version__}"
    bases = ("planar",)
    parameters: SnakeParameters
    channels = (DAMPING, STOPS, IMPACTS)  # of which it has stops alone

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._chain = PlanarSnake(self.parameters)
        self._friction, self._points = friction_of(setup)
        sticks = self._points.size > 0 and self._friction[3] == 0.0
        self.order = 1 if sticks else 4
        self._log = np.zeros((len(self.joints), 2))
        limits = np.full(len(self.joints), self.parameters.joint_limit)
        self._stops = StopWatch(self.joints, -limits, limits)
        self._side = np.zeros(len(self.joints), dtype=np.int8)
        self._warm_up(setup.initial)

    def _start(self, state: RobotState) -> None:
        self._place(state)
        self._side[:] = 0
        self._stops.reset(self._read().q)

    def _place(self, state: RobotState) -> None:
        self._y = self._chain.pack(state)

    def _read(self) -> RobotState:
        return self._chain.unpack(self._y, self._time, self._effort)

    def _advance(self, command: Command, duration: float) -> None:
        """Move on, with impacts on the stops located inside each step."""
        chain = self._chain
        arguments = (
            chain.body, self._y, self._effort, self.physics_step, self._steps, self._friction,
            self._points, self.parameters.joint_limit,
        )  # fmt: skip
        if self.order == 1:
            self._largest, lost = sticking.advance(*arguments, self._side)
        else:
            self._largest, lost = integrator.advance(*arguments, self._side, self._log)
        self._losses.add(STOPS, lost)

    def _note(self, before: RobotState, after: RobotState) -> None:
        if self._largest >= self._stops.nearest or self._stops.any:  # else it is not worth a look
            for joint in self._stops.see(after.q):
                self._events.append(self._stop(joint, before.time))

    def lock(self, joint: int, locked: bool) -> None:
        self._side[joint] = FROZEN if locked else 0

    def _stop(self, joint: int, begin: float) -> Event:
        """Return the event of a joint that came to its stop in the period from `begin` [s].

        Its time is that of the joint's first impact in the period, its impulse the sum of all; a
        joint that came to rest just there had none.
        """
        offset, impulse = self._log[joint].tolist()
        time = begin + offset if impulse else self._time
        return self._stops.event(joint, time, impulse)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        n = self.parameters.links
        y = self._chain.pack(state)
        acc, factor = np.empty(n + 2), np.empty((n - 1, 3))
        c, s, ax, ay = np.empty((4, n))
        w = y[n + 4 :]
        dynamics.accelerations(
            self._chain.body, y[2 : n + 2], y[0], y[n + 2], y[n + 3], w, np.array(effort),
            np.zeros(7), np.zeros((0, 2)), c, s, factor, acc,
        )  # fmt: skip
        hold(self._chain.body, c, s, factor, acc[2:], np.where(self._side == FROZEN, self._side, 0))
        tracking.centre_accelerations(self._chain.body, c, s, w, acc[2:], ax, ay)
        base = np.array([acc[0] + ax[-1], acc[1] + ay[-1], 0.0, 0.0, 0.0, acc[-1]])
        return Acceleration(base, acc[2:-1] - acc[3:])

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return dict.fromkeys(self.parameters.link_names, self.parameters.link_mass)
