"""Control periods (ticks) of an engine's run as a problem to explain, predicted by a simulator.

A simulator of our own starts from each recorded state and predicts the next one: the engine's twin
(our equations of motion under its integration scheme) in `TwinProblem`, the analytical model in
reference.py. Residuals are predicted less recorded states. Under a hypothesis, such as another mass
of a link, a new simulator is made with that number, or the recorded run is rewritten (samples.py);
nothing is changed in place. `explain_ticks` searches for the hypotheses that explain the residuals.

NAMED_SHARE, BETTER_SHARE and TRIAL_TICKS may be tuned: test_naming and test_scheme plant
errors and check their names. In the three errors of explain.py names stay with NAMED_SHARE and
BETTER_SHARE a fifth and five times as large, and with TRIAL_TICKS and MOST_STEPS halved and
doubled.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Self

import numpy as np

from roboaccord.contract import AccordError, Array, Trajectory
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.explain import Explanation, explain
from roboaccord.crosscheck.causes.fit import Fit, Problem
from roboaccord.crosscheck.causes.hypotheses import ZERO, Group, Hypothesis, Sizes, components
from roboaccord.crosscheck.causes.samples import DELAYS, RECORDED, exchanged, framed, starts
from roboaccord.crosscheck.causes.search import NOISE_RATIO, Search
from roboaccord.crosscheck.columns import column_names, state_difference
from roboaccord.crosscheck.ticks import Index, predict_ticks
from roboaccord.engines.deviations import EVERY, GROUND, OF_FEET, OF_JOINTS, OF_LINKS, ModelChange
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import Twin, twin_of
from roboaccord.numerics.ranking import first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

# Share of the squared residuals that a named cause may leave: 3 % in each residual. A fifth and
# five times as much name the same (above).
NAMED_SHARE = 1e-3
# Squared residuals that another cause may leave, relative to those of fewer causes: 3 % in each. A
# fifth and five times as much name the same (above).
BETTER_SHARE = 1e-3
# Longest delay within a tick that is tried [physics steps]: ticks of the robots have 1 to 10.
MOST_STEPS = 10
# Number of ticks on which variants (errors without a size) and starts (sizes other than 0 at which
# a fit begins) are tried first: of one, any may be better by chance.
TRIAL_TICKS = 3
# Errors of the recording: efforts that act late, rates that are recorded late [ticks], and a clock
# that runs fast (relative).
DELAY, LAG, CLOCK = Hypothesis("delay"), Hypothesis("lag"), Hypothesis("clock")
DELAY_UNIT = "physics steps"  # unit of delays within a tick


@dataclass(frozen=True)
class TickProblem(Problem):
    """Residuals of ticks, predicted by a simulator of our own (Problem); a block is a tick.

    Args:
        setup: robot and scenario.
        simulator: without an error.
        run: recorded.
        ticks: indices of the ticks to predict (k,).
        weight: factor on the residuals, by column (2 n + 12,).
        rest: part of the residuals that time stepping explains (k, 2 n + 12).
        late_steps: physics steps at the start of each tick under the efforts of the tick before.
        extra_steps: physics steps that are added to each tick.
    """

    setup: Setup
    simulator: Simulator
    run: Trajectory
    ticks: Index
    weight: Array = field(default_factory=lambda: np.ones(1))
    rest: Array = field(default_factory=lambda: np.zeros(1))
    late_steps: int = 0
    extra_steps: int = 0

    @property
    def independent(self) -> int:
        """Number of ticks: the residuals of one tick depend on each other."""
        return len(self.ticks)

    @abstractmethod
    def with_errors(self, run: Trajectory, sizes: Sizes) -> tuple[Simulator, Trajectory]:
        """Return a simulator with errors of given sizes, and the run that it predicts."""

    @abstractmethod
    def parameters(self) -> Iterator[Hypothesis]:
        """Yield the parameters of the simulator that may be wrong."""

    def residuals(self, sizes: Sizes = {}) -> Array:  # noqa: B006 - it is never changed
        """Return predicted less recorded ends of the ticks, weighted (k, 2 n + 12).

        Args:
            sizes: error of each hypothesis; 0 of those that are missing.

        Raises:
            AccordError: for sizes of which no model can be made.
        """
        # Errors of the recorded data are undone; the others go into a new simulator.
        run, nonzero = self.run, dict[Hypothesis, float]()
        for hypothesis, size in sizes.items():
            if hypothesis.quantity in RECORDED:
                run = RECORDED[hypothesis.quantity](run, size, hypothesis.where)
            elif hypothesis != CLOCK and size:
                nonzero[hypothesis] = size
        simulator, run = self.with_errors(run, nonzero) if nonzero else (self.simulator, run)
        # A fast clock (relative) adds its share of the change over the tick.
        clock_error = sizes.get(CLOCK, 0.0)  # relative
        ends, _ = predict_ticks(simulator, run, self.ticks, self.late_steps, self.extra_steps)
        errors = state_difference(run.at(self.ticks + 1), ends)
        if clock_error:
            errors = errors + clock_error * state_difference(run.at(self.ticks), ends)
        return np.asarray((errors - self.rest) * self.weight)

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes = {}) -> dict[Hypothesis, Array]:  # noqa: B006
        """Return the derivatives (k, 2 n + 12) of the residuals, by a finite difference.

        Hypotheses that change nothing are missing.
        """
        slopes, unchanged = {}, self.residuals(at)
        for h in ones:
            try:
                changed = self.residuals({**at, h: at.get(h, 0.0) + h.probe})
            except AccordError:  # a model that cannot be
                continue
            slope = (changed - unchanged) / h.probe
            if np.isfinite(slope).all() and slope.any():
                slopes[h] = slope
        return slopes

    def groups(self) -> list[Group]:
        """Return errors of the recording and parameters of the simulator, by components."""
        return [components(hypothesis) for hypothesis in [DELAY, LAG, CLOCK, *self.parameters()]]

    def starts(self) -> Iterator[tuple[Group, Sequence[float]]]:
        """Yield delays, motor lags and effort limits, and sizes at which their fits begin."""
        yield from (((h,), DELAYS) for h in (DELAY, LAG))
        for quantity, where, sizes in starts(self.run):
            yield (Hypothesis(quantity, where),), sizes

    def variants(self) -> Iterator[tuple[Cause, Self]]:
        """Yield delays by physics steps, exchanged columns, signs and frames, each undone."""
        steps = round((self.run.time[1] - self.run.time[0]) / self.simulator.physics_step)
        for late in range(1, min(steps, MOST_STEPS)):
            yield Cause("delay", size=late, unit=DELAY_UNIT), replace(self, late_steps=late)
        for extra in (-1, 1):
            yield Cause("clock", size=extra, unit=DELAY_UNIT), replace(self, extra_steps=extra)
        columns = ("q", "qd", "effort")
        for cause, run in (*exchanged(self.run, columns), *framed(self.run)):
            yield cause, replace(self, run=run)

    def subset(self, blocks: slice) -> Self:
        """Return the problem of a slice of the ticks."""
        rest = self.rest[blocks] if self.rest.ndim > 1 else self.rest
        return replace(self, ticks=self.ticks[blocks], rest=rest)

    def halves(self, count: int) -> tuple[Self, Self] | None:
        """Return the problems of both halves of the ticks, or of one tick's coordinates."""
        if count > 1:
            return super().halves(count)
        even = np.arange(len(self.weight)) % 2 == 0
        return replace(self, weight=self.weight * even), replace(self, weight=self.weight * ~even)

    def trial(self) -> Self:
        """Return the problem of the first ticks."""
        return self.subset(slice(TRIAL_TICKS))

    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        """Return whether a fit leaves next to nothing, or no more than round-off."""
        noise = NOISE_RATIO * fit.residuals.size
        return fit.cost <= max(times * NAMED_SHARE * plain.cost, noise)

    def adds(self, before: Fit, fit: Fit) -> bool:
        """Return whether more causes leave far less than fewer."""
        return fit.cost < before.cost * (BETTER_SHARE if before.parameters else 1.0)


