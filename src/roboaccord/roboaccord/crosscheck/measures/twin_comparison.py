"""An engine's twin, and what round-off explains of the difference from it.

Round-off is measured: by twins all of whose numbers are changed by a rounding, and by what the
engine loses of a state that is set and read back. SHAKEN may be tuned, and costs time. ROUNDINGS
and LOSS are the tolerance of the levels `scheme`, `energy` and `invariance`, and stay: larger ones
hide errors, with smaller ones sound engines fail (test_a_sound_engine_is_far_within_its_floor).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.ticks import Index, by_group, difference, predicted, vector
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import twin_of
from roboaccord.engines.twin_rounding import ROUNDING
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

ROUNDINGS = 50.0  # times the effect of one rounding of each number: an engine has many in a tick
SHAKEN = (1, 2)  # seeds of the twins whose numbers are changed by a rounding
LOSS = 4e-10  # relative, of a state that is set: twice what DART cuts off; more is an error


@dataclass(frozen=True)
class TwinComparison:
    """An engine and its twin, and the effect of round-off on the twin's ticks.

    Args:
        setup: robot and scenario, as the twin has them.
        engine: to compare.
        misread: errors of the joints' origins in the engine (n,) [rad].
        twin: simulator of our equations under the engine's scheme.
    """

    setup: Setup
    engine: EngineSpec
    misread: Array
    twin: Simulator

    @classmethod
    def of(cls, setup: Setup, engine: EngineSpec) -> TwinComparison:
        """Make the twin of an engine.

        Raises:
            AccordError: why there is none.
        """
        if not setup.joints and not setup.base.moves:
            raise AccordError("nothing can move")
        setup, engine, misread, _ = engine.case(setup)
        return cls(setup, engine, misread, make_simulator(setup, twin_of(engine)))

    @cached_property
    def _shaken(self) -> list[Simulator]:
        return [make_simulator(self.setup, twin_of(self.engine, seed)) for seed in SHAKEN]

    def round_off(self, run: Trajectory, ticks: Index) -> Array:
        """Return the effect of round-off on a tick of the twin, by group of coordinates (6,)."""
        plain, _ = predicted(self.twin, run, ticks)
        sizes = [ROUNDING * np.maximum(by_group(np.abs(vector(run))).max(axis=0), 1.0)]
        for other in self._shaken:
            errors = difference(plain, predicted(other, run, ticks)[0])
            sizes.append(by_group(np.abs(errors)).max(axis=0))
        return np.asarray(ROUNDINGS * np.max(sizes, axis=0))

    @cached_property
    def _reader(self) -> Simulator | None:
        """The engine, where it simulates in this process; None where states come from a record."""
        return make_simulator(self.setup, self.engine) if self.engine.simulator else None

    def floor(self, run: Trajectory, ticks: Index, read: Index) -> Array:
        """Return what round-off explains of a tick, by group of coordinates (6,).

        Args:
            run: of the engine.
            ticks: at which round-off is measured.
            read: ticks whose states the engine sets and reads back.
        """
        floor = self.round_off(run, ticks)
        if self.misread.any():
            floor = floor + spread_of(self.twin, run, ticks, self.misread)
        if self._reader:
            most = LOSS * np.maximum(by_group(np.abs(vector(run))).max(axis=0), 1.0)
            lost = ROUNDINGS * read_back(self._reader, run, read)
            floor = floor + np.minimum(lost, most)
        return floor


def compare(twin: Simulator, run: Trajectory, ticks: Index) -> tuple[Index, Array]:
    """Compare ticks of a run with the twin's, but for those in which its joints stop.

    Returns:
        indices of the compared ticks (k,), and their errors by coordinate (k, 2 n + 12).
    """
    ends, stopped = predicted(twin, run, ticks)
    errors = difference(run.at(ticks + 1), ends)
    return ticks[~stopped], errors[~stopped]


def spread_of(twin: Simulator, run: Trajectory, ticks: Index, angles: Array) -> Array:
    """Return the effect on a tick of errors of the joints' origins (n,) [rad], by group (6,)."""
    total, plain = np.zeros(6), predicted(twin, run, ticks)[0]
    for offset in np.diag(angles)[angles > 0.0]:
        turned, _ = predicted(twin, replace(run, q=run.q + offset), ticks)
        errors = difference(replace(plain, q=plain.q + offset), turned)
        total += by_group(np.abs(errors)).max(axis=0)
    return total


def read_back(engine: Simulator, run: Trajectory, ticks: Index) -> Array:
    """Return the error of a state that is set and read back, by group of coordinates (6,)."""
    starts = run.at(ticks)
    lost = difference(starts, engine.predict(starts)[0])
    return np.asarray(by_group(np.abs(lost)).max(axis=0))
