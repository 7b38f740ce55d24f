"""Serpenoid gaits, the tracking of a desired shape, and the controller of the gait.

A serpenoid is a wave of joint angles that runs along the body (Hirose, Biologically Inspired
Robots, 1993). `Serpenoid` is one with fixed parameters, and `VariableSerpenoid` one whose
parameters follow set-points, for steering. Either gives a shape at a time: the joint angles with
rates and accelerations. `Tracker` brings the joints to a shape by computed torque, and
`SerpenoidController` tracks a Serpenoid.

The measured speeds in docs/ are for BANDWIDTH and the defaults of SerpenoidController; so rather
change the scenario's keys of the same names. A gait of your own is a class with `shape(time)`,
tracked by a controller that robot.py registers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from snake.model.coordinates import PlanarSnake
from snake.model.ground import GroundFriction, friction_of
from snake.model.tracking import follow_serpenoid, serpenoid, track

# rad/s: of the tracking; eight times the 2 pi rad/s of the default gait, and low enough for late
# efforts: of the loop's phase margin of 76 degrees, a delay of 4 ms takes 24.
BANDWIDTH = 50.0

Shape = tuple[Array, Array, Array]
"""Angles [rad], rates [rad/s] and accelerations [rad/s^2] of the joints, each (n,)."""


@dataclass(frozen=True)
class Serpenoid:
    """Bend joint i by A(t) sin(2 pi f t - beta i) + offset, beta = 2 pi waves / joints.

    The wave runs from the head to the tail (Hirose, Biologically Inspired Robots, 1993).

    Args:
        joints: number n of joints.
        amplitude: A [rad].
        frequency: f [Hz]; negative for a wave that runs from the tail to the head.
        waves: waves on the body.
        offset: mean angle [rad].
        ramp: A(t) rises from 0 over this time [s], twice differentiable.
    """

    joints: int
    amplitude: float
    frequency: float
    waves: float
    offset: float = 0.0
    ramp: float = 1.0

    def __post_init__(self) -> None:
        if self.frequency == 0 or self.ramp < 0:
            raise ValueError("frequency must not be 0, and ramp not negative")

    def shape(self, time: float) -> Shape:
        """Return the angles, rates and accelerations of the joints, each (n,)."""
        q, qd, qdd = np.empty((3, self.joints))
        rate = 2.0 * math.pi * self.frequency
        lag = 2.0 * math.pi * self.waves / self.joints
        serpenoid(time, self.amplitude, rate, lag, self.offset, self.ramp, q, qd, qdd)
        return q, qd, qdd


class VariableSerpenoid:
    """Follow a serpenoid whose parameters change in the run, without jumps in angle or rate.

    Amplitude A, frequency f, lag beta and offset o follow set-points u through critically damped
    filters, and the phase is the integral of the frequency:

        x'' = (u - x) / T^2 - 2 x' / T,     phase' = 2 pi f,
        phi_i = A sin(phase - beta i) + o

    Both are solved exactly, the set-points being held from one call to the next. A and o start
    at 0, so no ramp is needed; f and beta start at their first set-points. A negative frequency
    runs the wave from the tail to the head.

    Set-points are limited to A + |o| <= limit by reducing the amplitude, and the offset only where
    it alone exceeds the limit. The filter's impulse response is nowhere negative, so the filtered
    values keep to the limit as well.

    Args:
        joints: number n of joints.
        amplitude, frequency, waves, offset: first set-points [rad, Hz, 1, rad].
        time_constant: T [s]; after a step 41 % of it remain at 2 T, and 1.7 % at 6 T.
        limit: largest joint angle: the joint limit, less a margin [rad].
    """

    def __init__(
        self, joints: int, amplitude: float, frequency: float, waves: float, offset: float = 0.0,
        time_constant: float = 0.2, limit: float = math.inf,
    ) -> None:  # fmt: skip
        if time_constant <= 0 or limit <= 0:
            raise ValueError("time_constant and limit must be positive")
        self._joints, self._bandwidth, self._limit = joints, 1.0 / time_constant, limit
        # Set-points (4,) of amplitude, rate 2 pi f, lag and offset.
        self._initial = self._set_points(amplitude, frequency, waves, offset)
        self.reset()

    def reset(self) -> None:
        """Go back to the straight body, at phase 0 and time 0."""
        self._time, self._held = 0.0, self._initial  # of the last call [s], and its set-points (4,)
        self._state = np.zeros(9)  # phase, and filtered parameters, as in `follow_serpenoid`
        self._state[2:4] = self._initial[1:3]

    @property
    def phase(self) -> float:
        """The integral of 2 pi f since the start [rad]."""
        return float(self._state[0])

    @property
    def frequency(self) -> float:
        """The filtered frequency [Hz]."""
        return float(self._state[2]) / (2.0 * math.pi)

    @property
    def offset(self) -> float:
        """The filtered offset [rad]."""
        return float(self._state[4])

    def advance(
        self, time: float, *, amplitude: float, frequency: float, waves: float, offset: float
    ) -> Shape:
        """Advance the filters to `time` [s], and set new set-points from then on.

        Returns:
            the angles, rates and accelerations of the joints, each (n,); the accelerations are
            those just after the set-points have changed.

        Raises:
            ValueError: if the time goes back, or the amplitude is negative.
        """
        if time < self._time:
            raise ValueError(f"time goes back from {self._time:g} s to {time:g} s; reset first")
        set_points = self._set_points(amplitude, frequency, waves, offset)
        q, qd, qdd = np.empty((3, self._joints))
        step = time - self._time
        follow_serpenoid(self._state, self._held, set_points, step, self._bandwidth, q, qd, qdd)
        self._time, self._held = time, set_points
        return q, qd, qdd

    def _set_points(self, amplitude: float, frequency: float, waves: float, offset: float) -> Array:
        """Return the limited set-points: amplitude, rate 2 pi f, lag and offset (4,)."""
        if amplitude < 0:
            raise ValueError("amplitude must not be negative; shift the phase instead")
        turn = 2.0 * math.pi
        offset = min(max(offset, -self._limit), self._limit)
        amplitude = min(amplitude, self._limit - abs(offset))
        return np.array([amplitude, turn * frequency, turn * waves / self._joints, offset])


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
        amplitude: of every joint.
        frequency: of the wave.
        waves: number of waves on the body.
        offset: mean joint angle, which makes the snake turn.
        ramp: time over which the amplitude rises smoothly from 0.
        bandwidth: of the tracking.
    """

    def __init__(
        self,
        setup: Setup,
        amplitude: si.Radians = 0.4,
        frequency: si.Hertz = 1.0,
        waves: float = 1.5,
        offset: si.Radians = 0.0,
        ramp: si.Seconds = 1.0,
        bandwidth: si.RadiansPerSecond = BANDWIDTH,
    ) -> None:
        self.gait = Serpenoid(len(setup.joints), amplitude, frequency, waves, offset, ramp)
        self._tracker = Tracker(setup, bandwidth)
        self.update(setup.initial, None)  # compiles the kernels before the first tick

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on the time alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the gait."""
        return Command(self._tracker.efforts(state, self.gait.shape(state.time)))
