"""Level 3 of a chaotic motion: statistics over seeds; and the growth of round-off in any motion.

KNOWN, PROBED and PROBE may be tuned: when too few seeds leave a verdict open, and how the loop is
linearised. HORIZON is stated in docs/validation.md and stays; so do the fields of `Noise` and
`StatisticsCheck`, keys of `--json`. Seeds, figure and allowance are set in the scenario. test_noise
tests floor, rate and horizon by an exponential and by Lyapunov rates along runs.

Every simulator runs the scenario again from the same start, from a start of which one value has its
last bit changed, and from one with that value changed by 1e-9. With d(t) the largest distance of
any link between two runs so far, the floor is d(T) of the first two at the end T, the horizon the
time at which it comes to 1 mm, and

    rate = ln(d(t) / d(0)) / t

of the third, where t is T, or the time at which d comes to 1 mm if that is before: the finite-time
Lyapunov rate along the motion [Benettin et al. 1980], free of the round-off of the steps.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Controller, Engine
from roboaccord.contract.results import LEFT_OUT, Quantity
from roboaccord.contract.state import Array, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.convergence import largest_distance, link_centres
from roboaccord.crosscheck.runs import NOISE, NUDGE, Job, Runs, statistics_steps
from roboaccord.crosscheck.ticks import at_stops, left_out
from roboaccord.description.tree import Tree
from roboaccord.numerics.statistics import Statistics, median_difference, share_probability
from roboaccord.run.loop import make_simulator
from roboaccord.run.metrics import UNITS
from roboaccord.run.sweep import Cell, sweep
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.scenario import StatisticsSpec, Tolerances, limit_of
from roboaccord.scenario.setup import Setup

WHY = (
    "The motion is chaotic: trajectories diverge at any physics step, and impacts on stops end in "
    "different velocities wherever stops differ. So level 3 is replaced by statistics over seeds."
)

# A difference must be known to this part of the reference's median: then most runs of an engine
# that passes go in the same direction, and at least half as far.
KNOWN = 0.5
PROBED = 5  # ticks at which the loop is linearised
PROBE = 1e-6  # rad and rad/s
HORIZON = 1e-3  # m


@dataclass(frozen=True, kw_only=True)
class StatisticsCheck(Statistics):
    """Hold the statistics of a figure over seeds in one engine, beside the reference's.

    Args:
        figure: its name.
        unit: of the figure.
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
                (tick(nudged(state, k, PROBE), one) - tick(nudged(state, k, -PROBE), two))
                / (2.0 * PROBE)
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


@dataclass(frozen=True)
class Noise:
    """Hold what round-off makes of a motion.

    Args:
        floor: largest distance of any link from itself in a run with other round-off.
        rate: mean slope of the logarithm of a small distance; None where there is none.
        horizon: when the floor comes to 1 mm; None where it does not within the run.
    """

    floor: Annotated[float, Quantity("m", "distance that round-off grows to", "", ".1g", "mm")]
    rate: Annotated[float | None, Quantity("1/s", "at which small distances grow")]
    horizon: Annotated[float | None, Quantity("s", "when the floor comes to 1 mm", form=".3g")]


def measure_all(tree: Tree, runs: Runs, names: Sequence[str]) -> dict[str, Noise]:
    """Return the noise of each simulator at the scenario's physics step."""
    found, dt = runs.found, runs.steps[0]
    return {
        name: measure_noise(
            tree, runs.shown(name), *(found[Job(name, dt, **{how: True})] for how in NOISE)
        )
        for name in names
    }


def measure_noise(
    tree: Tree, run: Trajectory, again: Trajectory, bit: Trajectory, nudged: Trajectory
) -> Noise:
    """Compare a run with its repetition, and with those from starts that are changed."""
    centres = link_centres(tree, run)
    repeated, changed, apart = (
        np.maximum.accumulate(largest_distance(link_centres(tree, other) - centres))
        for other in (again, bit, nudged)
    )
    noise = np.maximum(repeated, changed)
    horizon, end = _horizon(noise), _horizon(apart)
    last = len(apart) - 1 if end is None else end
    elapsed = float(run.time[last] - run.time[0])
    start = max(apart[0], NUDGE * HORIZON)  # a lever is 1 mm at least
    diverges = elapsed > 0.0 and apart[last] >= start
    return Noise(
        floor=float(noise[-1]),
        rate=float(np.log(apart[last] / start) / elapsed) if diverges else None,
        horizon=None if horizon is None else float(run.time[horizon]),
    )


def _horizon(distance: Array) -> int | None:
    past = np.flatnonzero(distance >= HORIZON)
    return int(past[0]) if past.size else None


def refuse_tolerances(tolerances: Tolerances, noise: Mapping[str, Noise], least: float) -> None:
    """Refuse tolerances of trajectories that noise would exceed.

    Args:
        tolerances: of the scenario.
        noise: by engine.
        least: floor of the reference with which they are compared [m].

    Raises:
        AccordError: naming the key and the floor.
    """
    for engine in noise:
        limit, floor = tolerances.of(engine), max(noise[engine].floor, least)
        if limit is not None and limit_of(limit) < floor:
            raise AccordError(
                f"crosscheck.tolerances.trajectory.{engine}: {limit_of(limit):g} m is below the "
                f"noise floor of {floor:.2g} m"
            )


def sensitive(noise: Mapping[str, Noise]) -> list[str]:
    """Return in words until when runs of a sensitive motion can agree, by engine."""
    return [
        f"{engine}: agree until t = {found.horizon:.4g} s: by then a change in the last bit of an "
        "initial value has grown to 1 mm"
        for engine, found in noise.items()
        if found.horizon is not None
    ]
