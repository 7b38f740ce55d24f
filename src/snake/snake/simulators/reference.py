"""The analytical simulator of the snake: planar dynamics, ellipse friction, inelastic stops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.timing import count_steps
from roboaccord.contract.trajectory import Event
from roboaccord.engines.joint_faults import JointFaults
from roboaccord.engines.joint_stops import StopWatch
from roboaccord.engines.losses import DAMPING, IMPACTS, STOPS, LossAccount
from roboaccord.scenario.setup import Setup

from snake.model import dynamics, tracking
from snake.model.coordinates import PlanarSnake, friction_of
from snake.model.parameters import SnakeParameters
from snake.model.stops import FROZEN, hold
from snake.simulators import integrator, sticking


class SnakeReference(JointFaults):
    """Simulate the snake analytically (Simulator)."""

    name = "reference"
    version = f"roboaccord-snake {roboaccord.__version__}"

    def __init__(self, setup: Setup) -> None:
        if setup.scenario.base != "planar":
            raise AccordError("the snake's reference is planar: base must be planar")
        self.parameters: SnakeParameters = setup.parameters
        self.joints = setup.joints
        self.effort_limits = setup.effort_limits
        self.physics_step = setup.scenario.physics_step
        self._chain = PlanarSnake(self.parameters)
        self._friction, self._points = friction_of(setup)
        sticks = self._points.size > 0 and self._friction[3] == 0.0
        self.order = 1 if sticks else 4
        self._log = np.zeros((len(self.joints), 2))
        limits = np.full(len(self.joints), self.parameters.joint_limit)
        self._stops = StopWatch(self.joints, -limits, limits)
        self.armature = np.zeros(len(self.joints))
        self._events: list[Event] = []
        self._period, self._steps = math.nan, 0  # of the last step
        self._side = np.zeros(len(self.joints), dtype=np.int8)
        self._schedule(setup.faults, setup.tree)
        self.reset(setup.initial)
        # Compile the kernels here, where nobody counts the time, and not in the first tick.
        self.step(Command(np.zeros(len(self.joints))), self.physics_step)
        self.reset(setup.initial)

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`."""
        self._heal(state.time)
        self._y = self._chain.pack(state)
        self._side[:] = 0
        self._time = state.time
        self._effort = np.array(state.effort)
        self._events.clear()
        self._losses = LossAccount(DAMPING, STOPS, IMPACTS)  # of which it has stops alone
        started = self.state()
        self._stops.reset(started.q)
        return started

    def state(self) -> RobotState:
        """Return the present state."""
        return self._chain.unpack(self._y, self._time, self._effort)

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance under a held command, with impacts on the stops located inside each step."""
        if duration != self._period:
            self._steps = count_steps(
                duration, self.physics_step, "control period over physics step"
            )
            self._period = duration
        self._effort = self._begin(command)
        chain = self._chain
        arguments = (
            chain.body, self._y, self._effort, self.physics_step, self._steps, self._friction,
            self._points, self.parameters.joint_limit,
        )  # fmt: skip
        if self.order == 1:
            largest, lost = sticking.advance(*arguments, self._side)
        else:
            largest, lost = integrator.advance(*arguments, self._side, self._log)
        self._losses.add(STOPS, lost)
        begin, self._time = self._time, round(self._time + duration, 9)  # free of round-off
        state = self.state()
        if largest >= self._stops.nearest or self._stops.any:  # else it is not worth a look
            for joint in self._stops.see(state.q):
                self._events.append(self._stop(joint, begin))
        return state

    def lock(self, joint: int, locked: bool) -> None:
        self._side[joint] = FROZEN if locked else 0

    def _continue_from(self, state: RobotState) -> None:
        self._y = self._chain.pack(state)

    def _tell(self, events: Sequence[Event]) -> None:
        self._events += events

    def _stop(self, joint: int, begin: float) -> Event:
        """Return the event of a joint that came to its stop in the period from `begin` [s].

        Its time is that of the joint's first impact in the period, its impulse the sum of all; a
        joint that came to rest just there had none.
        """
        offset, impulse = self._log[joint].tolist()
        time = begin + offset if impulse else self._time
        return self._stops.event(joint, time, impulse)

    def take_events(self) -> Sequence[Event]:
        """Return the joints that came to their stops since the last call, in order of time."""
        if not self._events:
            return ()
        events, self._events = sorted(self._events, key=lambda event: event.time), []
        return events

    def meter(self) -> None:
        """Do nothing: losses in stops are always measured."""

    def take_losses(self) -> Mapping[str, float]:
        """Return the losses in stops since the last call [J]."""
        return self._losses.take()

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
