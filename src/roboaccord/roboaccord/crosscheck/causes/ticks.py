"""Control periods of an engine's run, predicted by its twin with what may be off in it.

PROBABLE, BETTER and FIRST may be tuned: test_naming and test_scheme plant errors and check their
names. A hypothesis is a twin of its own, made with that number otherwise; nothing is changed in
place.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.explain import Explanation, explain
from roboaccord.crosscheck.causes.fit import Fit, Problem
from roboaccord.crosscheck.causes.hypotheses import ZERO, Group, Hypothesis, Sizes, components
from roboaccord.crosscheck.causes.samples import RECORDED, WHOLE, exchanged, framed, starts
from roboaccord.crosscheck.causes.search import LIKELY
from roboaccord.crosscheck.ticks import Index, difference, names, predicted
from roboaccord.engines.deviations import EVERY, GROUND, OF_FEET, OF_JOINTS, OF_LINKS, ModelChange
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import Twin, twin_of
from roboaccord.numerics.ranking import first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

PROBABLE = 1e-3  # of the squared residuals, left by what is named
BETTER = 1e-3  # times what fewer causes leave: more are named
MOST_STEPS = 10
FIRST = 3  # ticks of a first look
DELAY, LAG, CLOCK = Hypothesis("delay"), Hypothesis("lag"), Hypothesis("clock")
STEPS = "physics steps"  # unit


@dataclass(frozen=True)
class TickProblem(Problem):
    """Predict ticks of an engine's run by a simulator of our own (Problem): a block is a tick.

    Args:
        setup: robot and scenario.
        simulator: with nothing otherwise.
        run: recorded.
        ticks: numbers of those to predict (k,).
        weight: by which residuals are multiplied (2 n + 12,).
        rest: what time stepping explains of the residuals (k, 2 n + 12).
        late: physics steps at the start of each tick under the efforts of the tick before.
        more: physics steps that each tick has more.
    """

    setup: Setup
    simulator: Simulator
    run: Trajectory
    ticks: Index
    weight: Array = field(default_factory=lambda: np.ones(1))
    rest: Array = field(default_factory=lambda: np.zeros(1))
    late: int = 0
    more: int = 0

    @property
    def independent(self) -> int:
        """Number of ticks: residuals of one are not independent."""
        return len(self.ticks)

    @abstractmethod
    def made(self, run: Trajectory, sizes: Sizes) -> tuple[Simulator, Trajectory]:
        """Return a simulator with numbers that are otherwise, and the run that it predicts."""

    @abstractmethod
    def parameters(self) -> Iterator[Hypothesis]:
        """Yield what may be otherwise in the simulator, by quantity and place."""

    def residuals(self, sizes: Sizes = {}) -> Array:  # noqa: B006 - it is never changed
        """Return the predicted ends of ticks less the recorded ones, times the weight.

        Raises:
            AccordError: for a model that cannot be.
        """
        run, nonzero = self.run, dict[Hypothesis, float]()
        for one, size in sizes.items():
            if one.quantity in RECORDED:
                run = RECORDED[one.quantity](run, size, one.where)
            elif one != CLOCK and size:
                nonzero[one] = size
        simulator, run = self.made(run, nonzero) if nonzero else (self.simulator, run)
        fast = sizes.get(CLOCK, 0.0)
        ends, _ = predicted(simulator, run, self.ticks, self.late, self.more)
        errors = difference(run.at(self.ticks + 1), ends)
        if fast:
            errors = errors + fast * difference(run.at(self.ticks), ends)
        return np.asarray((errors - self.rest) * self.weight)

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes = {}) -> dict[Hypothesis, Array]:  # noqa: B006
        """Return how residuals change with parameters; none that do nothing."""
        columns, plain = {}, self.residuals(at)
        for one in ones:
            try:
                changed = self.residuals({**at, one: at.get(one, 0.0) + one.probe})
            except AccordError:  # a model that cannot be
                continue
            slope = (changed - plain) / one.probe
            if np.isfinite(slope).all() and slope.any():
                columns[one] = slope
        return columns

    def groups(self) -> list[Group]:
        """Return parameters: by link, by joint, and those of which there is one."""
        wholes = [DELAY, LAG, CLOCK, *self.parameters()]
        return [components(one) for one in wholes]

    def starts(self) -> Iterator[tuple[Group, Sequence[float]]]:
        """Yield what acts late, and what drives may do."""
        yield from (((one,), WHOLE) for one in (DELAY, LAG))
        for quantity, where, sizes in starts(self.run):
            yield (Hypothesis(quantity, where),), sizes

    def variants(self) -> Iterator[tuple[Cause, Self]]:
        """Yield what acts late by physics steps, and other orders, signs and frames."""
        steps = round((self.run.time[1] - self.run.time[0]) / self.simulator.physics_step)
        for late in range(1, min(steps, MOST_STEPS)):
            yield Cause("delay", size=late, unit=STEPS), replace(self, late=late)
        for more in (-1, 1):
            yield Cause("clock", size=more, unit=STEPS), replace(self, more=more)
        columns = ("q", "qd", "effort")
        for cause, run in (*exchanged(self.run, columns), *framed(self.run)):
            yield cause, replace(self, run=run)

    def part(self, which: slice) -> Self:
        """Return some of the ticks."""
        rest = self.rest[which] if self.rest.ndim > 1 else self.rest
        return replace(self, ticks=self.ticks[which], rest=rest)

    def halves(self, count: int) -> tuple[Self, Self] | None:
        """Return the problems of both halves of the ticks, or of one tick's coordinates."""
        if count > 1:
            return super().halves(count)
        even = np.arange(len(self.weight)) % 2 == 0
        return replace(self, weight=self.weight * even), replace(self, weight=self.weight * ~even)

    def few(self) -> Self:
        """Return the first ticks."""
        return self.part(slice(FIRST))

    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        """Return whether a fit leaves next to nothing, or no more than round-off."""
        return fit.cost <= max(times * PROBABLE * plain.cost, LIKELY * fit.left.size)

    def adds(self, before: Fit, fit: Fit) -> bool:
        """Return whether more causes leave far less than fewer."""
        return fit.cost < before.cost * (BETTER if before.places else 1.0)


