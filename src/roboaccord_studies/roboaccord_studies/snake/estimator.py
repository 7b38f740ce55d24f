"""Estimation of friction from the motion over a sliding window.

The ground alone changes the momentum P of the whole robot and its angular momentum L about the
centre of mass; joint efforts cancel. Over an interval of a few control periods

    P(t1) - P(t0) = integral of sum_j f_j(v_j; mu) dt
    L(t1) - L(t0) = integral of sum_j r_j x f_j(v_j; mu) dt

with the slip velocities v_j, that follow from joint angles, rates and the base's pose and twist,
and the friction f of the ellipse. Gauss-Newton steps fit mu = (mu_along, mu_across) to the
intervals of a sliding window. The angular line is divided by the body's radius of gyration.

RANGE and SINGULAR, guards, may be tuned; window and interval are the caller's (adaptive.py). The
balance of momentum is fixed, and so is the friction in `normal_equations`, the smoothed ellipse of
the simulator: test_adaptive compares fits with scipy's and recovers drawn grounds within 0.1 %.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel
from snake.model.coordinates import PlanarSnake
from snake.model.kinematics import link_places, link_velocities
from snake.model.parameters import SnakeParameters

RANGE = (0.005, 5.0)  # of a friction coefficient
SINGULAR = 1e-12  # of the determinant, beside the squared trace


@kernel
def sample(body, y, row):
    """Fill row (3 + 6 N,): momenta px, py, L, then along, across, c, s, x, y of each link."""
    _, _, m, J = body
    n = y.shape[0] // 2 - 2
    c, s = np.cos(y[2 : n + 2]), np.sin(y[2 : n + 2])
    w = y[n + 4 :]
    vx, vy, x, z = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    link_velocities(body, c, s, y[n + 2], y[n + 3], w, vx, vy)
    link_places(body, c, s, 0.0, 0.0, x, z)
    row[0] = n * m * y[n + 2]
    row[1] = n * m * y[n + 3]
    row[2] = 0.0
    for j in range(n):
        row[2] += J * w[j] + m * (x[j] * vy[j] - z[j] * vx[j])
        k = 3 + 6 * j
        row[k] = c[j] * vx[j] + s[j] * vy[j]
        row[k + 1] = c[j] * vy[j] - s[j] * vx[j]
        row[k + 2] = c[j]
        row[k + 3] = s[j]
        row[k + 4] = x[j]
        row[k + 5] = z[j]


@kernel
def normal_equations(rows, times, group, mu, load, slip, gyration, normal, right):
    """Fill normal (2, 2) and right (2,) of the Gauss-Newton step; return the squared residual.

    `rows` (k, 3 + 6 N) are samples in order of `times` (k,) [s], taken together in intervals of
    `group` samples.
    """
    n = (rows.shape[1] - 3) // 6
    normal[:] = 0.0
    right[:] = 0.0
    squared = 0.0
    top = max(mu[0], mu[1])
    # Of px, py and L: the integral of the force, and of its derivatives by mu.
    whole, now, before = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(rows.shape[0]):
        now[:] = 0.0
        for j in range(n):
            k = 3 + 6 * j
            along, across, c, s = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
            square = (mu[0] * along) ** 2 + (mu[1] * across) ** 2 + (top * slip) ** 2
            scale = load / math.sqrt(square)
            for d in range(3):
                # f = -mu^2 v scale, and its derivatives by mu_along and mu_across
                fa, fc = mu[0] * mu[0] * along, mu[1] * mu[1] * across
                if d > 0:
                    other = mu[d - 1] * (along if d == 1 else across) ** 2
                    if mu[d - 1] == top:
                        other += top * slip * slip
                    fa *= -other / square
                    fc *= -other / square
                    if d == 1:
                        fa += 2.0 * mu[0] * along
                    else:
                        fc += 2.0 * mu[1] * across
                fx, fy = -scale * (c * fa - s * fc), -scale * (s * fa + c * fc)
                now[d, 0] += fx
                now[d, 1] += fy
                now[d, 2] += (rows[i, k + 4] * fy - rows[i, k + 5] * fx) / gyration
        if i > 0:
            whole += 0.5 * (times[i] - times[i - 1]) * (now + before)
        if i > 0 and i % group == 0:
            for d in range(3):
                change = rows[i, d] - rows[i - group, d]
                residual = (change / gyration if d == 2 else change) - whole[0, d]
                squared += residual * residual
                for e in range(2):
                    right[e] += whole[e + 1, d] * residual
                    for f in range(2):
                        normal[e, f] += whole[e + 1, d] * whole[f + 1, d]
            whole[:] = 0.0
        before[:] = now
    return squared


class GroundEstimator:
    """Fit (mu_along, mu_across) to the motion over a sliding window.

    Args:
        parameters: of the snake.
        period: of the samples [s].
        window: how far back to look [s].
        interval: over which changes of momentum are taken [s].
        slip_speed: smoothing speed of the friction law [m/s].
    """

    def __init__(
        self, parameters: SnakeParameters, *, period: float, window: float, interval: float,
        slip_speed: float,
    ) -> None:  # fmt: skip
        self._body = PlanarSnake(parameters).body
        self._load = parameters.link_mass * parameters.gravity
        self._slip = slip_speed
        # Of a straight body; it only weighs angular against linear momentum.
        self._gyration = sum(self._body[:2]) * parameters.links / math.sqrt(12.0)
        self._group = max(1, round(interval / period))
        self._size = max(2, round(window / interval)) * self._group + 1
        self._rows = np.zeros((2 * self._size, 3 + 6 * parameters.links))
        self._times = np.zeros(2 * self._size)
        self.restart(np.ones(2))

    def restart(self, mu: Array) -> None:
        """Forget all samples, and start the fit at mu (2,)."""
        self.mu = np.array(mu, dtype=float)
        self.deviation = np.full(2, np.inf)
        self._count = 0

    def add(self, time: float, y: Array) -> None:
        """Take the state y (2N + 4,) at `time` [s]."""
        if self._count == len(self._rows):
            self._count = self._size - 1
            self._rows[: self._count] = self._rows[-self._count :]
            self._times[: self._count] = self._times[-self._count :]
        sample(self._body, y, self._rows[self._count])
        self._times[self._count] = time
        self._count += 1

    @property
    def full(self) -> bool:
        """True if the window is full of samples."""
        return self._count >= self._size

    def fit(self) -> None:
        """Take one Gauss-Newton step of `mu`, and set its standard `deviation` (2,)."""
        normal, right = np.empty((2, 2)), np.empty(2)
        last = slice(self._count - self._size, self._count)
        squared = normal_equations(
            self._rows[last], self._times[last], self._group, self.mu, self._load, self._slip,
            self._gyration, normal, right,
        )  # fmt: skip
        if not np.linalg.det(normal) > SINGULAR * np.trace(normal) ** 2:
            self.deviation = np.full(2, np.inf)  # a robot at rest shows nothing
            return
        inverse = np.linalg.inv(normal)
        freedom = 3 * (self._size // self._group) - 2
        self.deviation = np.sqrt(np.diag(inverse) * squared / freedom)
        # At most a factor of 2 in a step: the law bends, and mu stays positive.
        self.mu = np.clip(self.mu + inverse @ right, 0.5 * self.mu, 2.0 * self.mu)
        self.mu = np.clip(self.mu, *RANGE)
