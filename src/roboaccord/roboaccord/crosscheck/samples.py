"""Runs of a chaotic motion over seeds, and the eigenvalues of its control loop.

Trajectories of a chaotic motion cannot be compared. Level `statistics` therefore compares medians
of a figure, such as the distance travelled, over many runs from different seeds, as `run_samples`
makes them for run.py. The eigenvalues of the sampled control loop (`linearise_loop`) show whether
efforts that stay constant over a control period (tick) make the joints oscillate between their
stops, where statistics decide nothing. PROBED_TICKS and PROBE_STEP may be tuned; seeds and figure
are set in the scenario.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract import Array, Controller, Engine, RobotState, Trajectory
from roboaccord.crosscheck.runs import Progress, twice_or_half
from roboaccord.crosscheck.special_ticks import eventful_ticks, stop_ticks
from roboaccord.numerics.newton import central_slope
from roboaccord.run.loop import make_simulator
from roboaccord.run.sweep import Cell, sweep
from roboaccord.scenario import Setup, make_controller
from roboaccord.scenario.scenario import StatisticsSpec
from roboaccord.simulators.base import Simulator

PROBED_TICKS = 5  # number of ticks at which the loop is linearised: odd, so that one is the median
PROBE_STEP = 1e-6  # step of a central difference [rad or rad/s], with a round-off error of 1e-10


@dataclass(frozen=True)
class Samples:
    """Runs of every engine over seeds, the reference's first.

    Args:
        cells: by engine.
        by_step: change of the median from twice the physics step to the step; where the control
            period does not allow that, twice the change from the step to half of it.
        loop: smallest real part of an eigenvalue of the sampled control loop, from
            `linearise_loop`; None where it is not known.
    """

    cells: Mapping[str, Cell]
    by_step: Mapping[str, float]
    loop: float | None = None


def run_samples(
    setup: Setup,
    spec: StatisticsSpec,
    engines: Sequence[Engine],
    run: Trajectory,
    progress: Progress,
) -> Samples:
    """Run every engine from `spec.seeds` seeds, at the scenario's physics step and another.

    Args:
        setup: robot and scenario.
        spec: figure, number of seeds and allowance, of the scenario.
        engines: to run.
        run: of the reference.
        progress: called as runs end.
    """
    scenario = setup.scenario
    steps = scenario.physics_step, twice_or_half(scenario.physics_step, scenario.control_period)

    def done(engine: str, step: float, _seed: int) -> None:
        progress.done(engine, step)

    cells = sweep(
        setup, figure=spec.figure, engines=engines, physics_steps=steps, seeds=spec.seeds, done=done
    )
    at_step, at_other_step = cells[::2], cells[1::2]
    ratio = steps[0] / (steps[1] - steps[0])  # Richardson, first order
    by_step = {
        cell.engine: ratio * (cell.statistics.median - other.statistics.median)
        for cell, other in zip(at_step, at_other_step, strict=True)
    }
    return Samples({cell.engine: cell for cell in at_step}, by_step, linearise_loop(setup, run))


def linearise_loop(setup: Setup, run: Trajectory) -> float | None:
    """Return the smallest real part of an eigenvalue of reference and controller together.

    The eigenvalues are those of the map of a tick, from joint angles and rates to those at its end;
    the result is the median over some ticks without an event. A motion in continuous time has no
    negative real eigenvalue. Below -1, efforts that stay constant over a tick make the joints
    oscillate with growing amplitude [Astrom and Wittenmark, Computer-Controlled Systems, 1997,
    2.4].

    Args:
        setup: robot and scenario.
        run: of the reference.

    Returns:
        None for a controller that cannot be copied.
    """
    period, simulator = setup.scenario.control_period, make_simulator(setup)
    free = np.flatnonzero(~(eventful_ticks(run, period) | stop_ticks(simulator, run)))
    even = np.linspace(0, len(free) - 1, PROBED_TICKS).astype(int)
    probed = free[even].tolist() if len(free) else [0]
    controller, eigenvalues = make_controller(setup), list[float]()
    controller.reset(setup.scenario.seed)
    # The controller follows the whole run; at probed ticks copies of it give the derivatives.
    for i in range(max(probed) + 1):
        state = run.state(i)
        if i in probed:
            try:
                probe = copy.deepcopy(controller)
            except (RuntimeError, TypeError):
                return None
            jacobian = tick_jacobian(simulator, probe, state, period)
            eigenvalues.append(float(np.linalg.eigvals(jacobian).real.min()))
        controller.update(state, None)
    return float(np.median(eigenvalues))


def tick_jacobian(
    simulator: Simulator, controller: Controller, state: RobotState, period: float
) -> Array:
    """Return the derivatives of angles and rates at the end of a tick by those at its start.

    Args:
        simulator: of the reference.
        controller: at the start; it is copied for each evaluation.
        state: at the start.
        period: of the tick [s].

    Returns:
        (2 n, 2 n), by central differences.
    """

    def end_of_tick(values: Array) -> Array:
        """Return angles and rates at the end of the tick (2 n,), from those at its start."""
        q, qd = np.split(values, 2)
        start = replace(state, q=q, qd=qd)
        simulator.reset(start)
        end = simulator.step(copy.deepcopy(controller).update(start, None), period)
        simulator.take_events()
        return np.concatenate([end.q, end.qd])

    return central_slope(end_of_tick, np.concatenate([state.q, state.qd]), PROBE_STEP)
