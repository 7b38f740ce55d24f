"""Tracking of a desired shape, and the controller of the serpenoid gait."""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target
from roboaccord.scenario import Setup

from snake.controllers.gaits import Serpenoid
from snake.model.coordinates import PlanarSnake, friction_of
from snake.model.tracking import track

# rad/s; the gait is at 6. A delay of 4 ms takes 24 of its 76 degrees of phase margin.
BANDWIDTH = 50.0

Shape = tuple[Array, Array, Array]


class Tracker:
    """Bring the joints to a desired shape q, q', q'' through the inverse dynamics.

        tau = ID(q, q', q'' + w^2 e + 2 w e'),     e = q - q_measured

    With this computed torque every mode of the chain gets the bandwidth w, critically damped,
    though their inertias span four decades. With a PD the fastest mode bounds the gains, and what
    the bound leaves to the slow ones is too little: the chain slowly bows.

    Args:
        setup: robot and scenario.
        bandwidth: w [rad/s].

    Raises:
        ValueError: for a negative bandwidth.
    """

    def __init__(self, setup: Setup, bandwidth: float) -> None:
        if bandwidth < 0:
            raise ValueError("bandwidth must not be negative")
        self.bandwidth = float(bandwidth)
        self._chain = PlanarSnake(setup.parameters)
        self._friction, self._points = friction_of(setup)

    def efforts(
        self, state: RobotState, shape: Shape, friction: tuple[Array, Array] | None = None
    ) -> Array:
        """Return the efforts (n,) [N m] that bring a state to a shape.

        Args:
            state: where the robot is; the friction follows from its motion.
            shape: desired angles, rates and accelerations, each (n,).
            friction: believed of the ground, as `friction_of` gives it; None: the scenario's.
        """
        q, qd, qdd = shape
        law, points = friction or (self._friction, self._points)
        efforts = np.empty(len(q))
        track(
            self._chain.body, state.q, state.qd, state.position, state.orientation, state.twist,
            q, qd, qdd, self.bandwidth, law, points, efforts,
        )  # fmt: skip
        return efforts


class SerpenoidController:
    """Track the serpenoid gait.

    Args:
        setup: robot and scenario.
        amplitude: of every joint [rad].
        frequency: [Hz].
        waves: number of waves on the body.
        offset: mean joint angle, which makes the snake turn [rad].
        ramp: time over which the amplitude rises smoothly from 0 [s].
        bandwidth: of the tracking [rad/s].
    """

    def __init__(
        self,
        setup: Setup,
        amplitude: float = 0.4,
        frequency: float = 1.0,
        waves: float = 1.5,
        offset: float = 0.0,
        ramp: float = 1.0,
        bandwidth: float = BANDWIDTH,
    ) -> None:
        self.gait = Serpenoid(len(setup.joints), amplitude, frequency, waves, offset, ramp)
        self._tracker = Tracker(setup, bandwidth)
        self.update(setup.initial, None)  # compiles the kernels before the first tick

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on the time alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the gait."""
        return Command(self._tracker.efforts(state, self.gait.shape(state.time)))
