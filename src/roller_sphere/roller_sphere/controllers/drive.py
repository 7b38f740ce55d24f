"""Controllers of the rollers: from the ball's velocity to roller speeds, and to motor efforts.

BANDWIDTH and ACCELERATION may be tuned, chosen for motors and grip of this size. (2) and (22) in
`speeds_for` are fixed by the paper: test_roller_driving tests that the figure of eight closes with
compensation, and stays open by the model's drift without. A new program is a subclass of
VelocityController whose `program` returns velocity over time; register it in robot.py.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target, check_positive
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.parameters import RollerSphereParameters
from roller_sphere.model.rig import Rig

BANDWIDTH = 40.0  # rad/s of the speed loops; motors of this size reach 100
ACCELERATION = 4.0  # m/s^2: a ball between rollers that grips by 0.4 of its weight


def speeds_for(rig: Rig, *, compensation: bool) -> Array:
    """Return K of nu = K (V_x, V_y), the roller speeds for a velocity of the ball (2, 2).

    With compensation by the inverse map (22). Without, by (2) nu_i = r <eta_i, w> for a ball that
    does not turn about z: what one would do who knows nothing of slip.
    """
    # Of (w_x, w_y) = (-V_y, V_x) / r.
    turned = Kinematics(rig).driving if compensation else rig.radius * rig.axes[:, :2]
    return np.column_stack([turned[:, 1], -turned[:, 0]]) / rig.radius


class SpeedLoops:
    """Bring the rollers to their speeds: a proportional and integral loop each.

    Its gains place both poles at the bandwidth, for a roller with its share of a ball that follows.

    Args:
        parameters: of the robot.
        bandwidth: [rad/s].
    """

    def __init__(self, parameters: RollerSphereParameters, bandwidth: float) -> None:
        p = parameters
        check_positive({"bandwidth": bandwidth})
        inertia = p.roller_inertia + p.ball_inertia * (p.roller_radius / p.radius) ** 2
        self._gain, self._integral_gain = 2.0 * inertia * bandwidth, inertia * bandwidth**2
        self._radius, self._limit = p.roller_radius, p.effort_limit
        self.reset()

    def reset(self) -> None:
        """Forget the run."""
        self._sum, self._time = np.zeros(2), 0.0

    def efforts(self, time: float, rates: Array, nu: Array) -> Array:
        """Return the efforts (2,) [N m] at roller rates (2,) [rad/s] for speeds nu (2,) [m/s]."""
        error = nu / self._radius - rates
        step, self._time = time - self._time, time
        asked = self._gain * error + self._integral_gain * (self._sum + error * step)
        free = np.abs(asked) < self._limit  # what is at its limit does not wind up
        self._sum = self._sum + np.where(free, error * step, 0.0)
        return asked


@dataclass(eq=False, repr=False)
class VelocityController(ABC):
    """Drive the ball at the velocity of a program, or of `cmd_vel` once there is one.

    Args:
        setup: robot and scenario.
        speed: of the program [m/s].
        compensation: whether roller speeds allow for the slip.
        acceleration: by which a velocity of `cmd_vel` is approached [m/s^2].
        bandwidth: of the speed loops [rad/s].
    """

    setup: Setup
    speed: si.MetresPerSecond = 0.5
    compensation: bool = field(default=True, kw_only=True)
    acceleration: float = field(default=ACCELERATION, kw_only=True)
    bandwidth: float = field(default=BANDWIDTH, kw_only=True)

    def __post_init__(self) -> None:
        self._program = self.program()
        check_positive({"acceleration": self.acceleration})
        self._speeds = speeds_for(self.setup.parameters.rig, compensation=self.compensation)
        self._loops = SpeedLoops(self.setup.parameters, self.bandwidth)
        self._extra = np.zeros(len(self.setup.joints) - 2)
        self.reset(0)

    @abstractmethod
    def program(self) -> Program:
        """Return the velocity over time."""

    def reset(self, seed: int) -> None:
        """Forget the run; nothing is random."""
        self._loops.reset()
        self._velocity, self._time = np.zeros(2), 0.0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that bring the rollers to their speeds."""
        if target is None:
            self._velocity = self._program(state.time)
        else:
            self._approach(target.twist[:2], state.time - self._time)
        self._time = state.time
        nu = self._speeds @ self._velocity
        efforts = self._loops.efforts(state.time, state.qd[:2], nu)
        return Command(np.concatenate([efforts, self._extra]))

    def _approach(self, goal: Array, step: float) -> None:
        change = goal - self._velocity
        size, most = float(np.linalg.norm(change)), self.acceleration * step
        self._velocity = goal if size <= most else self._velocity + change * (most / size)


