"""The ideally tracked gait: the shape is prescribed, and only the base moves under friction.

With the joint angles q(t) given, three unknowns are left: the centre of mass p and the mean
heading Th. The ground's forces f_j and moments on the links give

    N m p'' = sum f_j
    Th''    = what keeps the angular momentum about the centre of mass in balance

and the inverse dynamics the efforts that this takes. It is integrated with Runge-Kutta 4, one
period after the other, until the mean velocity no longer changes: the periodic steady state.

MAX_STEP, MIN_STEPS, MAX_PERIODS and SLOW may be tuned, a matter of accuracy against time; STIFFNESS
must stay below 2.78. The equations are fixed: test_ideal compares speeds within 1 % and efforts
with an independent computation. Fields of Gait and Figures, columns and JSON keys of `accord snake
optimise`, stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract import Array, MetresPerSecond, Quantity
from roboaccord.numerics import kernel, rk4_stage
from snake.model.coordinates import PlanarSnake
from snake.model.ground import GroundFriction, ground_forces
from snake.model.parameters import SnakeParameters
from snake.model.tracking import inverse_dynamics, serpenoid, set_differences

MAX_STEP = 2e-3  # s: of integration
MIN_STEPS = 160  # in a period
MAX_PERIODS = 40  # until the steady state, or what is there counts as it
SLOW = 0.01  # m/s: below it, convergence is judged by this speed
STIFFNESS = 2.0  # largest step times the rate of the smoothed friction; RK4 is stable to 2.78


@kernel
def base_slope(body, base, time, wave, friction, points, q, qd, qdd, tau, slope):
    """Fill the slope (6,) of base = [p, Th, v, Th'], the shape q, qd, qdd (n,) and efforts tau.

    `wave` is (amplitude [rad], rate [rad/s], lag [rad]) of the serpenoid.
    """
    n = q.shape[0] + 1
    serpenoid(time, wave[0], wave[1], wave[2], 0.0, 0.0, q, qd, qdd)
    th = np.full(n, base[2])
    w = np.full(n, base[5])
    set_differences(th, q)
    set_differences(w, qd)
    fx = np.empty(n)
    fy = np.empty(n)
    moment = np.empty(n)
    c, s = np.cos(th), np.sin(th)
    ground_forces(body, c, s, base[0], base[3], base[4], w, friction, points, fx, fy, moment)
    slope[:3] = base[3:]
    slope[3] = fx.sum() / (n * body[2])
    slope[4] = fy.sum() / (n * body[2])
    slope[5] = inverse_dynamics(body, th, w, qdd, fx, fy, moment, tau)


@kernel
def ideal_steps(body, base, time, h, steps, wave, friction, points, joints, sums):
    """Advance base (6,) in place by `steps` steps of h [s], and add to sums (3,).

    `sums` are the integral of the mean heading [rad s], the work sum |tau qd| [J] and the largest
    effort so far [N m].
    """
    q, qd, qdd, tau = np.empty(joints), np.empty(joints), np.empty(joints), np.empty(joints)
    slope, stage, end = np.empty(6), base.copy(), base.copy()
    for step in range(steps):
        for k in range(4):
            reach = 0.0 if k == 0 else (h if k == 3 else 0.5 * h)
            now = time + step * h + reach
            base_slope(body, stage, now, wave, friction, points, q, qd, qdd, tau, slope)
            if k == 0:
                sums[0] += h * base[2]
                sums[1] += h * np.abs(tau * qd).sum()
                sums[2] = max(sums[2], np.abs(tau).max())
            rk4_stage(k, h, base, slope, stage, end)
        base[:] = end
        stage[:] = end


@kernel
def clearance(body, wave, phases, joints):
    """Return the least distance [m] of the centres of links that are not neighbours."""
    a, b, _, _ = body
    n = joints + 1
    q, qd, qdd = np.empty(joints), np.empty(joints), np.empty(joints)
    x, y = np.zeros(n), np.zeros(n)
    least = np.inf
    for phase in range(phases):
        time = phase / phases * 2.0 * math.pi / abs(wave[1])
        serpenoid(time, wave[0], wave[1], wave[2], 0.0, 0.0, q, qd, qdd)
        heading = 0.0
        for j in range(n - 2, -1, -1):
            x[j] = x[j + 1] + b * math.cos(heading)
            y[j] = y[j + 1] + b * math.sin(heading)
            heading += q[j]
            x[j] += a * math.cos(heading)
            y[j] += a * math.sin(heading)
            for k in range(j + 2, n):
                least = min(least, (x[j] - x[k]) ** 2 + (y[j] - y[k]) ** 2)
    return math.sqrt(least)


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
        speed: displacement along the mean heading over a period, by its time.
        peak_effort: largest of any joint.
        cost_of_transport: work / (N m g distance), with the work sum |effort qd|.
    """

    speed: MetresPerSecond
    peak_effort: Annotated[float, Quantity("N m", "peak of any joint", "effort")]
    cost_of_transport: Annotated[float, Quantity("1", "of transport", "cost")]


class IdealModel:
    """Evaluate gaits of a snake on uniform ground.

    Args:
        parameters: of the snake.
        friction: of the ground; a change of it along the way is left out.
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
        """Return the figures of a gait: as `evaluating` gives them, at once."""
        *_, figures = self.evaluating(gait, 1_000_000, tolerance)
        assert figures
        return figures

    def evaluating(
        self, gait: Gait, chunk: int, tolerance: float = 1e-4
    ) -> Iterator[Figures | None]:
        """Evaluate a gait, `chunk` integration steps between two yields; yield its figures at last.

        They are those of the first period in which the speed has changed by less than `tolerance`,
        relative, or of the last of MAX_PERIODS.
        """
        period = 1.0 / abs(gait.frequency)
        count = self._steps(period)
        h = period / count
        base, wave = np.zeros(6), self._wave(gait)
        before = np.inf
        for cycle in range(MAX_PERIODS):
            start, sums = base.copy(), np.zeros(3)
            done = 0
            while done < count:
                steps = min(chunk, count - done)
                ideal_steps(
                    self._body, base, cycle * period + done * h, h, steps, wave, self.friction,
                    self.points, self.parameters.joints, sums,
                )  # fmt: skip
                done += steps
                yield None
            figures = self._figures(base - start, sums, period)
            if abs(figures.speed - before) <= tolerance * max(abs(figures.speed), SLOW):
                break
            before = figures.speed
        yield figures

    def clearance(self, gait: Gait) -> float:
        """Return the least distance [m] of the centres of links that are not neighbours."""
        return float(clearance(self._body, self._wave(gait), 16, self.parameters.joints))

    def _steps(self, period: float) -> int:
        mu = max(self.friction.mu_along, self.friction.mu_across)
        slowest = self.friction.slip_speed / (mu * self.parameters.gravity) if mu > 0 else np.inf
        return max(MIN_STEPS, math.ceil(period / min(MAX_STEP, STIFFNESS * slowest)))

    def _wave(self, gait: Gait) -> Array:
        turn = 2.0 * math.pi
        return np.array(
            [gait.amplitude, turn * gait.frequency, turn * gait.waves / self.parameters.joints]
        )

    def _figures(self, moved: Array, sums: Array, period: float) -> Figures:
        heading = float(sums[0]) / period
        forward = float(moved[0] * math.cos(heading) + moved[1] * math.sin(heading))
        weight = self.parameters.mass * self.parameters.gravity
        cost = float(sums[1]) / (weight * abs(forward)) if forward else math.inf
        return Figures(forward / period, float(sums[2]), cost)
