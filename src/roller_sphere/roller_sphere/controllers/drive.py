"""Controllers of a ball in its bearing: constant velocity, headings one by one, a figure of eight.

Each is a VelocityController with a program, which is the ball's velocity over time (programs.py).
In each control period the controller evaluates the program, converts the velocity to speeds of both
rollers (`speeds_for`), and speed loops drive the rollers to them (speed_loops.py). Once a user
sends a velocity on `cmd_vel`, that replaces the program, and the ball approaches it at
ACCELERATION.

A new program is a subclass whose `program` returns it, registered in robot.py. ACCELERATION may be
tuned. test_roller_driving shows that the figure of eight closes if the slip is compensated, and
otherwise stays open by the model's drift.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target, check_positive
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from roller_sphere.controllers.programs import Program, figure_eight, headings
from roller_sphere.controllers.speed_loops import BANDWIDTH, SpeedLoops, speeds_for

# s; shortest ramp, so that a speed of 0 causes no division by 0; far below any control period
SHORTEST_RAMP = 1e-9
# m/s^2; default limit towards a velocity of `cmd_vel`: about 0.4 g, for which the rollers must grip
# the ball with 0.4 of its weight.
ACCELERATION = 4.0


@dataclass(eq=False, repr=False)
class VelocityController(ABC):
    """Drive the ball with the velocity of a program, or of `cmd_vel` as soon as one is sent.

    Args:
        setup: robot and scenario.
        speed: of the ball in the program [m/s].
        compensation: whether the roller speeds compensate the slip between rollers and ball.
        acceleration: limit with which the ball approaches a velocity of `cmd_vel` [m/s^2].
        bandwidth: of the rollers' speed loops [rad/s].
    """

    setup: Setup
    speed: si.MetresPerSecond = 0.5
    compensation: bool = field(default=True, kw_only=True)
    acceleration: float = field(default=ACCELERATION, kw_only=True)
    bandwidth: float = field(default=BANDWIDTH, kw_only=True)

    def __post_init__(self) -> None:
        check_positive({"acceleration": self.acceleration})
        self._program = self.program()
        self._speeds = speeds_for(self.setup.parameters.rig, compensation=self.compensation)
        self._loops = SpeedLoops(self.setup.parameters, self.bandwidth)
        # All joints but the two rollers are a carrier's, where the robot has one: it gets no
        # effort.
        self._carrier_efforts = np.zeros(len(self.setup.joints) - 2)
        self.reset(0)

    @abstractmethod
    def program(self) -> Program:
        """Return the velocity over time."""

    def reset(self, seed: int) -> None:
        """Forget the run; nothing is random."""
        self._loops.reset()
        self._velocity = np.zeros(2)  # of the ball, as wanted at the last call [m/s]
        self._time = 0.0  # of the last call [s]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts of the rollers' speed loops."""
        if target is None:
            self._velocity = self._program(state.time)
        else:
            self._approach(target.twist[:2], state.time - self._time)
        self._time = state.time
        # Peripheral speeds of the rollers (2,) [m/s], then their torques.
        efforts = self._loops.efforts(state.time, state.qd[:2], self._speeds @ self._velocity)
        return Command(np.concatenate([efforts, self._carrier_efforts]))

    def _approach(self, goal: Array, step: float) -> None:
        """Change the velocity towards a goal (2,) [m/s] by at most the acceleration."""
        change = goal - self._velocity
        size, limit = float(np.linalg.norm(change)), self.acceleration * step
        # The whole change if it is small enough, else a change of the limit's size towards the
        # goal.
        self._velocity = goal if size <= limit else self._velocity + change * (limit / size)


@dataclass(eq=False, repr=False)
class DriveController(VelocityController):
    """Drive the ball with a constant velocity, approached from rest.

    Args:
        setup: robot and scenario.
        speed: of the ball.
        heading: from x.
        compensation: whether the roller speeds compensate the slip.
        acceleration: limit towards a velocity of `cmd_vel` [m/s^2].
        bandwidth: of the rollers' speed loops [rad/s].
    """

    heading: si.Radians = 0.0

    def program(self) -> Program:
        """Return a velocity that rises from rest at `acceleration`, and then stays."""
        goal = self.speed * np.array([math.cos(self.heading), math.sin(self.heading)])
        ramp = max(abs(self.speed) / self.acceleration, SHORTEST_RAMP)  # [s]
        return lambda time: goal * min(time / ramp, 1.0)


@dataclass(eq=False, repr=False)
class HeadingsController(VelocityController):
    """Drive the ball in one heading after the other, each from rest to rest.

    Args:
        setup: robot and scenario.
        speed: of the ball.
        count: number of headings, evenly around.
        hold: time of each.
        ramp: time to gain the speed, and to lose it.
        compensation: whether the roller speeds compensate the slip.
        acceleration: limit towards a velocity of `cmd_vel` [m/s^2].
        bandwidth: of the rollers' speed loops [rad/s].
    """

    count: int = 12
    hold: si.Seconds = 1.0
    ramp: si.Seconds = 0.2

    def program(self) -> Program:
        """Return the velocity over time."""
        if self.count < 1 or not 0 < 2 * self.ramp <= self.hold:
            raise ValueError("count must be positive, and hold at least two ramps")
        return headings(self.speed, int(self.count), self.hold, self.ramp)


@dataclass(eq=False, repr=False)
class FigureEightController(VelocityController):
    """Drive the ball along a figure of eight: two circles, from rest to rest.

    Args:
        setup: robot and scenario.
        speed: of the ball.
        radius: of both circles.
        ramp: time to gain the speed, and to lose it.
        compensation: whether the roller speeds compensate the slip.
        acceleration: limit towards a velocity of `cmd_vel` [m/s^2].
        bandwidth: of the rollers' speed loops [rad/s].
    """

    radius: si.Metres = 0.4
    ramp: si.Seconds = 0.5

    def program(self) -> Program:
        """Return the velocity over time."""
        if not min(self.speed, self.radius, self.ramp) > 0:
            raise ValueError("speed, radius and ramp must be positive")
        return figure_eight(self.speed, self.radius, self.ramp)