@dataclass(eq=False, repr=False)
class DriveController(VelocityController):
    """Drive the ball at a constant velocity, approached from rest, or at that of `cmd_vel`.

    Args:
        setup: robot and scenario.
        speed: of the ball.
        heading: from x.
        compensation, acceleration, bandwidth: see `VelocityController`.
    """

    heading: si.Radians = 0.0

    def program(self) -> Program:
        """Return the velocity over time."""
        goal = self.speed * np.array([math.cos(self.heading), math.sin(self.heading)])
        ramp = max(abs(self.speed) / self.acceleration, 1e-9) if self.acceleration > 0 else 1.0
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
        compensation, acceleration, bandwidth: see `VelocityController`.
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
        compensation, acceleration, bandwidth: see `VelocityController`.
    """

    radius: si.Metres = 0.4
    ramp: si.Seconds = 0.5

    def program(self) -> Program:
        """Return the velocity over time."""
        if not min(self.speed, self.radius, self.ramp) > 0:
            raise ValueError("speed, radius and ramp must be positive")
        return figure_eight(self.speed, self.radius, self.ramp)


Program = Callable[[float], Array]  # time [s] to velocity in the plane (2,) [m/s]


def trapezoid(time: float, duration: float, ramp: float) -> float:
    """Return a share that rises from 0 to 1 in `ramp`, and is 0 again after `duration` [s]."""
    return min(max(min(time, duration - time) / ramp, 0.0), 1.0)


def headings(speed: float, count: int, hold: float, ramp: float) -> Program:
    """Return `count` headings, evenly around, each from rest to rest.

    Args:
        speed: [m/s].
        count: number of headings, the first along x.
        hold: time of each, the ramps included [s].
        ramp: time to gain the speed, and to lose it [s].
    """

    def velocity(time: float) -> Array:
        index = math.floor(time / hold)
        share = trapezoid(time - index * hold, hold, ramp) if index < count else 0.0
        heading = 2.0 * math.pi * index / count
        return speed * share * np.array([math.cos(heading), math.sin(heading)])

    return velocity


def figure_eight(speed: float, radius: float, ramp: float) -> Program:
    """Return two circles, the first to the left, from rest to rest where they touch.

    Args:
        speed: [m/s].
        radius: of both circles [m].
        ramp: time to gain the speed, and to lose it [s].
    """
    length = 4.0 * math.pi * radius
    duration = figure_eight_time(speed, radius, ramp)

    def velocity(time: float) -> Array:
        share = trapezoid(time, duration, ramp)
        if time < ramp:
            distance = 0.5 * speed * time * time / ramp
        else:
            left = max(duration - time, 0.0)
            distance = length - speed * (left - 0.5 * ramp)
            distance = distance if left > ramp else length - 0.5 * speed * left * left / ramp
        turned = distance / radius
        heading = turned if turned < 2.0 * math.pi else 4.0 * math.pi - turned
        return speed * share * np.array([math.cos(heading), math.sin(heading)])

    return velocity


def figure_eight_time(speed: float, radius: float, ramp: float) -> float:
    """Return how long a figure of eight takes [s]."""
    return 4.0 * math.pi * radius / speed + ramp
