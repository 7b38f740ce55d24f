"""Estimation of the friction coefficients of the ground from the motion of the snake.

The adaptive controller of the snake (adaptive.py) notices by it that the ground has changed. Only
the ground changes the momentum P of the whole robot and its angular momentum L about the centre of
mass, since joint efforts cancel. Over an interval of a few control periods

    P(t1) - P(t0) = integral of sum_j f_j(v_j; mu) dt
    L(t1) - L(t0) = integral of sum_j r_j x f_j(v_j; mu) dt

where r_j are the links' centres relative to the centre of mass. The slip velocities v_j follow from
joint angles and rates and the motion of the base; f is the friction force of the smoothed ellipse,

    f = -N (mu_along^2 v_along, mu_across^2 v_across) / sqrt(s),
    s = (mu_along v_along)^2 + (mu_across v_across)^2 + (max(mu) slip_speed)^2

with the load N of a link. Steps of the method of Gauss and Newton fit mu = (mu_along, mu_across) to
the intervals of a sliding window. The angular equation is divided by the body's radius of gyration,
so that all residuals have the same unit.

MU_RANGE and SINGULAR may be tuned. The friction in `normal_equations` must stay that of the
simulator.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel
from snake.model.coordinates import PlanarSnake, heading_rates, headings, velocities
from snake.model.kinematics import link_positions, link_velocities
from snake.model.parameters import SnakeParameters

# Smallest and largest friction coefficient of an estimate: grounds from ice to rubber and hooks
# have 0.01 to 3.
MU_RANGE = (0.005, 5.0)
MOMENTA = 3  # first entries of a sample: px, py and L; six entries for each link follow
# Determinant over squared trace, below which the normal matrix is singular: a condition number of
# 1e12, beyond which four digits are left.
SINGULAR = 1e-12


class FrictionLaw(NamedTuple):
    """What the kernels need to know of the friction law.

    Attributes:
        load: weight of a link [N].
        slip_speed: smoothing speed [m/s].
        gyration: radius of gyration of the straight body; it only weighs angular against linear
            momentum [m].
    """

    load: float
    slip_speed: float
    gyration: float


class GroundEstimator:
    """Fit mu = (mu_along, mu_across) to the motion over a sliding window.

    Args:
        parameters: of the snake.
        period: time between two samples [s].
        window: length of the sliding window [s].
        interval: time over which changes of momentum are taken [s].
        slip_speed: smoothing speed of the friction law [m/s].

    Attributes:
        mu: estimate (2,).
        deviation: its standard deviation (2,); infinite where the motion tells nothing.
    """

    def __init__(
        self,
        parameters: SnakeParameters,
        *,
        period: float,
        window: float,
        interval: float,
        slip_speed: float,
    ) -> None:
        self._body = PlanarSnake(parameters).body
        a, b, m, _ = self._body  # distances from a link's centre to its ends [m], and its mass [kg]
        gyration = (a + b) * parameters.links / math.sqrt(12.0)
        self._law = FrictionLaw(m * parameters.gravity, slip_speed, gyration)
        self._group = max(1, round(interval / period))
        self._size = max(2, round(window / interval)) * self._group + 1
        self._rows = np.zeros((2 * self._size, MOMENTA + 6 * parameters.links))
        self._times = np.zeros(2 * self._size)
        self.restart(np.ones(2))

    def restart(self, mu: Array) -> None:
        """Forget all samples, and start the estimate at mu (2,)."""
        self.mu = np.array(mu, dtype=float)
        self.deviation = np.full(2, np.inf)
        self._count = 0

    def add(self, time: float, y: Array) -> None:
        """Add the state y (2N + 4,) at `time` [s] to the window."""
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
        rows, times = self._rows[last], self._times[last]
        squared = normal_equations(rows, times, self._group, self.mu, self._law, normal, right)
        if not np.linalg.det(normal) > SINGULAR * np.trace(normal) ** 2:
            self.deviation = np.full(2, np.inf)  # a robot at rest gives no information
            return
        inverse = np.linalg.inv(normal)
        degrees_of_freedom = 3 * (self._size // self._group) - 2
        self.deviation = np.sqrt(np.diag(inverse) * squared / degrees_of_freedom)
        # At most a factor of 2 in a step: the law is not linear in mu, and mu must stay positive.
        self.mu = np.clip(self.mu + inverse @ right, 0.5 * self.mu, 2.0 * self.mu)
        self.mu = np.clip(self.mu, *MU_RANGE)


@kernel
def sample(body, y, row):
    """Fill a sample of the window from a state.

    Args:
        body: (a, b, m, J) of a link.
        y: state (2N + 4,) (`snake.model.coordinates`).
        row: filled with the momenta px, py [N s] and L [N m s]; then for each link the velocity
            along and across it [m/s], the cosine and sine of its heading, and its position x, y
            relative to the centre of mass [m] (3 + 6 N,).
    """
    _, _, m, J = body
    th, v, w = headings(y), velocities(y)[:2], heading_rates(y)
    n, c, s = th.shape[0], np.cos(th), np.sin(th)
    vx, vy, rx, ry = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    link_velocities(body, c, s, v[0], v[1], w, vx, vy)
    link_positions(body, c, s, 0.0, 0.0, rx, ry)
    row[0] = n * m * v[0]
    row[1] = n * m * v[1]
    row[2] = 0.0
    links = row[MOMENTA:].reshape(n, 6)
    for j in range(n):
        row[2] += J * w[j] + m * (rx[j] * vy[j] - ry[j] * vx[j])
        along = c[j] * vx[j] + s[j] * vy[j]
        across = c[j] * vy[j] - s[j] * vx[j]
        links[j] = np.array([along, across, c[j], s[j], rx[j], ry[j]])


@kernel
def normal_equations(rows, times, group, mu, law, normal, right):
    """Fill the normal equations of a Gauss-Newton step; return the sum of squared residuals.

    Args:
        rows: samples, as `sample` fills them (k, 3 + 6 N).
        times: of the samples (k,) [s].
        group: number of samples in an interval.
        mu: present estimate (2,).
        law: as `FrictionLaw`.
        normal: filled with J' J of the Jacobian J of the integrals by mu (2, 2).
        right: filled with J' times the residuals (2,).
    """
    normal[:] = 0.0
    right[:] = 0.0
    squared = 0.0
    # Rows: the force, and its derivatives by mu_along and mu_across; columns: px, py and L.
    # `integral` is over the interval, `force` and `force_before` are the values at two samples.
    integral, force, force_before = np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(rows.shape[0]):
        friction_slopes(rows[i], mu, law, force)
        # Trapezoidal rule; at the end of an interval, its residuals enter the equations.
        if i > 0:
            integral += 0.5 * (times[i] - times[i - 1]) * (force + force_before)
        if i > 0 and i % group == 0:
            for d in range(3):
                change = rows[i, d] - rows[i - group, d]
                residual = (change / law.gyration if d == 2 else change) - integral[0, d]
                squared += residual * residual
                for e in range(2):
                    right[e] += integral[e + 1, d] * residual
                    for f in range(2):
                        normal[e, f] += integral[e + 1, d] * integral[f + 1, d]
            integral[:] = 0.0
        force_before[:] = force
    return squared


@kernel
def friction_slopes(row, mu, law, force):
    """Fill the ground's force on the body at a sample, and its derivatives by mu.

    Args:
        row: the sample, as `sample` fills it (3 + 6 N,).
        mu, law: as in `normal_equations`.
        force: filled (3, 3): rows are the force and its derivatives by mu_along and mu_across,
            columns its x and y [N] and its moment over the radius of gyration [N].
    """
    top, slip = max(mu[0], mu[1]), law.slip_speed
    force[:] = 0.0
    for along, across, c, s, rx, ry in row[MOMENTA:].reshape(-1, 6):
        square = (mu[0] * along) ** 2 + (mu[1] * across) ** 2 + (top * slip) ** 2
        scale = law.load / math.sqrt(square)
        for d in range(3):
            # f = -mu^2 v scale, and its derivatives by mu_along and mu_across
            fa, fc = mu[0] * mu[0] * along, mu[1] * mu[1] * across
            if d > 0:
                factor = mu[d - 1] * (along if d == 1 else across) ** 2
                if mu[d - 1] == top:
                    factor += top * slip * slip
                fa *= -factor / square
                fc *= -factor / square
                if d == 1:
                    fa += 2.0 * mu[0] * along
                else:
                    fc += 2.0 * mu[1] * across
            fx = -scale * (c * fa - s * fc)
            fy = -scale * (s * fa + c * fc)
            force[d, 0] += fx
            force[d, 1] += fy
            force[d, 2] += (rx * fy - ry * fx) / law.gyration
