"""Adaptive controller: estimation of friction, detection of its change, gait optimisation.

The ground alone changes the momentum P of the whole robot and its angular momentum L about the
centre of mass; joint efforts cancel. Over an interval of a few control periods

    P(t1) - P(t0) = integral of sum_j f_j(v_j; mu) dt
    L(t1) - L(t0) = integral of sum_j r_j x f_j(v_j; mu) dt

with the slip velocities v_j, that follow from joint angles, rates and the base's pose and twist,
and the friction f of the ellipse. Gauss-Newton steps fit mu = (mu_along, mu_across) to the
intervals of a sliding window. The angular line is divided by the body's radius of gyration.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from roboaccord.contract import BESIDE, Array, Command, Quantity, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.numerics import kernel
from roboaccord.scenario import Setup

from snake.controllers.serpenoid import BANDWIDTH, Tracker, VariableSerpenoid
from snake.model.coordinates import PlanarSnake
from snake.model.dynamics import link_places, link_velocities
from snake.model.parameters import SnakeParameters
from snake.search.ideal import Gait, IdealModel
from snake.search.optimise import AMPLITUDE, Task, compass_search

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
                left = (change / gyration if d == 2 else change) - whole[0, d]
                squared += left * left
                for e in range(2):
                    right[e] += whole[e + 1, d] * left
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
        self,
        parameters: SnakeParameters,
        *,
        period: float,
        window: float,
        interval: float,
        slip_speed: float,
    ) -> None:
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


LOG = logging.getLogger(__name__)

WINDOW = 0.5  # s: of the estimate
INTERVAL = 0.05  # s: over which it takes changes of momentum
FIT_PERIOD = 0.02  # s: between two Gauss-Newton steps
SIGMAS = 3.0  # an estimate must be beyond the threshold by so many standard errors
SETTLED = 0.05  # relative: the estimate has settled when it changes by less in a window
CHUNK = 16  # integration steps of the model in a control tick


@dataclass(frozen=True, slots=True)
class AdaptationEvent:
    """Record an event of the adaptation: detection, estimate, or change of gait.

    Args:
        time: [s].
        kind: `noticed` a change, `measured` the ground, or `changed` the gait for good.
        mu: (mu_along, mu_across) that it then believes in.
        gait: in use, or gone over to.
    """

    time: Annotated[float, Quantity("s", form=".2f")]
    kind: Annotated[str, Quantity("", name="what", form="s")]
    mu: tuple[float, float]
    gait: Gait = field(metadata=BESIDE)

    @property
    def ground(
        self,
    ) -> Annotated[list[float], Quantity("1", "along and across the body", "mu", ".3g")]:
        """Both coefficients."""
        return [*self.mu]


@dataclass(eq=False, repr=False)
class AdaptiveController:
    """Track a gait, estimate friction, and optimise the gait after a change of ground.

    The friction of the scenario is not read: the controller believes what it is given at the start,
    and then what it measures.

    Args:
        setup: robot and scenario.
        amplitude, frequency, waves: of the gait to start with [rad, Hz, 1].
        mu_along, mu_across: what to believe of the ground at the start.
        slip_speed: smoothing speed of the friction law.
        objective: `speed`, or `cost` of transport.
        max_effort: of a joint in the steady state.
        max_frequency: of the wave.
        min_speed: of a cheap gait.
        threshold: relative departure of a coefficient from the belief that counts as a change.
        patience: time for which it must last.
        adapt: whether to look for a better gait; False only watches.
        time_constant: of changes of the gait.
        bandwidth: of the tracking.
    """

    setup: Setup
    amplitude: float = 0.4
    frequency: float = 1.0
    waves: float = 1.5
    mu_along: float = 0.1
    mu_across: float = 1.0
    slip_speed: si.MetresPerSecond = 0.01
    objective: str = "speed"
    max_effort: si.NewtonMetres = 3.0
    max_frequency: si.Hertz = 3.0
    min_speed: si.MetresPerSecond = 0.1
    threshold: float = 0.25
    patience: si.Seconds = 0.1
    adapt: bool = True
    time_constant: si.Seconds = 0.25
    bandwidth: si.RadiansPerSecond = BANDWIDTH

    def __post_init__(self) -> None:
        p = self.setup.parameters
        if min(self.mu_along, self.mu_across, self.slip_speed, self.threshold) <= 0:
            raise ValueError("what is believed of the ground, and the threshold, must be positive")
        if self.frequency == 0 or self.patience < 0:
            raise ValueError("frequency must not be 0, and patience not negative")
        self.findings: list[AdaptationEvent] = []
        self._start = Gait(self.amplitude, self.frequency, self.waves)
        self._given = np.array([self.mu_along, self.mu_across])
        self._task = Task(
            objective=self.objective,
            max_effort=self.max_effort,
            max_frequency=self.max_frequency,
            min_speed=self.min_speed,
        )
        self._tracker = Tracker(self.setup, self.bandwidth)
        self._chain = PlanarSnake(p)
        self._points = np.zeros((1, 2))
        self._serpenoid = VariableSerpenoid(
            p.joints, self.amplitude, self.frequency, self.waves,
            time_constant=self.time_constant, limit=AMPLITUDE[1] * p.joint_limit,
        )  # fmt: skip
        period = self.setup.scenario.control_period
        self._estimator = GroundEstimator(
            p, period=period, window=WINDOW, interval=INTERVAL, slip_speed=self.slip_speed
        )
        self._fit_ticks = max(1, round(FIT_PERIOD / period))
        self.reset(0)
        self._compile(self.setup)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Return to the initial gait and friction estimate; nothing is random."""
        self.findings.clear()
        self.gait = self._start
        self.believed = self._given.copy()
        self._estimator.restart(self._given)
        self._serpenoid.reset()
        self._search: Generator[Gait, None, None] | None = None
        self._away_since = self._settled_since = np.inf
        self._changing = False
        self._last = self._given.copy()
        self._tick = 0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the gait of the moment."""
        y = self._chain.pack(state)
        self._estimator.add(state.time, y)
        self._tick += 1
        if self._estimator.full and self._tick % self._fit_ticks == 0:
            self._estimator.fit()
            self._judge(state.time)
        if self._search is not None:
            self._go_on(state.time)
        gait = self.gait
        shape = self._serpenoid.advance(
            state.time,
            amplitude=gait.amplitude,
            frequency=gait.frequency,
            waves=gait.waves,
            offset=0.0,
        )
        return Command(self._tracker.efforts(state, shape, (self._friction(), self._points)))

    @property
    def estimate(self) -> Array:
        """The friction that is measured (mu_along, mu_across), whether believed or not yet (2,)."""
        return self._estimator.mu.copy()

    def _friction(self) -> Array:
        p = self._chain.parameters
        return np.array([*self.believed, p.link_mass * p.gravity, self.slip_speed, 0.0, 0.0, 0.0])

    def _judge(self, time: float) -> None:
        """Compare the estimate with the assumed friction, and react to a change of ground."""
        mu = self._estimator.mu
        if self._changing:
            self.believed = mu.copy()
            if np.abs(np.log(mu / self._last)).max() > SETTLED:
                self._last, self._settled_since = mu.copy(), time
            elif time - self._settled_since >= WINDOW:
                self._changing = False
                self._note(time, "measured")
                if self.adapt:
                    self._begin()
            return
        away = np.abs(mu - self.believed) - self.threshold * self.believed
        if not (away > 0).any():
            self._away_since = np.inf
            return
        self._away_since = min(self._away_since, time)
        lasted = time - self._away_since
        # Windows that do not overlap err independently, so what lasts need not be as clear.
        doubt = SIGMAS * self._estimator.deviation / np.sqrt(1.0 + lasted / WINDOW)
        if lasted >= self.patience and (away > doubt).any():
            self.believed = mu.copy()
            self._last, self._settled_since = mu.copy(), time
            self._away_since, self._changing, self._search = np.inf, True, None
            self._note(time, "noticed")

    def _begin(self) -> None:
        model = IdealModel(self._chain.parameters, self._friction(), self._points)
        self._search = compass_search(model, self._task, self.gait, CHUNK)

    def _go_on(self, time: float) -> None:
        """Do a portion of the search, and go over to the best gait so far."""
        assert self._search is not None
        try:
            self.gait = next(self._search)
        except StopIteration:
            self._search = None
            self._note(time, "changed")

    def _note(self, time: float, kind: str) -> None:
        along, across = self.believed.tolist()
        self.findings.append(AdaptationEvent(time, kind, (along, across), self.gait))
        LOG.info(
            "%.2f s: %s, mu_along %.3g, mu_across %.3g, %s", time, kind, along, across, self.gait
        )

    def _compile(self, setup: Setup) -> None:
        """Run everything once, so that no tick waits for a compiler."""
        self.update(setup.initial, None)
        self._begin()
        self._go_on(0.0)
        while not self._estimator.full:
            self._estimator.add(0.0, self._chain.pack(setup.initial))
        self._estimator.fit()
