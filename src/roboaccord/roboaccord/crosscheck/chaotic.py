"""Level 3 of a chaotic motion: statistics over seeds, engine against reference."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from roboaccord.contract.interfaces import Controller, Engine
from roboaccord.contract.results import LEFT_OUT
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.runs import statistics_steps
from roboaccord.crosscheck.ticks import at_stops, left_out
from roboaccord.numerics.statistics import median_difference, share_probability
from roboaccord.run.factory import make_simulator
from roboaccord.run.metrics import UNITS
from roboaccord.run.sweep import Cell, sweep
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.scenario import StatisticsSpec
from roboaccord.scenario.setup import Setup

WHY = (
    "The motion is chaotic: trajectories part whatever the step, and impacts on stops end in "
    "different velocities wherever stops differ. So level 3 gives way to statistics over seeds."
)

# A difference must be known to this part of the reference's median: then most runs of an engine
# that passes go the same way, and at least half as far.
KNOWN = 0.5
PROBED = 5  # ticks at which the loop is linearised
NUDGE = 1e-6  # rad and rad/s


@dataclass(frozen=True)
class StatisticsCheck:
    """Hold the statistics of a figure over seeds in one engine, beside the reference's.

    Args:
        figure: its name.
        unit: of the figure.
        n, mean, median, deviation, half_width, positive: as in `Statistics`.
        difference: 95 % confidence interval of median - reference's (bootstrap); None for the
            reference itself, and where there are too few runs.
        share_probability: of shares above 0 at least as unlike by chance; None as above.
        by_step: change of the median from twice the physics step to the step, or twice that from
            the step to half of it where the control period allows no more.
        allowance: what the difference may be.
        unsettled: the precision of the difference, allowance and half the interval, where it is
            too poor to judge by; else 0.
        failures: by seed, why there is no value.
        diverged: whether one of them is a motion that left the finite numbers.
        loop: smallest real part of an eigenvalue of the sampled control loop, as of
            `linearise_loop`; None where it is not known.
    """

    figure: str
    unit: str
    n: int
    mean: float
    median: float
    deviation: float
    half_width: float
    positive: float
    difference: tuple[float, float] | None
    share_probability: float | None
    by_step: float | None
    allowance: float
    unsettled: float
    failures: dict[str, str]
    diverged: bool = field(default=False, metadata=LEFT_OUT)
    loop: float | None = None


def check_statistics(
    setup: Setup,
    spec: StatisticsSpec,
    engines: Sequence[Engine],
    run: Trajectory,
    done: Callable[[str, float, int], None],
) -> dict[str, StatisticsCheck]:
    """Run every engine from `spec.seeds` seeds, and compare each to the first, the reference.

    At the scenario's physics step, and at twice or half of it to see what the step does.

    Args:
        setup, spec, engines: what is compared, and by what.
        run: of the reference.
        done: called with each run that ends.
    """
    steps = statistics_steps(setup)
    cells = sweep(
        setup,
        figure=spec.figure,
        engines=engines,
        physics_steps=steps,
        seeds=spec.seeds,
        done=done,
    )
    own, others = cells[::2], cells[1::2]
    ratio = steps[0] / (steps[1] - steps[0])  # a scheme of first order
    by_step = {
        cell.engine: ratio * (cell.statistics.median - other.statistics.median)
        for cell, other in zip(own, others, strict=True)
    }
    loop = linearise_loop(setup, run)
    return {c.engine: replace(compare_cells(own[0], c, spec, by_step), loop=loop) for c in own}


def linearise_loop(setup: Setup, run: Trajectory) -> float | None:
    """Return the smallest real part of an eigenvalue of reference and controller together.

    Of the map of a control period, from joint angles and rates to those at its end, as the median
    of some ticks in which nothing happens. A motion in continuous time has no real eigenvalue below
    0: below -1 the efforts that are held over a period throw the joints to and fro [Astrom and
    Wittenmark, Computer-Controlled Systems, 1997, 2.4].

    Returns:
        None for a controller that cannot be copied.
    """
    period, simulator = setup.scenario.control_period, make_simulator(setup)
    free = np.flatnonzero(~(left_out(run, period) | at_stops(simulator, run)))
    chosen = free[np.linspace(0, len(free) - 1, PROBED).astype(int)].tolist() if len(free) else [0]
    controller, size, found = make_controller(setup), 2 * len(run.joints), list[float]()
    controller.reset(setup.scenario.seed)

    def tick(state: RobotState, own: Controller) -> Array:
        simulator.reset(state)
        end = simulator.step(own.update(state, None), period)
        simulator.take_events()
        return np.concatenate([end.q, end.qd])

    for i in range(max(chosen) + 1):
        state = run.state(i)
        if i in chosen:
            try:
                owns = [(copy.deepcopy(controller), copy.deepcopy(controller)) for _ in range(size)]
            except (RuntimeError, TypeError):
                return None
            slopes = [
                (tick(nudged(state, k, NUDGE), one) - tick(nudged(state, k, -NUDGE), two))
                / (2.0 * NUDGE)
                for k, (one, two) in enumerate(owns)
            ]
            found.append(float(np.linalg.eigvals(np.array(slopes).T).real.min()))
        controller.update(state, None)
    return float(np.median(found))


def nudged(state: RobotState, index: int, size: float) -> RobotState:
    """Return a state of which one joint's angle, or its rate after all angles, is changed."""
    values = np.concatenate([state.q, state.qd])
    values[index] += size
    q, qd = np.split(values, 2)
    return replace(state, q=q, qd=qd)


def compare_cells(
    reference: Cell, cell: Cell, spec: StatisticsSpec, by_step: Mapping[str, float]
) -> StatisticsCheck:
    """Compare the runs of one engine to the reference's.

    A scheme of first order, as all are through impacts, has at a step the error by which the
    figure moves from twice that step (Richardson). So medians may differ by what both move.
    """
    own, other = cell.statistics, reference.statistics
    moves = [abs(by_step.get(c.engine, 0.0)) for c in (cell, reference)]
    allowance = spec.allowance + sum(moves)
    difference, probability, unsettled = None, None, 0.0
    values, others = list(cell.values.values()), list(reference.values.values())
    if cell is not reference and min(own.n, other.n) > 1:
        low, high = difference = median_difference(values, others)
        probability = share_probability(values, others)
        precision = allowance + 0.5 * (high - low)
        unsettled = precision if precision > KNOWN * abs(other.median) else 0.0
    return StatisticsCheck(
        figure=spec.figure,
        unit=UNITS.get(spec.figure, ""),
        **asdict(own),
        difference=difference,
        share_probability=probability,
        by_step=by_step.get(cell.engine),
        allowance=allowance,
        unsettled=unsettled,
        failures={str(seed): reason for seed, reason in cell.failures.items()},
        diverged=cell.diverged,
    )
