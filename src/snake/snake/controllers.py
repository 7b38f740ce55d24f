"""Controllers of the snake: the serpenoid gait."""

from __future__ import annotations

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.state import Array, Command, RobotState, Target

from snake.coordinates import PlanarSnake, friction_of
from snake.gaits import Serpenoid
from snake.tracking import tracking_efforts


class SerpenoidController:
    """Track the serpenoid gait with computed efforts and a small PD.

    The feed-forward is the inverse dynamics of the desired shape, with the friction that the
    measured motion of the base implies.

    Args:
        setup: robot and scenario.
        amplitude: of every joint [rad].
        frequency: [Hz].
        waves: number of waves on the body.
        offset: mean joint angle, which makes the snake turn [rad].
        ramp: time over which the amplitude rises smoothly from 0 [s].
        kp: [N m/rad]; below about 15 the chain slowly buckles out of the gait (measured).
        kd: [N m s/rad]; above .095 an explicit 1 ms loop is unstable.
        feedforward: whether to add the inverse dynamics.
    """

    def __init__(
        self,
        setup: Setup,
        amplitude: float = 0.4,
        frequency: float = 1.0,
        waves: float = 1.5,
        offset: float = 0.0,
        ramp: float = 1.0,
        kp: float = 20.0,
        kd: float = 0.05,
        feedforward: bool = True,
    ) -> None:
        if min(kp, kd) < 0:
            raise ValueError("kp and kd must not be negative")
        self.gait = Serpenoid(len(setup.joints), amplitude, frequency, waves, offset, ramp)
        self.kp = float(kp)
        self.kd = float(kd)
        self._feedforward = Feedforward(setup) if feedforward else None
        self.update(setup.initial, None)  # compiles the kernels before the first tick

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on the time alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the gait."""
        q, qd, qdd = self.gait.shape(state.time)
        effort = self.kp * (q - state.q) + self.kd * (qd - state.qd)
        if self._feedforward:
            effort = effort + self._feedforward.efforts(state, q, qd, qdd)
        return Command(effort)


class Feedforward:
    """Give the efforts of a desired shape, by the planar model."""

    def __init__(self, setup: Setup) -> None:
        self._chain = PlanarSnake(setup.parameters)
        self._friction, self._points = friction_of(setup)

    def efforts(self, state: RobotState, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the efforts (n,) [N m] of a desired shape, where the robot is."""
        chain = self._chain
        efforts = np.empty(len(q))
        y = chain.pack(state)
        tracking_efforts(chain.body, y, q, qd, qdd, self._friction, self._points, efforts)
        return efforts
