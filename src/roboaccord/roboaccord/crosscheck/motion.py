"""Where the motions of a check come from, and what the levels of one engine share.

PICKED may be tuned: at so many ticks a level looks, where it looks at single ticks. What several
levels need is computed once here, as a cached property. A motion is that of an engine which runs
here, with the runs at smaller steps; recorded.py has those of a bag and of a run that goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from roboaccord.contract.interfaces import Engine
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.runs import Runs
from roboaccord.crosscheck.samples import Samples
from roboaccord.crosscheck.ticks import Index
from roboaccord.engines import spec
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.energy_book import EnergyBook, NoBook, energy_of
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

PICKED = 2000  # ticks


@dataclass(frozen=True)
class CheckCase:
    """Hold what the levels measure of one engine.

    Args:
        setup: robot and scenario.
        source: the engine, or `reference`.
        name: of it.
        runs: of the engine and of the reference.
        samples: of a chaotic motion, its figures over seeds by engine.
        every: whether levels look at every tick.
        checks: of the levels before, by name.
        known_book: energy balance of the run, where it is known.
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
        """The engine."""
        return spec(self.source)

    @property
    def run(self) -> Trajectory:
        """Its run at the scenario's physics step."""
        return self.runs.shown(self.name)

    @property
    def again(self) -> Trajectory:
        """The same run, repeated."""
        return self.runs.shown(self.name, again=True)

    @property
    def by_step(self) -> Mapping[float, Trajectory]:
        """Its runs by physics step."""
        return self.runs.of(self.name)

    @property
    def chaotic(self) -> bool:
        """Whether statistics over seeds compare the motion."""
        return self.setup.scenario.crosscheck.statistics is not None

    @cached_property
    def reference(self) -> Simulator:
        """The reference, to be put in any state."""
        return make_simulator(self.setup)

    @cached_property
    def simulator(self) -> Simulator:
        """The engine, likewise."""
        return make_simulator(self.setup, self.source)

    @cached_property
    def order(self) -> int:
        """Order of the engine's integrator."""
        return self.simulator.order

    @cached_property
    def book(self) -> EnergyBook | NoBook:
        """The energy balance of the run."""
        if self.known_book:
            return self.known_book
        same = all(np.array_equal(*both) for both in zip(states(self.run), states(self.again)))
        taken = self.runs.taken.get(self.name) if same else None
        return energy_of(self.setup, self.source, self.run, taken)

    def picked(self, ticks: Index) -> Index:
        """Return the ticks to look at: all, or `PICKED` spread over the motion, drawn by the seed.

        One is drawn from each of as many equal parts, so that no period of a gait hides any.
        """
        if self.every or len(ticks) <= PICKED:
            return ticks
        rng = np.random.default_rng(self.setup.scenario.seed)
        ends = np.arange(PICKED + 1) * len(ticks) // PICKED
        return ticks[rng.integers(ends[:-1], ends[1:])]


def states(run: Trajectory) -> list[Array]:
    """Return the arrays of a run's states."""
    return [run.q, run.qd, run.position, run.orientation, run.twist]