@dataclass(frozen=True, kw_only=True)
class TwinProblem(TickProblem):
    """Residuals of ticks predicted by the twin of an engine, made anew for each hypothesis.

    Args:
        engine: that made the run.
    """

    engine: EngineSpec

    def with_errors(self, run: Trajectory, sizes: Sizes) -> tuple[Simulator, Trajectory]:
        """Return a twin with errors of given sizes, and the run unchanged."""
        changes = [ModelChange(*h, size) for h, size in sizes.items()]
        if isinstance(self.simulator, Twin):  # of one model, and nothing stands in front of it
            return self.simulator.otherwise(changes), run
        return make_simulator(self.setup, twin_of(self.engine, changes=changes)), run

    def parameters(self) -> Iterator[Hypothesis]:
        """Yield the parameters of links, joints, feet, gravity and ground of the twin."""
        parts = twins_of(self.simulator)
        # Names of all parts, each once.
        links = [*dict.fromkeys(chain(*(part.links for part in parts)))]
        joints = [*dict.fromkeys(chain(*(part.joints for part in parts)))]
        feet = [*dict.fromkeys(chain(*(part.feet for part in parts)))]
        for quantities, elements in ((OF_LINKS, links), (OF_JOINTS, joints)):
            for quantity in quantities:
                has_common_size = len(elements) > 1 and not Hypothesis(quantity).component
                names = [*elements, EVERY] if has_common_size else elements
                yield from (Hypothesis(quantity, name) for name in names)
        yield from (Hypothesis(quantity, where) for quantity in OF_FEET for where in feet)
        yield from (Hypothesis(ZERO, where) for where in joints)
        yield from map(Hypothesis, ("gravity", *GROUND))


def twins_of(twin: Simulator) -> list[Twin]:
    """Return the twins of a simulator's models."""
    return [part for part in twin.parts() if isinstance(part, Twin)]


def explain_ticks(problem: TickProblem) -> Explanation:
    """Return the explanation of the residuals of ticks, with the coordinate of the largest one."""
    largest = np.abs(problem.residuals()).max(axis=0)
    quantity, where = column_names(problem.run.joints)[first_largest(largest)]
    return replace(explain(Search(problem))[0], quantity=quantity, where=where)
