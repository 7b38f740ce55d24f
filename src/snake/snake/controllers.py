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
        bandwidth: of feedback through the inverse dynamics [rad/s], see `track`. With it the
            gait keeps through commands that come late; kp and kd may then be 0.
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
        bandwidth: float = 0.0,
    ) -> None:
        if min(kp, kd, bandwidth) < 0:
            raise ValueError("kp, kd and bandwidth must not be negative")
        if bandwidth and not feedforward:
            raise ValueError("bandwidth needs feedforward, through which it acts")
        self.gait = Serpenoid(len(setup.joints), amplitude, frequency, waves, offset, ramp)
        self.kp = float(kp)
        self.kd = float(kd)
        self.bandwidth = float(bandwidth)
        self._feedforward = Feedforward(setup) if feedforward else None
        self.update(setup.initial, None)  # compiles the kernels before the first tick

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on the time alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the gait."""
        return Command(
            track(
                state,
                self.gait.shape(state.time),
                self._feedforward,
                kp=self.kp,
                kd=self.kd,
                bandwidth=self.bandwidth,
            )
        )


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


def track(
    state: RobotState,
    shape: tuple[Array, Array, Array],
    feedforward: Feedforward | None,
    *,
    kp: float,
    kd: float,
    bandwidth: float,
) -> Array:
    """Return the efforts (n,) [N m] that bring a state to a desired shape q, q', q''.

        tau = ID(q, q', q'' + w^2 e + 2 w e') + kp e + kd e',     e = q_desired - q_measured

    Through the inverse dynamics (computed torque) every mode of the chain gets the bandwidth w,
    though their inertias span four decades. With a PD the fastest mode bounds the gains, and what
    the bound leaves to the slow ones is too little: the chain bows.
    """
    q, qd, qdd = shape
    error, rate = q - state.q, qd - state.qd
    effort = kp * error + kd * rate
    if feedforward is None:
        return effort
    if bandwidth:
        qdd = qdd + bandwidth * (bandwidth * error + 2.0 * rate)
    return effort + feedforward.efforts(state, q, qd, qdd)
