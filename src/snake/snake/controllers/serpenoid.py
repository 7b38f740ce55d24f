"""Serpenoid gaits of the snake, and the controller that tracks one.

A serpenoid is a wave of joint angles that runs along the body (Hirose, Biologically Inspired
Robots, 1993). `Serpenoid` is one with fixed parameters, and `VariableSerpenoid` one whose
parameters follow set-points, for steering. Either gives a shape at a time: the joint angles with
rates and accelerations. `SerpenoidController` tracks a Serpenoid by computed torque (tracker.py).

The measured speeds in docs/ are for the defaults of SerpenoidController; so rather change the
scenario's keys of the same names. A gait of your own is a class with `shape(time)`, tracked by a
controller that robot.py registers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from snake.controllers.tracker import BANDWIDTH, Shape, Tracker
from snake.model.gaits import follow_serpenoid, serpenoid


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
        self._joints, self._limit = joints, limit
        self._bandwidth = 1.0 / time_constant  # of the filters [rad/s]
        # Set-points (4,) of amplitude, rate 2 pi f, lag and offset.
        self._initial = self._set_points(amplitude, frequency, waves, offset)
        self.reset()

    def reset(self) -> None:
        """Go back to the straight body, at phase 0 and time 0."""
        self._time = 0.0  # of the last call [s]
        self._last_set_points = self._initial  # of the last call (4,)
        self._state = np.zeros(9)  # phase, and filtered parameters, as in `follow_serpenoid`
        self._state[2:4] = self._initial[1:3]  # rate and lag begin at their set-points

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
        step, held = time - self._time, self._last_set_points
        follow_serpenoid(self._state, held, set_points, step, self._bandwidth, q, qd, qdd)
        self._time = time
        self._last_set_points = set_points
        return q, qd, qdd

    def _set_points(self, amplitude: float, frequency: float, waves: float, offset: float) -> Array:
        """Return the limited set-points: amplitude, rate 2 pi f, lag and offset (4,)."""
        if amplitude < 0:
            raise ValueError("amplitude must not be negative; shift the phase instead")
        turn = 2.0 * math.pi
        offset = min(max(offset, -self._limit), self._limit)
        amplitude = min(amplitude, self._limit - abs(offset))
        return np.array([amplitude, turn * frequency, turn * waves / self._joints, offset])


@dataclass(eq=False, repr=False)
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

    setup: Setup
    amplitude: si.Radians = 0.4
    frequency: si.Hertz = 1.0
    waves: float = 1.5
    offset: si.Radians = 0.0
    ramp: si.Seconds = 1.0
    bandwidth: si.RadiansPerSecond = BANDWIDTH

    def __post_init__(self) -> None:
        joints = len(self.setup.joints)
        self.gait = Serpenoid(
            joints, self.amplitude, self.frequency, self.waves, self.offset, self.ramp
        )
        self._tracker = Tracker(self.setup, self.bandwidth)
        self.update(self.setup.initial, None)  # compiles the kernels before the first tick

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on the time alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the gait."""
        return Command(self._tracker.efforts(state, self.gait.shape(state.time)))
