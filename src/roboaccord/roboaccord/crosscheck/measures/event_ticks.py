"""Ticks with an event or a joint at its stop, which no twin simulates: do their errors vanish?

From the recorded state, the engine simulates such a control period (tick) at smaller and smaller
physics steps h, and the reference, our own simulator, at a still smaller one. A single tick from
one state is not chaotic. Its error e(h), the difference of both changes of state, is e_0 + a h
to first order: a stop is met within a step, so errors fall with the step, if not with the order of
the scheme. The limit e_0 is not due to time stepping. From the last two steps [Richardson 1911],

    e_0 = 2 e(h) - e(2 h)

and time stepping and round-off explain of it, with the factor SAFETY of all levels that compare
steps (extrapolation.py),

    bound = SAFETY (|e(2 h) - e(4 h)| + |e(h) - e(2 h)| + |error of the reference|) + round-off

The excess of a tick is |e_0| / bound. LevelContext (level_context.py) judges the median excess
(`EventTicks`), which a few unusual ticks do not change. Ticks that the reference itself does not
resolve, in which joints bounce from stop to stop, are left out. All simulators must be able to
start from the recorded state.

States have 2 n + 12 columns, n joints, in six groups (columns.py). A norm is over the columns of a
tick; to have one unit, columns of positions are divided by the control period (`scales`).

COMPARED_TICKS and STEP_HALVINGS may be tuned: more ticks and finer steps cost time.
MAX_REFERENCE_ERROR stays: a larger one admits ticks in which the reference is inaccurate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roboaccord.contract import Array, Seconds, Trajectory
from roboaccord.crosscheck import round_off
from roboaccord.crosscheck.columns import column_names, column_sizes, state_difference, to_columns
from roboaccord.crosscheck.extrapolation import SAFETY
from roboaccord.crosscheck.runs import tightened
from roboaccord.crosscheck.ticks import Index, evenly_spaced, predict_ticks
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import descending, first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

# Number of ticks that are compared, each at three steps: the 95 % interval of their median spans
# the ranks 14 to 27.
COMPARED_TICKS = 40
# Own error of the reference, relative to the change of state, up to which it resolves a tick: the
# change outweighs it ten times.
MAX_REFERENCE_ERROR = 0.1
# Numbers of halvings of the engine's physics step: three for two estimates, from a quarter on,
# because an impact splits a step. The reference has one more.
STEP_HALVINGS = (2, 3, 4)
# Whether each group of columns is a position: positions and rates of joints; position, orientation,
# linear and angular velocity of the base.
IS_POSITION = np.array([True, False, True, True, False, False])


@dataclass(frozen=True)
class EventTicks:
    """Errors of ticks at a physics step of 0, relative to what time stepping explains.

    The error of a tick is a norm over all coordinates, positions divided by the control period.

    Args:
        count: number of ticks that were compared.
        excess: median of the ratio of error to bound; above 1 time stepping does not explain it.
        quantity, where: coordinate that differs most in the median tick, and its joint or link.
        time: when that tick begins.
    """

    count: int
    excess: float
    quantity: str
    where: str
    time: Seconds


def check_event_ticks(
    setup: Setup, engine: EngineSpec, run: Trajectory, ticks: Index
) -> EventTicks | None:
    """Compare some ticks of an engine's run with the reference's, at decreasing physics steps.

    Returns:
        None where the reference resolves none of them.
    """
    steps = [setup.scenario.physics_step / 2**i for i in STEP_HALVINGS]
    sampled = ticks[evenly_spaced(len(ticks), COMPARED_TICKS)]
    # Motions of the reference, and its own error by a run at twice the step.
    expected = _motions(make_simulator(tightened(setup), physics_step=steps[-1] / 2), run, sampled)
    own_errors = expected - _motions(make_simulator(setup, physics_step=steps[-1]), run, sampled)
    # Weights of the columns in norms: a position over a period is a rate.
    period = setup.scenario.control_period
    scales = to_columns(np.where(IS_POSITION, 1.0 / period, 1.0), expected.shape[1])
    is_resolved = norm(own_errors * scales) <= MAX_REFERENCE_ERROR * norm(expected * scales)
    if not is_resolved.any():
        return None
    # Errors of the engine at each step, in the ticks that the reference resolves.
    chosen, own_errors = sampled[is_resolved], own_errors[is_resolved]
    motions = [_motions(make_simulator(setup, engine, physics_step=h), run, chosen) for h in steps]
    errors = np.stack(motions) - expected[is_resolved]
    # Excess of each tick (module docstring), the finest step being h.
    limits = 2.0 * errors[-1] - errors[-2]
    changes = sum(norm(change * scales) for change in np.diff(errors, axis=0))
    scale = round_off.of_coordinates(engine.rounding) * norm(scales * column_sizes(run)[None])
    excess = norm(limits * scales) / (SAFETY * (changes + norm(own_errors * scales)) + scale)
    # The tick with the median ratio.
    middle = descending(-excess)[len(excess) // 2]
    quantity, where = column_names(run.joints)[first_largest(np.abs(limits[middle] * scales))]
    time = float(run.time[chosen[middle]])
    return EventTicks(len(chosen), float(excess[middle]), quantity, where, time)


def _motions(simulator: Simulator, run: Trajectory, ticks: Index) -> Array:
    """Return the motion in each tick: the change of its recorded first state (k, 2 n + 12)."""
    return state_difference(run.at(ticks), predict_ticks(simulator, run, ticks)[0])


def norm(values: Array) -> Array:
    """Return the norm (k,) of each row."""
    return np.asarray(np.linalg.norm(values, axis=1))
