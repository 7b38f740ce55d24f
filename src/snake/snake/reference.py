"""The analytical simulator of the snake: exact planar dynamics, ellipse friction, inelastic stops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.assembly import Setup
from roboaccord.errors import AccordError
from roboaccord.friction import EllipseFriction
from roboaccord.interfaces import Acceleration
from roboaccord.loop import count_steps
from roboaccord.rotations import quaternion_yaw, yaw_quaternion
from roboaccord.state import Array, Command, RobotState
from roboaccord.trajectory import Event

from snake import dynamics, integrator
from snake.parameters import SnakeParameters

MAX_EVENTS = 1000  # logged in one control period


class PlanarSnake:
    """Hold the constant matrices of a snake and convert between states and y = [p, th, v, w]."""

    def __init__(self, parameters: SnakeParameters) -> None:
        self.parameters = parameters
        self.K = dynamics.lever_matrix(parameters)
        self.m = parameters.link_mass
        self.J = parameters.inertia_vertical
        self.G = np.asarray(self.m * self.K.T @ self.K)

    def pack(self, state: RobotState) -> Array:
        """Return y (2N + 4,) of a state; headings are continuous along the body."""
        n = self.parameters.links
        y = np.empty(2 * n + 4)
        yaw = quaternion_yaw(state.orientation)
        th = y[2 : n + 2]
        w = y[n + 4 :]
        th[:] = yaw
        th[:-1] += np.cumsum(state.q[::-1])[::-1]
        w[:] = state.twist[5]
        w[:-1] += np.cumsum(state.qd[::-1])[::-1]
        c, s = np.cos(th), np.sin(th)
        tail = self.K[-1]
        forward, left = math.cos(yaw), math.sin(yaw)
        y[0] = state.position[0] - tail @ c
        y[1] = state.position[1] - tail @ s
        y[n + 2] = forward * state.twist[0] - left * state.twist[1] + tail @ (s * w)
        y[n + 3] = left * state.twist[0] + forward * state.twist[1] - tail @ (c * w)
        return y

    def unpack(self, y: Array, time: float, effort: Array) -> RobotState:
        """Return the state of y."""
        n = self.parameters.links
        th = y[2 : n + 2]
        w = y[n + 4 :]
        c, s = np.cos(th), np.sin(th)
        tail = self.K[-1]
        vx = y[n + 2] - tail @ (s * w)
        vy = y[n + 3] + tail @ (c * w)
        forward, left = c[-1], s[-1]
        return RobotState(
            time=time,
            q=th[:-1] - th[1:],
            qd=w[:-1] - w[1:],
            effort=effort,
            position=np.array(
                [y[0] + tail @ c, y[1] + tail @ s, 0.5 * self.parameters.link_height]
            ),
            orientation=yaw_quaternion(th[-1]),
            twist=np.array(
                [forward * vx + left * vy, forward * vy - left * vx, 0.0, 0.0, 0.0, w[-1]]
            ),
        )


class SnakeReference:
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
        self._points = np.zeros((0, 2))
        self._friction = np.zeros(4)
        law = setup.force_law
        if isinstance(law, EllipseFriction):
            self._points = law.points
            self._friction = np.array([*law.mu, law.load, law.slip_speed])
        self._log = np.empty((MAX_EVENTS, 3))
        self._events: list[Event] = []
        self.reset(setup.initial)

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`."""
        self._y = self._chain.pack(state)
        self._side = np.zeros(len(self.joints), dtype=np.int8)
        self._time = state.time
        self._effort = np.array(state.effort)
        self._events.clear()
        return self.state()

    def state(self) -> RobotState:
        """Return the present state."""
        return self._chain.unpack(self._y, self._time, self._effort)

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance under a held command, with impacts on the stops located inside each step."""
        steps = count_steps(duration, self.physics_step, "control period over physics step")
        self._effort = np.clip(command.effort, -self.effort_limits, self.effort_limits)
        chain = self._chain
        count = integrator.advance(
            chain.K, chain.G, chain.J, chain.m, self._y, self._effort, self.physics_step, steps,
            self._friction, self._points, self.parameters.joint_limit, self._side, self._log,
        )  # fmt: skip
        for offset, joint, impulse in self._log[:count]:
            self._events.append(
                Event(self._time + offset, "joint_stop", self.joints[int(joint)], float(impulse))
            )
        self._time += duration
        return self.state()

    def take_events(self) -> Sequence[Event]:
        """Return the impacts since the last call."""
        if not self._events:
            return ()
        events, self._events = self._events, []
        return events

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without friction or stops."""
        chain = self._chain
        y = chain.pack(state)
        n = self.parameters.links
        acc = np.empty(n + 2)
        M = np.empty((n, n))
        th, w = y[2 : n + 2], y[n + 4 :]
        dynamics.accelerations(
            chain.K, chain.G, chain.J, chain.m, th, y[n + 2], y[n + 3], w,
            np.asarray(effort, dtype=float), np.zeros(4), np.zeros((0, 2)), M, acc,
        )  # fmt: skip
        c, s, tail = np.cos(th), np.sin(th), chain.K[-1]
        base = np.zeros(6)
        base[0] = acc[0] - tail @ (s * acc[2:] + c * w * w)
        base[1] = acc[1] + tail @ (c * acc[2:] - s * w * w)
        base[5] = acc[-1]
        return Acceleration(base, acc[2:-1] - acc[3:])

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return dict.fromkeys(self.parameters.link_names, self.parameters.link_mass)