@dataclass(frozen=True, kw_only=True)
class TwinProblem(TickProblem):
    """Predict ticks by the twin of an engine; each hypothesis is a twin of its own.

    Args:
        engine: of the run.
    """

    engine: EngineSpec

    def made(self, run: Trajectory, sizes: Sizes) -> tuple[Simulator, Trajectory]:
        """Return a twin with numbers that are otherwise, and the run."""
        off = [ModelChange(*one, size) for one, size in sizes.items()]
        if isinstance(self.simulator, Twin):  # of one model, and nothing stands in front of it
            return self.simulator.otherwise(off), run
        return make_simulator(self.setup, twin_of(self.engine, off=off)), run

    def parameters(self) -> Iterator[Hypothesis]:
        """Yield what a twin has."""
        parts = parts_of(self.simulator)
        links, joints, feet = (
            list(dict.fromkeys(name for part in parts for name in getattr(part, kind)))
            for kind in ("links", "joints", "feet")
        )
        for quantities, places in ((OF_LINKS, links), (OF_JOINTS, joints)):
            every = [EVERY] if len(places) > 1 else []
            for quantity in quantities:
                alone = [] if Hypothesis(quantity).component else every
                yield from (Hypothesis(quantity, where) for where in [*places, *alone])
        yield from (Hypothesis(quantity, where) for quantity in OF_FEET for where in feet)
        yield from (Hypothesis(ZERO, where) for where in joints)
        yield from map(Hypothesis, ("gravity", *GROUND))


def parts_of(twin: Simulator) -> list[Twin]:
    """Return the twins of a simulator's models."""
    return [part for part in twin.parts() if isinstance(part, Twin)]


def spread(floor: Array, columns: int) -> Array:
    """Return the floors of groups (6,) by column."""
    n = (columns - 12) // 2
    return np.repeat(floor, [n, n, 3, 3, 3, 3])


def explain_ticks(problem: TickProblem) -> Explanation:
    """Return what explains the residuals of ticks, and where the largest of them is."""
    size = np.abs(problem.residuals()).max(axis=0)
    quantity, where = names(problem.run.joints)[first_largest(size)]
    return replace(explain(problem)[0], quantity=quantity, where=where)
