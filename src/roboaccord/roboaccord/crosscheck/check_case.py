"""Case of one engine, `CheckCase`: its runs, and what several levels need, computed once.

A cross-check measures each engine at several levels, such as `energy`. run.py makes a case for each
engine and passes it to the `measure` of each level (level.py). Its runs are those of an engine that
runs in this check, at several physics steps; a bag and a live run are handled in recorded.py and
step_check.py. MAX_TICKS may be tuned. Levels of others read the properties (docs/new_level.md), so
their names stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from roboaccord.contract import Array, Engine, Trajectory
from roboaccord.crosscheck.runs import Runs
from roboaccord.crosscheck.samples import Samples
from roboaccord.crosscheck.ticks import Index
from roboaccord.engines import EngineSpec, spec
from roboaccord.run.energy_book import EnergyBook, NoBook, energy_of
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

# Largest number of control periods (ticks) that a level compares: an error in one of 500 is then
# expected in four of them.
MAX_TICKS = 2000


@dataclass(frozen=True)
class CheckCase:
    """One engine of a check: its runs, and what the levels have measured of it.

    Args:
        setup: robot and scenario.
        source: what the engine is made from: its specification or name; "reference" for that.
        name: of the engine, in results.
        runs: of the engine and of the reference.
        samples: figures of a chaotic motion over seeds, by engine; None for a regular motion.
        every: whether levels compare every control period (tick), not a sample of them.
        checks: of the levels before, by name.
        known_book: energy book of the run, if it was computed before.
    """

    setup: Setup
    source: Engine
    name: str
    runs: Runs
    samples: Samples | None = None
    every: bool = False
    checks: dict[str, Any] = field(default_factory=dict)
    known_book: EnergyBook | NoBook | None = None

    @property
    def engine(self) -> EngineSpec:
        """Specification of the engine."""
        return spec(self.source)

    @property
    def run(self) -> Trajectory:
        """The engine's run at the scenario's physics step."""
        return self.runs.shown(self.name)

    @property
    def again(self) -> Trajectory:
        """A repetition of that run, from the same start, which also measured the losses."""
        return self.runs.shown(self.name, repeated=True)

    @property
    def by_step(self) -> Mapping[float, Trajectory]:
        """The engine's runs by physics step."""
        return self.runs.of(self.name)

    @property
    def chaotic(self) -> bool:
        """Whether the motion is compared by statistics over seeds."""
        return self.setup.scenario.crosscheck.statistics is not None

    @cached_property
    def reference(self) -> Simulator:
        """Simulator of the reference, which can start from any state."""
        return make_simulator(self.setup)

    @cached_property
    def simulator(self) -> Simulator:
        """Simulator of the engine, which can start from any state."""
        return make_simulator(self.setup, self.source)

    @cached_property
    def order(self) -> int:
        """Order of the engine's integrator."""
        return self.simulator.order

    @cached_property
    def book(self) -> EnergyBook | NoBook:
        """Energy book of the run."""
        if self.known_book:
            return self.known_book
        # The losses that the repetition measured, if its motion is equal bit by bit.
        arrays = zip(states(self.run), states(self.again))
        is_repeated = all(np.array_equal(run, again) for run, again in arrays)
        losses = self.runs.taken.get(self.name) if is_repeated else None
        return energy_of(self.setup, self.source, self.run, losses)

    def picked(self, ticks: Index) -> Index:
        """Return the ticks to compare: all, or MAX_TICKS of them, drawn by the scenario's seed.

        One is drawn at random from each of MAX_TICKS equal parts of the ticks: ticks at even
        distances could be in step with a gait.
        """
        if self.every or len(ticks) <= MAX_TICKS:
            return ticks
        rng = np.random.default_rng(self.setup.scenario.seed)
        ends = np.arange(MAX_TICKS + 1) * len(ticks) // MAX_TICKS  # of the parts
        return ticks[rng.integers(ends[:-1], ends[1:])]


def states(run: Trajectory) -> list[Array]:
    """Return the arrays of a run's states, each with one row a sample."""
    return [run.q, run.qd, run.position, run.orientation, run.twist]
