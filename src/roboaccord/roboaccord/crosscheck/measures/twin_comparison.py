"""An engine's twin, and how much of a difference from it is round-off.

The twin is a simulation of our equations of motion with the engine's scheme and physics step, so
only round-off may separate them in a control period (tick). The floor is the difference that
round-off explains. It is measured: by twins all of whose numbers are changed by one rounding, by
what the engine loses of a state that is set and read back, and by the angles by which it misreads
the orientations of joints. Floors are by group of coordinates (6,), in the order of columns.py:
positions and rates of the joints; position, orientation, linear and angular velocity of the base.

Factors and largest losses (round_off.py) are the tolerance of levels `scheme`, `energy` and
`invariance` (test_a_sound_engine_is_far_within_its_floor).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from roboaccord.contract import AccordError, Array, Trajectory
from roboaccord.crosscheck import round_off
from roboaccord.crosscheck.columns import largest_by_group, scales_of_groups, state_difference
from roboaccord.crosscheck.ticks import Index, predict_ticks
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.twin import twin_of
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


@dataclass(frozen=True)
class TwinComparison:
    """An engine and its twin, and the effect of round-off on the twin's ticks.

    Args:
        setup: robot and scenario, as the twin has them.
        engine: to compare.
        misread: largest errors of the joints' zero positions in the engine (n,) [rad], by the
            round-off of the angles that it reads from a file.
        twin: simulator of our equations under the engine's scheme.
    """

    setup: Setup
    engine: EngineSpec
    misread: Array
    twin: Simulator

    @classmethod
    def of(cls, setup: Setup, engine: EngineSpec) -> TwinComparison:
        """Return the comparison of an engine with its twin.

        `EngineSpec.case` of engines/spec.py gives setup and engine as the twin has them.

        Raises:
            AccordError: if it has none, stating why.
        """
        if not setup.joints and not setup.base.moves:
            raise AccordError("nothing can move")
        setup, engine, misread, _ = engine.case(setup)
        return cls(setup, engine, misread, make_simulator(setup, twin_of(engine)))

    @cached_property
    def _rounded_twins(self) -> list[Simulator]:
        """Twins all of whose numbers are changed by one rounding, of random sign."""
        return [
            make_simulator(self.setup, twin_of(self.engine, seed))
            for seed in round_off.ROUNDING_SEEDS
        ]

    def round_off(self, run: Trajectory, ticks: Index) -> Array:
        """Return the effect of round-off on a tick of the twin, by group of coordinates (6,)."""
        ends, _ = predict_ticks(self.twin, run, ticks)
        # At least one rounding of each group: in single precision one in each physics step.
        rounding, steps = self.engine.rounding, 1.0
        if round_off.is_single(rounding):
            steps = float(np.diff(run.time).max()) / self.twin.physics_step
        sizes = [steps * rounding * scales_of_groups(run)]
        for rounded_twin in self._rounded_twins:
            errors = state_difference(ends, predict_ticks(rounded_twin, run, ticks)[0])
            sizes.append(largest_by_group(np.abs(errors)).max(axis=0))
        return np.asarray(round_off.factor(rounding) * np.max(sizes, axis=0))

    @cached_property
    def _engine_simulator(self) -> Simulator | None:
        """Simulator of the engine; None if it does not simulate in this process."""
        return make_simulator(self.setup, self.engine) if self.engine.simulator else None

    def floor(self, run: Trajectory, ticks: Index, read: Index) -> Array:
        """Return the difference of a tick that round-off explains, by group of coordinates (6,).

        Args:
            run: of the engine.
            ticks: at which round-off is measured.
            read: ticks whose states the engine sets and reads back.

        The loss of a state that is read back counts up to a bound: more is an error of the engine.
        """
        floor = self.round_off(run, ticks)
        if self.misread.any():
            floor = floor + effect_of_misreading(self.twin, run, ticks, self.misread)
        if self._engine_simulator:
            rounding = self.engine.rounding
            largest_loss = round_off.of_lost_states(rounding) * scales_of_groups(run)
            lost = round_off.factor(rounding) * read_back(self._engine_simulator, run, read)
            floor = floor + np.minimum(lost, largest_loss)
        return floor


def compare_ticks(twin: Simulator, run: Trajectory, ticks: Index) -> tuple[Index, Array]:
    """Compare ticks of a run with the twin's, except those in which a joint meets its stop.

    Returns:
        indices of the compared ticks (k,), and their errors by coordinate (k, 2 n + 12).
    """
    ends, stopped = predict_ticks(twin, run, ticks)
    return ticks[~stopped], state_difference(run.at(ticks + 1), ends)[~stopped]


def effect_of_misreading(twin: Simulator, run: Trajectory, ticks: Index, angles: Array) -> Array:
    """Return the effect of errors of joints' zero positions on a tick, by group (6,).

    Args:
        twin: starts from the recorded states.
        run: recorded.
        ticks: indices.
        angles: errors of the zero positions (n,) [rad].
    """
    total, ends = np.zeros(6), predict_ticks(twin, run, ticks)[0]
    # One joint after the other is turned, and the end of each tick with it.
    for offset in np.diag(angles)[angles > 0.0]:
        turned_ends, _ = predict_ticks(twin, replace(run, q=run.q + offset), ticks)
        errors = state_difference(replace(ends, q=ends.q + offset), turned_ends)
        total += largest_by_group(np.abs(errors)).max(axis=0)
    return total


def read_back(engine: Simulator, run: Trajectory, ticks: Index) -> Array:
    """Return the largest error of a state that is set and read back, by group (6,)."""
    starts = run.at(ticks)
    lost = state_difference(starts, engine.predict(starts)[0])
    return np.asarray(largest_by_group(np.abs(lost)).max(axis=0))
