"""Level 2 of a chaotic motion: one step from its recorded states, where nothing happens.

Two runs of it part, so errors at two physics steps are not of the same states. The engine therefore
starts again from the recorded states at each step. Ticks with an event, or with a joint at its stop
are left out: there the engine's own law acts, and statistics compare what comes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.one_step import (
    OneStepCheck,
    Predictions,
    check_one_step,
    check_orders,
    check_steps,
    measure_floor,
    predict,
    settling,
)
from roboaccord.crosscheck.restarts import engines_of, go, no_restart
from roboaccord.crosscheck.runs import tightened
from roboaccord.crosscheck.ticks import at_stops, difference, kinks, left_out
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup

SAMPLED = 200  # ticks
FEWEST = 5  # from which a root mean square can be judged


def check_free_steps(
    setup: Setup, engine: EngineSpec, order: int, runs: Mapping[float, Trajectory]
) -> OneStepCheck | None:
    """Check one engine's run of a chaotic motion step by step; None where too few ticks are free.

    Of an engine that cannot start again from the states of a run, its own runs are compared.
    """
    run, simulators = runs[max(runs)], engines_of(setup, engine)
    if no_restart(simulators[0]):
        return check_steps(setup, engine, order, runs)
    fine = simulators[-1].physics_step
    rough = left_out(run, setup.scenario.control_period) | at_stops(simulators[0], run)
    free = np.flatnonzero(~(rough | kinks(simulators[0], run, fine)))
    free = free[np.unique(np.linspace(0, len(free) - 1, min(SAMPLED, len(free))).astype(int))]
    again = [[go(s, run, i, i + 1).run for i in free.tolist()] for s in simulators]
    kept = [
        not any(way.events or at_stops(simulators[0], way).any() for way in ways)
        for ways in zip(*again, strict=True)
    ]
    free, again = free[kept], [[w for w, k in zip(ways, kept, strict=True) if k] for ways in again]
    if len(free) < FEWEST:
        return None
    reference = make_simulator(tightened(setup), physics_step=fine)
    found = predict(reference, run, free)
    floor = measure_floor(make_simulator(setup, physics_step=2 * fine), run, found, free)
    floor = floor + settling(setup, engine)
    n = len(run.joints)
    by_step = {}
    for simulator, ways in zip(simulators, again, strict=True):
        moved = [difference(a.state(1), b.state(1)) for a, b in zip(again[0], ways, strict=True)]
        shift = np.array(moved)
        by_step[simulator.physics_step] = Predictions(
            found.errors - np.column_stack([shift[:, n : 2 * n], shift[:, -6:]]),
            found.change,
            found.pose - shift[:, -12:-6],
            found.base,
        )
    largest = check_one_step(run, found, free)
    own = order if setup.contact is None else 1
    smooth = np.ones(len(free), dtype=bool)
    checked = check_orders(largest, by_step, run.joints, order, floor, smooth)
    return replace(checked, expected_order=own)
