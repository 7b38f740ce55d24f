"""Fast evaluation of snake gaits: speed, effort and cost, if the joints followed the gait exactly.

The snake is a chain of links on the ground, with a motor at each joint. The shape of the snake, its
joint angles q(t), is prescribed by the gait (a serpenoid wave). Then only three unknowns are left:
the centre of mass p and the mean heading Th. The ground's forces f_j and moments on the N links
give

    N m p'' = sum f_j
    Th''    from the balance of angular momentum about the centre of mass

and inverse dynamics gives the joint efforts. The motion is integrated with Runge-Kutta 4, one
period of the gait after the other, until the speed no longer changes: the periodic steady state.
One gait takes milliseconds, so that searches can compare thousands.

MAX_STEP, MIN_STEPS, MAX_PERIODS and SLOW may be tuned; STIFFNESS must stay below 2.78. The fields
of Gait and Figures stay, for `accord snake optimise` prints them as JSON keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from roboaccord.contract import Array, MetresPerSecond, Quantity
from roboaccord.numerics import kernel, rk4_stage
from snake.model.coordinates import PlanarSnake
from snake.model.gaits import serpenoid
from snake.model.ground import GroundFriction, ground_forces
from snake.model.parameters import SnakeParameters
from snake.model.tracking import inverse_dynamics, set_differences

MAX_STEP = 2e-3  # s: largest step of the integration, so that a gait of 3 Hz has MIN_STEPS
# Smallest number of steps in a period: of RK4 with an error of (2 pi / 160)^4 = 2e-6.
MIN_STEPS = 160
# Largest number of periods until the motion is taken to be steady; it bounds the time of
# gaits that never settle.
MAX_PERIODS = 40
# m/s: for slower gaits, changes of the speed are compared with this speed: 1 cm in a second is no
# gait.
SLOW = 0.01
# Number of phases of the wave at which the distances of links are compared: every 22.5 degrees.
CLEARANCE_PHASES = 16
STIFFNESS = 2.0  # largest step times the rate of the smoothed friction; RK4 is stable up to 2.78
STAGES = (0.0, 0.5, 0.5, 1.0)  # times of the stages of Runge-Kutta 4, in steps
# Indices of the sums over a motion: integral of the mean heading [rad s], work sum |tau qd| [J],
# and largest effort so far [N m].
HEADING, WORK, PEAK = 0, 1, 2


class Wave(NamedTuple):
    """The serpenoid of a gait, as the kernels take it (`snake.model.gaits.serpenoid`).

    Attributes:
        amplitude: A [rad].
        rate: 2 pi f [rad/s].
        lag: between neighbouring joints [rad].
    """

    amplitude: float
    rate: float
    lag: float


@kernel
def base_slope(body, base, time, wave, friction, points, q, qd, qdd, tau, slope):
    """Fill the derivative of the base, and with it the shape and the efforts.

    Args:
        body: (a, b, m, J) of a link.
        base: centre of mass p, mean heading Th, and their rates [p, Th, v, Th'] (6,).
        time: [s].
        wave: of the joints, as `Wave`.
        friction, points: of the ground, as in `snake.model.ground.ground_forces`.
        q, qd, qdd: filled with the shape (n,) [rad, rad/s, rad/s^2].
        tau: filled with the efforts (n,) [N m].
        slope: filled with the derivative of `base` (6,).
    """
    n = q.shape[0] + 1
    serpenoid(time, wave.amplitude, wave.rate, wave.lag, 0.0, 0.0, q, qd, qdd)
    x, _, mean_heading, vx, vy, mean_rate = base
    th = np.full(n, mean_heading)
    w = np.full(n, mean_rate)
    set_differences(th, q)
    set_differences(w, qd)
    fx, fy, moment = np.empty(n), np.empty(n), np.empty(n)
    c, s = np.cos(th), np.sin(th)
    ground_forces(body, c, s, x, vx, vy, w, friction, points, fx, fy, moment)
    _, _, m, _ = body
    slope[:3] = base[3:]
    slope[3] = fx.sum() / (n * m)
    slope[4] = fy.sum() / (n * m)
    slope[5] = inverse_dynamics(body, th, w, qdd, fx, fy, moment, tau)


@kernel
def ideal_steps(body, base, time, h, steps, wave, friction, points, joints, sums):
    """Advance the base by steps of Runge-Kutta 4, and add to the sums over the motion.

    Args:
        body, wave, friction, points: as in `base_slope`.
        base: advanced in place (6,).
        time: at the start [s].
        h, steps: length [s] and number of the steps.
        joints: number n of joints.
        sums: HEADING, WORK and PEAK, updated in place (3,).
    """
    q, qd, qdd, tau = np.empty(joints), np.empty(joints), np.empty(joints), np.empty(joints)
    slope, stage, end = np.empty(6), base.copy(), base.copy()
    for step in range(steps):
        for k in range(4):
            stage_time = time + step * h + STAGES[k] * h
            base_slope(body, stage, stage_time, wave, friction, points, q, qd, qdd, tau, slope)
            if k == 0:
                sums[HEADING] += h * base[2]
                sums[WORK] += h * np.abs(tau * qd).sum()
                sums[PEAK] = max(sums[PEAK], np.abs(tau).max())
            rk4_stage(k, h, base, slope, stage, end)
        base[:] = end
        stage[:] = end


@kernel
def clearance(body, wave, phases, joints):
    """Return the smallest distance of the centres of links that are not neighbours [m].

    Args:
        body: (a, b, m, J) of a link.
        wave: as in `base_slope`.
        phases: number of phases of the wave that are tried.
        joints: number of joints.
    """
    a, b, _, _ = body
    n = joints + 1
    q, qd, qdd = np.empty(joints), np.empty(joints), np.empty(joints)
    x, y = np.zeros(n), np.zeros(n)
    smallest = np.inf
    for phase in range(phases):
        time = phase / phases * 2.0 * math.pi / abs(wave.rate)
        serpenoid(time, wave.amplitude, wave.rate, wave.lag, 0.0, 0.0, q, qd, qdd)
        heading = 0.0
        for j in range(n - 2, -1, -1):
            x[j] = x[j + 1] + b * math.cos(heading)
            y[j] = y[j + 1] + b * math.sin(heading)
            heading += q[j]
            x[j] += a * math.cos(heading)
            y[j] += a * math.sin(heading)
            for k in range(j + 2, n):
                smallest = min(smallest, (x[j] - x[k]) ** 2 + (y[j] - y[k]) ** 2)
    return math.sqrt(smallest)


@dataclass(frozen=True, slots=True)
class Gait:
    """The parameters of a gait that the search varies.

    Args:
        amplitude: of every joint.
        frequency: negative for a wave that runs from the tail to the head.
        waves: number of waves on the body.
    """

    amplitude: Annotated[float, Quantity("rad", "amplitude", "A")]
    frequency: Annotated[float, Quantity("Hz", "frequency, below 0 from the tail to the head", "f")]
    waves: Annotated[float, Quantity("1", "number of waves on the body")]


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a gait in the periodic steady state.

    Args:
        speed: displacement along the mean heading in a period, divided by the period.
        peak_effort: largest effort of any joint.
        cost_of_transport: work / (N m g distance), with the work sum |effort qd|.
    """

    speed: MetresPerSecond
    peak_effort: Annotated[float, Quantity("N m", "peak of any joint", "effort")]
    cost_of_transport: Annotated[float, Quantity("1", "of transport", "cost")]


class IdealModel:
    """Evaluate gaits of a snake on uniform ground.

    Args:
        parameters: of the snake.
        friction: of the ground; a change of the ground along x is ignored.
        points: contact points of a link (k, 2) [m].
    """

    def __init__(
        self, parameters: SnakeParameters, friction: GroundFriction, points: Array
    ) -> None:
        self.parameters = parameters
        self.friction = friction._replace(change_x=math.inf)
        self.points = points
        self._body = PlanarSnake(parameters).body

    def evaluate(self, gait: Gait, tolerance: float = 1e-4) -> Figures:
        """Return the figures of a gait, computed at once; `tolerance` as in `evaluating`."""
        # One portion of more steps than a gait takes.
        figures = list(self.evaluating(gait, 1_000_000, tolerance))[-1]
        assert figures
        return figures

    def evaluating(
        self, gait: Gait, chunk: int, tolerance: float = 1e-4
    ) -> Iterator[Figures | None]:
        """Evaluate a gait in portions, so that a controller can do one in each tick.

        Yields None after every `chunk` integration steps, and the figures in the end. They are
        those of the first period in which the speed has changed by less than `tolerance`, relative
        to the speed, or of the last of MAX_PERIODS.
        """
        period = 1.0 / abs(gait.frequency)
        count = self._steps(period)
        h = period / count
        body, joints = self._body, self.parameters.joints
        base, wave = np.zeros(6), self._wave(gait)
        previous_speed = np.inf
        for cycle in range(MAX_PERIODS):
            base_before, sums = base.copy(), np.zeros(3)
            steps_done = 0
            while steps_done < count:
                steps = min(chunk, count - steps_done)
                start = cycle * period + steps_done * h
                ideal_steps(
                    body, base, start, h, steps, wave, self.friction, self.points, joints, sums
                )
                steps_done += steps
                yield None
            figures = self._figures(base - base_before, sums, period)
            if abs(figures.speed - previous_speed) <= tolerance * max(abs(figures.speed), SLOW):
                break
            previous_speed = figures.speed
        yield figures

    def clearance(self, gait: Gait) -> float:
        """Return the smallest distance of the centres of links that are not neighbours [m]."""
        return float(
            clearance(self._body, self._wave(gait), CLEARANCE_PHASES, self.parameters.joints)
        )

    def _steps(self, period: float) -> int:
        """Return the number of steps in a period: at most MAX_STEP long, and stable."""
        mu = max(self.friction.mu_along, self.friction.mu_across)
        # Time constant of the smoothed friction near rest.
        decay = self.friction.slip_speed / (mu * self.parameters.gravity) if mu > 0 else np.inf
        return max(MIN_STEPS, math.ceil(period / min(MAX_STEP, STIFFNESS * decay)))

    def _wave(self, gait: Gait) -> Wave:
        """Return the wave of a gait."""
        lag = 2.0 * math.pi * gait.waves / self.parameters.joints
        return Wave(gait.amplitude, 2.0 * math.pi * gait.frequency, lag)

    def _figures(self, moved: Array, sums: Array, period: float) -> Figures:
        """Return the figures of a period, from the change of the base (6,) and the sums (3,)."""
        heading = float(sums[HEADING]) / period
        forward = float(moved[0] * math.cos(heading) + moved[1] * math.sin(heading))
        weight = self.parameters.mass * self.parameters.gravity
        cost = float(sums[WORK]) / (weight * abs(forward)) if forward else math.inf
        return Figures(forward / period, float(sums[PEAK]), cost)
