"""Ticks with an event or a joint at its stop, in which no twin steps: do their errors vanish?

SAMPLED and HALVED may be tuned: more ticks and finer steps cost time. RESOLVED stays: a larger one
takes in ticks that the reference itself hardly knows. The bound by SAFETY is set in
extrapolation.py, and from how many ticks a verdict follows in verdict.py (FEWEST). A twin is an
engine's own scheme on our equations, the reference the analytical model. All simulators must start
from the recorded state.

From the recorded state in which such a tick begins the engine goes through it at its physics step
and at smaller and smaller ones, and so does the reference at a smaller one still. Over a single
tick from one state nothing is chaotic; a stop is met within a step, so that errors fall with the
step, if not by the order of the scheme. What they come to is not time stepping. Ticks that the
reference itself does not resolve, in which joints are thrown from stop to stop, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roboaccord.contract.results import Seconds
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.extrapolation import SAFETY
from roboaccord.crosscheck.runs import tightened
from roboaccord.crosscheck.ticks import Index, difference, groups, names, predicted, vector
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.ranking import descending, first_largest
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

SAMPLED = 40  # ticks
RESOLVED = 0.1  # of the change: own error of the reference up to which it knows a tick
HALVED = (2, 3, 4)  # times, the physics steps of the engine; the reference's once more
ROUND_OFF = 1e-12  # of a coordinate, relative to the largest


@dataclass(frozen=True)
class EventTicks:
    """Hold what is left of ticks at a physics step of 0, beside what time stepping explains.

    Of a tick that is a norm over all coordinates, positions divided by the control period.

    Args:
        count: number of ticks that were compared.
        excess: median over them of what is left over what is explained: above 1 there is more.
        quantity, where: what differs most, in the tick with the median, and its joint or link.
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
    """Compare some ticks of an engine's run with the reference's, at smaller and smaller steps.

    Returns:
        None where the reference resolves none of them.
    """
    steps = [setup.scenario.physics_step / 2**i for i in HALVED]
    few = ticks[np.unique(np.linspace(0, len(ticks) - 1, min(SAMPLED, len(ticks))).astype(int))]
    exact = _ends(make_simulator(tightened(setup), physics_step=steps[-1] / 2), run, few)
    own = exact - _ends(make_simulator(setup, physics_step=steps[-1]), run, few)
    size = np.ones(exact.shape[1])
    for placed in (0, 2, 3):  # positions of joints, position and orientation of the base
        size[groups(len(run.joints))[placed]] = 1.0 / setup.scenario.control_period
    known = norm(own * size) <= RESOLVED * norm(exact * size)
    if not known.any():
        return None
    chosen, own = few[known], own[known]
    errors = [
        _ends(make_simulator(setup, engine, physics_step=step), run, chosen) - exact[known]
        for step in steps
    ]
    left = 2.0 * errors[-1] - errors[-2]
    moved = sum(norm(np.diff(errors, axis=0)[i] * size) for i in range(2))
    scale = ROUND_OFF * norm(size * np.abs(vector(run)).max(axis=0)[None])
    excess = norm(left * size) / (SAFETY * (moved + norm(own * size)) + scale)
    middle = descending(-excess)[len(excess) // 2]
    quantity, where = names(run.joints)[first_largest(np.abs(left[middle] * size))]
    time = float(run.time[chosen[middle]])
    return EventTicks(len(chosen), float(excess[middle]), quantity, where, time)


def _ends(simulator: Simulator, run: Trajectory, ticks: Index) -> Array:
    """Return by how much ticks change the state (k, 2 n + 12)."""
    return difference(run.at(ticks), predicted(simulator, run, ticks)[0])


def norm(values: Array) -> Array:
    """Return the norm of each row."""
    return np.asarray(np.linalg.norm(values, axis=1))
