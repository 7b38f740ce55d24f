"""Distance of an engine's runs from a converged reference, at physics steps h, h/2 and h/4.

Level `trajectory` calls `check_convergence` and judges its result. The reference is the analytical
model, run at a step so small (with a tolerance so tight) that its own error is far below an
engine's. The distance of the links must fall with the order of the engine's scheme; its remainder
at a step of 0 is found in extrapolation.py. Where dry friction reverses or a stop is hit (a kink),
no scheme keeps its order, so the runs up to the first kink are checked by themselves, too. The
uncertainty by the physics step is the grid convergence index [Roache 1998; Oberkampf and Roy 2010;
ASME V&V 20], whose constants are GRID_... MIN_SAMPLES and ORDER_FLOOR may be tuned. Names of
`ConvergenceCheck` are keys of summary.json and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

import numpy as np

from roboaccord.contract import LEFT_OUT, Array, Quantity, Trajectory
from roboaccord.crosscheck import extrapolation, round_off
from roboaccord.crosscheck.extrapolation import STEPS
from roboaccord.crosscheck.level_context import NO_CONTEXT, LevelContext
from roboaccord.crosscheck.links import largest_distance, name_coordinate
from roboaccord.crosscheck.runs import Job, Runs
from roboaccord.crosscheck.special_ticks import kink_ticks
from roboaccord.crosscheck.ticks import Index
from roboaccord.description.tree import Tree
from roboaccord.engines import REFERENCE
from roboaccord.engines.twin_rounding import ROUNDING
from roboaccord.simulators.base import Simulator

# Number of samples up to a kink that are too few to be judged: 10 ms at 1 kHz, hardly a motion.
MIN_SAMPLES = 10
STOP_KINDS = ("joint_stop", "impact")  # kinds of events that no scheme steps with its order
# Smallest error over the floor by which an order is measured. The floor is mostly the reference's
# own error, alike at all steps: with errors of 19 and 10 floors an order of 1 is log2(1.9) = 0.93,
# within tolerances.order.
ORDER_FLOOR = 10.0
# Safety factors of the grid convergence index: if the order is the scheme's, and if not [Roache
# 1998].
GRID_SAFETY, GRID_SAFETY_UNSURE = 1.25, 3.0
# Smallest order, below which no power law holds [Oberkampf and Roy 2010, chapter 8; Eca and
# Hoekstra 2014].
GRID_MIN_ORDER = 0.5
# Share of the scheme's order from which on an order counts as the scheme's [the former].
GRID_ORDER_SHARE = 0.9


@dataclass(frozen=True)
class Uncertainty:
    """Comparison error and uncertainties at the scenario's physics step [ASME V&V 20].

    Args:
        comparison_error: largest distance of any link from the reference, E.
        numerical: effect of the physics step, by the grid convergence index: the extrapolated
            difference of the runs at h and h/2, times 1.25 where the order is the scheme's, else
            times 3.
        input: effect of parameters; 0, since engine and reference read the same description and
            level `acceleration` compares their models.
        data: error of the reference, and effect of round-off on both.
        order: observed order, at most the scheme's.
    """

    comparison_error: Annotated[float, Quantity("m", "comparison error E")]
    numerical: Annotated[float, Quantity("m", "numerical uncertainty")]
    input: Annotated[float, Quantity("m", "input uncertainty")]
    data: Annotated[float, Quantity("m", "data uncertainty")]
    order: Annotated[float, Quantity("1", "of convergence")]


NO_UNCERTAINTY = Uncertainty(np.nan, np.nan, np.nan, np.nan, np.nan)


def uncertainty_of(
    error: float, floor: float, change: float, order: float | None, expected_order: int
) -> Uncertainty:
    """Return comparison error and uncertainties.

    The grid convergence index is F d 2^p / (2^p - 1), with the difference d of the runs at h and
    h/2, the order p and a safety factor F [Roache 1998].

    Args:
        error: largest distance of any link from the reference, at the largest step [m].
        floor: error of the reference, and round-off [m].
        change: largest distance of any link between the runs at the two largest steps [m].
        order: observed order; None where the errors show none.
        expected_order: of the engine's integrator.
    """
    order = min(order or expected_order, expected_order)
    is_expected = order >= GRID_ORDER_SHARE * expected_order
    power = 2.0 ** max(order, GRID_MIN_ORDER)
    factor = (GRID_SAFETY if is_expected else GRID_SAFETY_UNSURE) * power / (power - 1.0)
    return Uncertainty(error, factor * change, 0.0, floor, order)


@dataclass(frozen=True)
class Floor:
    """Distance that is not due to the engine: the reference's own error, and round-off.

    Args:
        coordinates: of each coordinate (k, c).
        distance: largest of any link (k,) [m].
    """

    coordinates: Array
    distance: Array


@dataclass(frozen=True)
class ConvergenceCheck:
    """Largest distance of any link from the reference's, by physics step.

    Args:
        dt: physics steps [s].
        error: largest distance of the links' centres over the run, one for each dt [m].
        order: slope of log error over log dt, of errors well above the floor; None where there are
            fewer than two.
        expected_order: of the engine's integrator.
        floor: largest distance due to round-off and the reference's own error [m].
        settled: whether smaller steps would show the same order; False where the runs hit
            different stops.
        asymptotic: whether an excess over the bound is in the asymptotic range.
        left: remainder at a step of 0, of the coordinate that exceeds its bound most.
        bound: on the remainder, by time stepping and the floor.
        where: name of that coordinate.
        since: when it first exceeds its bound, or comes closest to it [s].
        time: of the samples (k,) [s].
        distance: largest distance of any link at each time (k,) [m], by dt as text.
        kink: when dry friction first reverses within few steps, or a stop is hit [s], after which
            no scheme keeps its order and 1 is expected; None where there is none.
        before: the same check up to the kink; None where that is too short.
        range: of the reference's coordinate that changes most [m or rad]; 0 where nothing moves.
        uncertainty: at the largest step; None with one step.
        engine: whose runs they are.
        movable: whether a joint or the base can move.
        context: checks of other levels on which the judgement depends.
    """

    dt: Annotated[list[float], Quantity("s", "physics step")]
    error: Annotated[list[float], Quantity("m", "largest distance of a link", "", ".2g", "mm")]
    order: Annotated[float | None, Quantity("1", "of convergence", form=".2f")]
    expected_order: int
    floor: Annotated[float, Quantity("m", "floor of the reference")]
    time: Annotated[Array, Quantity("s", "time")]
    distance: Annotated[dict[str, Array], Quantity("m", "largest distance of a link")]
    range: float
    left: float | None = None
    bound: float | None = None
    where: str = ""
    since: Annotated[float | None, Quantity("s", "when it exceeds its bound")] = None
    kink: Annotated[float | None, Quantity("s", "first kink of dry friction, or stop")] = None
    before: ConvergenceCheck | None = field(default=None, metadata=LEFT_OUT)
    uncertainty: Uncertainty | None = None
    settled: bool = True
    asymptotic: bool = True
    engine: str = field(default="", metadata=LEFT_OUT)
    movable: bool = field(default=True, metadata=LEFT_OUT)
    context: LevelContext = field(default=NO_CONTEXT, metadata=LEFT_OUT)

    @property
    def remainder(self) -> bool | None:
        """True if the remainder at a step of 0 is within its bound; None with too few steps."""
        return None if self.left is None or self.bound is None else self.left <= self.bound


def floor_of(tree: Tree, runs: Runs, engine: str = REFERENCE, rounding: float = ROUNDING) -> Floor:
    """Return the floor: the reference's own error, and round-off in reference and engine.

    Measured by the reference's run at twice its step, by its run from a start whose last bit is
    changed, and by the engine's run from such a start, where there is one.
    """
    truth, coarse = runs.truth, Job(REFERENCE, runs.steps[-1])
    pairs = [(coarse, truth), (replace(truth, last_bit=True), truth)]
    changed = Job(engine, runs.steps[0], last_bit=True)
    if changed in runs.by_job:
        pairs.append((changed, replace(changed, last_bit=False)))
    errors = sum(np.abs(runs.coordinates(tree, a) - runs.coordinates(tree, b)) for a, b in pairs)
    relative = round_off.of_coordinates(rounding)
    scale = relative * np.maximum(np.abs(runs.coordinates(tree, truth)).max(axis=0), 1.0)
    distance = sum(
        largest_distance(runs.centres(tree, a) - runs.centres(tree, b)) for a, b in pairs
    )
    distance = np.maximum.accumulate(distance) + relative
    return Floor(np.maximum.accumulate(errors, axis=0) + scale, distance)


def check_convergence(
    tree: Tree,
    runs: Runs,
    engine: str,
    simulator: Simulator,
    floor: Floor,
    bodies: Sequence[str] = (),
) -> ConvergenceCheck:
    """Compare one engine's runs at all physics steps with a converged reference.

    Args:
        tree: of the robot.
        runs: of engine and reference.
        engine: name.
        simulator: of the engine.
        floor: distance that is not due to the engine.
        bodies: names of the free bodies.
    """
    truth, by_step = runs.by_job[runs.truth], runs.of(engine)
    jobs = [Job(engine, dt) for dt in runs.steps]  # from the largest step to the smallest
    target, centres = runs.coordinates(tree, runs.truth), runs.centres(tree, runs.truth)
    errors = [runs.coordinates(tree, job) - target for job in jobs]
    distance = {job.dt: largest_distance(runs.centres(tree, job) - centres) for job in jobs}
    kinked = _kinked_ticks(simulator, truth, [*by_step.values()], runs.steps[-1])
    expected_order = 1 if kinked.size else simulator.order
    name = partial(name_coordinate, tree, truth.joints, bodies=bodies)
    whole = _check_errors(name, truth, target, errors, distance, expected_order, floor)
    if kinked.size:
        # The same check up to the first kink, where the scheme must have its order.
        end = int(kinked[0]) + 1  # number of samples
        before = None
        if end > MIN_SAMPLES:
            start = Floor(floor.coordinates[:end], floor.distance[:end])
            early = [error[:end] for error in errors]
            distances = {dt: values[:end] for dt, values in distance.items()}
            before = _check_errors(name, truth, target, early, distances, simulator.order, start)
        whole = replace(whole, kink=float(truth.time[end - 1]), before=before)
        if _hit_different_stops([by_step[dt] for dt in runs.steps[-STEPS:]]):
            # Such runs are not in the asymptotic range.
            whole = replace(whole, settled=False, asymptotic=False)
    if len(jobs) < 2:
        return whole
    change = largest_distance(runs.centres(tree, jobs[0]) - runs.centres(tree, jobs[1]))
    orders = whole.order, whole.expected_order
    uncertainty = uncertainty_of(whole.error[0], whole.floor, float(change.max()), *orders)
    return replace(whole, uncertainty=uncertainty)


def _kinked_ticks(
    simulator: Simulator, truth: Trajectory, runs: Sequence[Trajectory], step: float
) -> Index:
    """Return the ticks in which a stop is hit in any run, or dry friction reverses in the truth.

    Args:
        simulator: of the engine, with the friction of its models.
        truth: run of the converged reference.
        runs: of the engine.
        step: the smallest physics step [s].
    """
    stops = [e.time for run in (truth, *runs) for e in run.events if e.kind in STOP_KINDS]
    is_hit = np.isin(np.arange(len(truth) - 1), np.searchsorted(truth.time, stops) - 1)
    return np.flatnonzero(kink_ticks(simulator, truth, step) | is_hit)


def _hit_different_stops(runs: Sequence[Trajectory]) -> bool:
    """Return whether not all runs hit the same stops in the same order."""
    stops = [tuple((e.kind, e.subject) for e in run.events if e.kind in STOP_KINDS) for run in runs]
    return len({*stops}) > 1


def _check_errors(
    name: Callable[[int], str],
    truth: Trajectory,
    target: Array,
    errors: Sequence[Array],
    distances: Mapping[float, Array],
    expected_order: int,
    floor: Floor,
) -> ConvergenceCheck:
    """Check the errors of an engine's runs, over the whole run or up to a kink.

    Args:
        name: returns the name of a coordinate.
        truth: run of the converged reference, of at least k samples.
        target: its coordinates, of at least k samples (..., c).
        errors: of the runs, from the largest step to the smallest (k, c).
        distances: largest distance of any link (k,) [m], by step in the same order.
        expected_order: of the errors.
        floor: distance that is not due to the engine.
    """
    steps, count = [*distances], len(errors[0])
    error = [float(values.max()) for values in distances.values()]
    largest = float(floor.distance.max())
    check = ConvergenceCheck(
        dt=steps,
        error=error,
        order=extrapolation.observed_order(steps[-STEPS:], error[-STEPS:], ORDER_FLOOR * largest),
        expected_order=expected_order,
        floor=largest,
        time=truth.time[:count],
        distance={f"{dt:g}": values for dt, values in distances.items()},
        range=float(np.ptp(target[:count], axis=0).max()),
    )
    if len(steps) < STEPS:
        return check
    remainder = extrapolation.remainder_over_time(errors, expected_order, floor.coordinates)
    where = name(remainder.coordinate)
    since = float(truth.time[remainder.sample])
    check = replace(check, left=remainder.size, bound=remainder.bound, where=where, since=since)
    settled = extrapolation.has_settled(errors, expected_order)
    return replace(check, settled=settled, asymptotic=remainder.asymptotic)
