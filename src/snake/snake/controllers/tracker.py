"""Tracking of a desired shape of the snake, its joint angles with rates and accelerations.

`Tracker` turns a shape into joint efforts by computed torque: inverse dynamics, with feedback of
the errors. The gaits that give shapes are in serpenoid.py; the equations are in model/tracking.py.

The measured speeds in docs/ are for BANDWIDTH, so rather change the scenario's key `bandwidth`.
"""

import numpy as np
from roboaccord.contract import Array, RobotState
from roboaccord.scenario import Setup

from snake.model.coordinates import PlanarSnake
from snake.model.ground import GroundFriction, friction_of
from snake.model.tracking import track

# rad/s: of the tracking. It is eight times the 2 pi rad/s of the default gait, so that errors decay
# within a period, and low enough for efforts that come late: the loop's phase margin is 76 degrees,
# of which a delay of 4 ms takes 24.
BANDWIDTH = 50.0

# Angles [rad], rates [rad/s] and accelerations [rad/s^2] of the joints, each (n,).
Shape = tuple[Array, Array, Array]


class Tracker:
    """Bring the joints to a desired shape q, q', q'' through the inverse dynamics.

        tau = ID(q, q', q'' + w^2 e + 2 w e'),     e = q - q_measured

    ID is the inverse dynamics. With this computed torque every mode of the chain gets the bandwidth
    w, critically damped, though the inertias of the modes span four decades. With a PD controller
    the fastest mode would limit the gains; they would be too small for the slow modes, and the
    chain would slowly bend out of shape.

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
        self, state: RobotState, shape: Shape, friction: tuple[GroundFriction, Array] | None = None
    ) -> Array:
        """Return the efforts (n,) [N m] that bring a state to a shape.

        Args:
            state: where the robot is; the friction follows from its motion.
            shape: desired angles, rates and accelerations, each (n,).
            friction: that the controller assumes, as `friction_of` returns it; None for that of
                the scenario.
        """
        law, points = friction or (self._friction, self._points)
        measured = state.q, state.qd, state.position, state.orientation, state.twist
        efforts = np.empty(len(state.q))
        track(self._chain.body, measured, shape, self.bandwidth, law, points, efforts)
        return efforts
