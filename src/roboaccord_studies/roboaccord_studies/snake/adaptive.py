"""Adaptive controller of the snake: it measures the friction, and searches a better gait for it.

While the snake tracks its gait, GroundEstimator estimates the friction coefficients from the
motion. The controller assumes a pair of coefficients, the belief. If the estimate departs from the
belief clearly and for long enough, the ground has changed. When the new estimate has settled, it
becomes the belief, and a compass search (compass.py) starts. The search does some integration steps
in every tick, the controller's period, and the snake always uses the best gait so far. The
controller never reads the friction of the scenario.

The constants and the defaults of AdaptiveController may be tuned. The fields of AdaptationEvent
stay, for `accord snake adapt` prints them as JSON keys.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from roboaccord.contract import BESIDE, Array, Command, Quantity, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup
from snake.controllers.serpenoid import VariableSerpenoid
from snake.controllers.tracker import BANDWIDTH, Tracker
from snake.model.coordinates import PlanarSnake
from snake.model.ground import GroundFriction

from roboaccord_studies.snake.compass import AMPLITUDE, Task, compass_search
from roboaccord_studies.snake.estimator import GroundEstimator
from roboaccord_studies.snake.ideal import Gait, IdealModel

LOG = logging.getLogger(__name__)

# s: time over which friction is estimated. In `change_of_ground` 0.25, 0.5 and 1 measure the new
# ground, (0.5, 1), at 3.4, 4.0 and 4.9 s.
WINDOW = 0.5
# s: intervals over which changes of momentum are taken: ten in a WINDOW.
INTERVAL = 0.05
# s: time between two Gauss-Newton steps of the estimate: WINDOW / 25, so an estimate follows at
# once.
FIT_PERIOD = 0.02
# Number of standard errors by which an estimate must exceed the threshold: by chance in 3 of 1000.
SIGMAS = 3.0
# Relative change in a window, below which the estimate has settled: friction itself varies by more,
# and a gait changes little with it. In `change_of_ground` 0.02 and 0.1 measure the same ground, at
# 4.0 and 3.8 s.
SETTLED_CHANGE = 0.05
# Integration steps of the search in a control tick: a tenth of a period (ideal.MIN_STEPS).
CHUNK_STEPS = 16

# Both coefficients as they are printed.
BothMu = Annotated[list[float], Quantity("1", "along and across the body", "mu", ".3g")]


@dataclass(frozen=True, slots=True)
class AdaptationEvent:
    """An event of the adaptation.

    Args:
        time: [s].
        kind: `noticed`: a change of ground was detected; `measured`: the estimate has settled;
            `changed`: the search has ended.
        mu: believed (mu_along, mu_across) after the event.
        gait: gait in use after the event.
    """

    time: Annotated[float, Quantity("s", form=".2f")]
    kind: Annotated[str, Quantity("", name="what", form="s")]
    mu: tuple[float, float]
    gait: Gait = field(metadata=BESIDE)

    @property
    def ground(self) -> BothMu:
        """Both coefficients."""
        return [*self.mu]


@dataclass(eq=False, repr=False)
class AdaptiveController:
    """Track a gait, estimate friction, and optimise the gait after a change of ground.

    Args:
        setup: robot and scenario; its friction is not read.
        amplitude, frequency, waves: of the gait at the start [rad, Hz, 1].
        mu_along, mu_across: believed friction coefficients at the start.
        slip_speed: smoothing speed of the friction law.
        objective: of the search: `speed`, or `cost` of transport.
        max_effort: largest allowed effort of a joint in the steady state.
        max_frequency: largest allowed frequency of the wave.
        min_speed: lowest allowed speed if the cost is minimised.
        threshold: relative departure of a coefficient from the belief that counts as a change.
        patience: time for which the departure must last.
        adapt: whether to search a better gait; False only estimates the friction.
        time_constant: with which the gait follows a change of its parameters.
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
        self._first_gait = Gait(self.amplitude, self.frequency, self.waves)
        self._initial_mu = np.array([self.mu_along, self.mu_across])
        self._task = Task(
            objective=self.objective,
            max_effort=self.max_effort,
            max_frequency=self.max_frequency,
            min_speed=self.min_speed,
        )
        self._tracker = Tracker(self.setup, self.bandwidth)
        self._chain = PlanarSnake(p)
        self._points = np.zeros((1, 2))  # contact points of a link: its centre
        wave = (self.amplitude, self.frequency, self.waves)
        limit = AMPLITUDE[1] * p.joint_limit
        self._serpenoid = VariableSerpenoid(
            p.joints, *wave, time_constant=self.time_constant, limit=limit
        )
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
        self.gait = self._first_gait
        self.believed = self._initial_mu.copy()
        self._estimator.restart(self._initial_mu)
        self._serpenoid.reset()
        self._search: Generator[Gait, None, None] | None = None
        self._departed_since = np.inf  # time since which the estimate departs from the belief [s]
        # Time since which it has changed by less than SETTLED_CHANGE [s].
        self._settled_since = np.inf
        self._is_changing = False  # a change was noticed, and the estimate has not settled yet
        self._settled_mu = self._initial_mu.copy()  # the estimate at `_settled_since` (2,)
        self._tick = 0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the present gait; estimate and search in between."""
        self._estimator.add(state.time, self._chain.pack(state))
        self._tick += 1
        if self._estimator.full and self._tick % self._fit_ticks == 0:
            self._estimator.fit()
            self._compare_with_belief(state.time)
        if self._search is not None:
            self._continue_search(state.time)
        gait, time = self.gait, state.time
        shape = self._serpenoid.advance(
            time, amplitude=gait.amplitude, frequency=gait.frequency, waves=gait.waves, offset=0.0
        )
        return Command(self._tracker.efforts(state, shape, (self._friction(), self._points)))

    @property
    def estimate(self) -> Array:
        """The estimated friction (mu_along, mu_across), whether or not it is believed yet (2,)."""
        return self._estimator.mu.copy()

    def _friction(self) -> GroundFriction:
        """Return the believed friction, of uniform ground."""
        weight = self._chain.parameters.link_mass * self._chain.parameters.gravity
        mu_along, mu_across = self.believed.tolist()
        return GroundFriction(mu_along, mu_across, weight, self.slip_speed, pyramid=False)

    def _compare_with_belief(self, time: float) -> None:
        """Compare the estimate with the believed friction, and react to a change of ground."""
        mu = self._estimator.mu
        # After a change, wait until the estimate has settled, then search.
        if self._is_changing:
            self.believed = mu.copy()
            if np.abs(np.log(mu / self._settled_mu)).max() > SETTLED_CHANGE:
                self._settled_mu = mu.copy()
                self._settled_since = time
            elif time - self._settled_since >= WINDOW:
                self._is_changing = False
                self._report(time, "measured")
                if self.adapt:
                    self._begin_search()
            return
        # Otherwise look for a departure from the belief that is clear and lasts.
        excess = np.abs(mu - self.believed) - self.threshold * self.believed
        if not (excess > 0).any():
            self._departed_since = np.inf
            return
        self._departed_since = min(self._departed_since, time)
        lasted = time - self._departed_since
        # Estimates of separate windows have independent errors, so a departure that lasts needs a
        # smaller excess.
        doubt = SIGMAS * self._estimator.deviation / np.sqrt(1.0 + lasted / WINDOW)
        if lasted >= self.patience and (excess > doubt).any():
            self.believed = mu.copy()
            self._settled_mu = mu.copy()
            self._settled_since = time
            self._departed_since = np.inf
            self._is_changing = True
            self._search = None
            self._report(time, "noticed")

    def _begin_search(self) -> None:
        """Begin a search of a better gait for the believed friction."""
        model = IdealModel(self._chain.parameters, self._friction(), self._points)
        self._search = compass_search(model, self._task, self.gait, CHUNK_STEPS)

    def _continue_search(self, time: float) -> None:
        """Do CHUNK_STEPS integration steps of the search, and use the best gait so far."""
        assert self._search is not None
        try:
            self.gait = next(self._search)
        except StopIteration:
            self._search = None
            self._report(time, "changed")

    def _report(self, time: float, kind: str) -> None:
        """Add an event at a time [s] to the findings, and log it."""
        along, across = self.believed.tolist()
        self.findings.append(AdaptationEvent(time, kind, (along, across), self.gait))
        LOG.info(
            "%.2f s: %s, mu_along %.3g, mu_across %.3g, %s", time, kind, along, across, self.gait
        )

    def _compile(self, setup: Setup) -> None:
        """Run everything once, so that no kernel has to be compiled during a run."""
        self.update(setup.initial, None)
        self._begin_search()
        self._continue_search(0.0)
        while not self._estimator.full:
            self._estimator.add(0.0, self._chain.pack(setup.initial))
        self._estimator.fit()
