"""Level `trajectory`: whole trajectories at dt, dt/2, dt/4, order of convergence and remainder.

SHORTEST and ORDER_FLOOR may be tuned: how long a motion before a kink must be, and how far above
the floor an error has an order. The numbers GRID_... are fixed by the grid convergence index
[Roache 1998; Eca and Hoekstra 2014; ASME V&V 20], the bound on the remainder by extrapolation.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Code, Finding, Outcome, Reason, because
from roboaccord.contract.results import LEFT_OUT, Quantity
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.extrapolation import (
    STEPS,
    coarse,
    few_steps,
    has_settled,
    observed_order,
    remainder_over_time,
)
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.levels.one_step import settling
from roboaccord.crosscheck.levels.scheme import ALONE, Beside, by_twin
from roboaccord.crosscheck.links import largest_distance, name_coordinate
from roboaccord.crosscheck.motion import CheckCase
from roboaccord.crosscheck.runs import REFERENCE, Job, Runs
from roboaccord.crosscheck.ticks import kinks
from roboaccord.description.tree import Tree
from roboaccord.scenario.scenario import Allowance, Tolerances, limit_of
from roboaccord.simulators.base import Simulator

ROUND_OFF = 1e-12  # of a coordinate, relative to the largest or to 1: sums of a few hundred terms
SHORTEST = 10  # samples before a kink that are judged
STOPS = ("joint_stop", "impact")  # which no scheme steps
GRID_SAFETY, GRID_UNSURE = 1.25, 3.0  # grid convergence index, with an order that fits or not
GRID_LEAST = 0.5  # order; no power law holds below it [Eca and Hoekstra 2014]
GRID_ORDER = 0.9  # of the scheme's, from which on it fits
ORDER_FLOOR = 10.0  # floors: an error below is not a pure power of the step


@dataclass(frozen=True)
class Floor:
    """Hold the floor of round-off and reference error (k, c), and as a distance (k,) [m].

    The reference's own error, and what the last bit of one start value makes.
    """

    coordinates: Array
    distance: Array


@dataclass(frozen=True)
class Uncertainty:
    """Hold comparison error and uncertainties at the scenario's physics step [ASME V&V 20].

    Args:
        comparison_error: largest distance of any link from the reference, E.
        numerical: what the physics step makes, by the grid convergence index: the difference of the
            runs at h and h/2, extrapolated, times 1.25 where the order is the scheme's, else times
            3 [Roache 1998].
        input: what parameters make; 0, for engine and reference read the same description, and
            `acceleration` compares what they made of it.
        data: error of the reference, and what round-off makes of both.
        order: that was observed, up to that of the scheme.
    """

    comparison_error: Annotated[float, Quantity("m", "comparison error E")]
    numerical: Annotated[float, Quantity("m", "numerical uncertainty")]
    input: Annotated[float, Quantity("m", "input uncertainty")]
    data: Annotated[float, Quantity("m", "data uncertainty")]
    order: Annotated[float, Quantity("1", "of convergence")]


NO_UNCERTAINTY = Uncertainty(np.nan, np.nan, np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class ConvergenceCheck:
    """Hold the largest distance of any link to the reference's, by physics step.

    Args:
        dt: physics steps.
        error: largest distance of the links' centres over the run, one for each dt.
        order: slope of log error over log dt, of errors well above the floor; None where fewer
            than two are left.
        expected_order: of the engine's integrator.
        floor: largest distance that round-off and the reference's own error make.
        settled: whether the order is one that smaller steps have, too, as far as the runs hit the
            same stops.
        asymptotic: whether what exceeds its bound does so in the asymptotic range.
        left: what is left at a step of 0, of the coordinate that exceeds its bound most.
        bound: of what time stepping and the floor explain of it.
        where: that coordinate.
        since: when it first exceeds its bound, or exceeds it most.
        time: (k,).
        distance: by dt, largest distance of any link at each time (k,).
        kink: when dry friction first turns round within few steps, or a stop is hit, after which
            no scheme keeps its order: from then on 1 is expected; None where there is none.
        before: what was found up to then; None where that is too short.
        range: of the reference's coordinate that changes most [m or rad]; 0 where nothing moves.
        uncertainty: at the largest step; None where there is one step only.
        engine: whose runs they are.
        movable: whether a joint or the base can move.
        beside: what other levels know.
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
    beside: Beside = field(default=ALONE, metadata=LEFT_OUT)

    @property
    def remainder(self) -> bool | None:
        """True if the remainder at a step of 0 is within its bound; None with too few steps."""
        return None if self.left is None or self.bound is None else self.left <= self.bound


@dataclass(frozen=True)
class Seeds:
    """Trajectories are not compared: the motion is chaotic, and statistics over seeds are."""


class TrajectoryLevel(Level["ConvergenceCheck | Seeds"]):
    """Judge by the order while errors exceed the floor, and by the remainder at a step of 0."""

    name = "trajectory"
    title = "Level 3: whole trajectories"
    of_reference = True
    substitute = "statistics"

    def measure(self, case: CheckCase) -> ConvergenceCheck | Seeds:
        if case.chaotic:
            return Seeds()
        tree, runs, name = case.setup.tree, case.runs, case.name
        floor = floor_of(tree, runs, name)
        if name != REFERENCE:
            heights = slice(2, 3 * len(tree.links), 3)
            floor.coordinates[:, heights] += settling(case.setup, case.engine)[-4]
        check = check_convergence(tree, runs, name, case.simulator, floor)
        movable = bool(case.setup.joints or case.setup.base.moves)
        return replace(check, engine=name, movable=movable, beside=Beside.of(case))

    def judge(self, check: ConvergenceCheck | Seeds, tolerances: Tolerances) -> Finding:
        if isinstance(check, Seeds):
            return replace(Finding.does_not_apply(because(Code.CHAOTIC)), stands_in=True)
        found = judge_runs(check, tolerances)
        twin, obeys, _ = check.beside
        alike = all(d[0] <= check.floor for d in check.distance.values())  # at their starts
        if twin and obeys and alike and tolerances.of(check.engine) is None:
            found = by_twin(found, twin)
        if found.outcome != Outcome.OUTSIDE and check.range <= check.floor:
            can = Code.NOTHING_MOVES if check.movable else Code.NOTHING_CAN_MOVE
            return Finding.not_judged(because(can))
        return found

    def rows(self, check: ConvergenceCheck | Seeds) -> Rows:
        if isinstance(check, Seeds):
            return {}
        below = check.order is None and max(check.error) <= check.floor
        order = Entry(str(because(Code.BELOW_ROUND_OFF)) if below else check.order, form=".2f")
        errors = zip(check.dt, check.error, strict=True)
        return {
            **{f"{1e3 * dt:g} ms": Entry(1e3 * error, "mm") for dt, error in errors},
            "order": order,
            "expected": Entry(check.expected_order),
            "left at 0": Entry(check.left, form=".2e"),
            "explained": Entry(check.bound, form=".2e"),
            "of": Entry(check.where),
            **{
                name.replace("_", " "): Entry(1e3 * size, "mm", ".2g")
                for name, size in vars(check.uncertainty or NO_UNCERTAINTY).items()
                if name != "order"
            },
        }


def floor_of(tree: Tree, runs: Runs, engine: str = REFERENCE) -> Floor:
    """Return the floor: the effect of the reference's own error, and of round-off in both.

    By the reference's run at twice the smallest step, and by one at that step from a start whose
    last bit is changed; by the engine's from such a start, where there is one.
    """
    truth, coarse = runs.truth, Job(REFERENCE, runs.steps[-1])
    pairs = [(coarse, truth), (replace(truth, bit=True), truth)]
    changed = Job(engine, runs.steps[0], bit=True)
    if changed in runs.found:
        pairs.append((changed, replace(changed, bit=False)))
    at, centres = partial(runs.coordinates, tree), partial(runs.centres, tree)
    apart = sum(np.abs(at(a) - at(b)) for a, b in pairs)
    scale = ROUND_OFF * np.maximum(np.abs(at(truth)).max(axis=0), 1.0)
    distance = sum(largest_distance(centres(a) - centres(b)) for a, b in pairs)
    return Floor(
        np.maximum.accumulate(apart, axis=0) + scale,
        np.maximum.accumulate(distance) + ROUND_OFF,
    )


def check_convergence(
    tree: Tree, runs: Runs, engine: str, simulator: Simulator, floor: Floor
) -> ConvergenceCheck:
    """Compare one engine's runs, by physics step, to a converged reference."""
    truth, own, order = runs.found[runs.truth], runs.of(engine), simulator.order
    jobs = [Job(engine, dt) for dt in runs.steps]  # from the largest step to the smallest
    target, centres = runs.coordinates(tree, runs.truth), runs.centres(tree, runs.truth)
    apart = [runs.coordinates(tree, job) - target for job in jobs]
    distance = {job.dt: largest_distance(runs.centres(tree, job) - centres) for job in jobs}
    check = partial(_check, tree, truth, target)
    stops = [
        stop.time for run in (truth, *own.values()) for stop in run.events if stop.kind in STOPS
    ]
    hit = np.isin(np.arange(len(truth) - 1), np.searchsorted(truth.time, stops) - 1)
    rough = np.flatnonzero(kinks(simulator, truth, runs.steps[-1]) | hit)
    whole = check(apart, distance, 1 if rough.size else order, floor)
    if rough.size:
        end, before = int(rough[0]) + 1, None
        if end > SHORTEST:
            start = Floor(floor.coordinates[:end], floor.distance[:end])
            early = [e[:end] for e in apart], {dt: d[:end] for dt, d in distance.items()}
            before = check(*early, order, start)
        whole = replace(whole, kink=float(truth.time[end - 1]), before=before)
        hits = [[e for e in own[dt].events if e.kind in STOPS] for dt in runs.steps[-STEPS:]]
        if len({tuple((e.kind, e.subject) for e in each) for each in hits}) > 1:
            # Runs that hit different stops are in no asymptotic range.
            whole = replace(whole, settled=False, asymptotic=False)
    if len(jobs) < 2:
        return whole
    moved = largest_distance(runs.centres(tree, jobs[0]) - runs.centres(tree, jobs[1]))
    return replace(whole, uncertainty=uncertainty_of(whole, float(moved.max())))


def _check(
    tree: Tree, truth: Trajectory, target: Array, apart: Sequence[Array],
    distances: Mapping[float, Array], expected_order: int, floor: Floor,
) -> ConvergenceCheck:  # fmt: skip
    """Check errors of runs from the largest step to the smallest, and distances by step."""
    steps, count = [*distances], len(apart[0])
    error = [float(values.max()) for values in distances.values()]
    largest = float(floor.distance.max())
    check = ConvergenceCheck(
        dt=steps,
        error=error,
        order=observed_order(steps[-STEPS:], error[-STEPS:], ORDER_FLOOR * largest),
        expected_order=expected_order,
        floor=largest,
        time=truth.time[:count],
        distance={f"{dt:g}": values for dt, values in distances.items()},
        range=float(np.ptp(target[:count], axis=0).max()),
    )
    if len(steps) < STEPS:
        return check
    left = remainder_over_time(apart, expected_order, floor.coordinates)
    return replace(
        check,
        left=left.size,
        bound=left.bound,
        where=name_coordinate(tree, truth.joints, left.coordinate),
        since=float(truth.time[left.sample]),
        settled=has_settled(apart, expected_order),
        asymptotic=left.asymptotic,
    )


def judge_runs(runs: ConvergenceCheck, tolerances: Tolerances) -> Finding:
    """Judge the runs of an engine by themselves."""
    limit = tolerances.of(runs.engine)
    if limit is not None and limit_of(limit) < runs.floor:
        return Finding.not_judged(
            because(Code.TOLERANCE_BELOW_NOISE, limit=limit_of(limit), floor=runs.floor)
        )
    if isinstance(limit, Allowance):
        if runs.error[0] <= limit.limit:
            return Finding.within(
                because(Code.ALLOWED, limit=limit.limit, unit="m", text=limit.reason)
            )
        return Finding.outside(_too_far(runs, limit.limit), size=runs.error[0])
    reason, sure = _off_course(tolerances, runs, limit)
    if runs.before and not reason:
        reason, sure = _off_course(tolerances, runs.before, None)
    if reason and not sure:
        return coarse(runs.dt[-1], reason, smaller=runs.kink is None)  # over kinks none settles
    if reason:
        found = Finding.outside(reason, where=runs.where, size=runs.left)
        return replace(found, unexplained=runs.beside.unexplained)
    if max(runs.error) <= runs.floor:
        return Finding.within(because(Code.BELOW_ROUND_OFF))
    return Finding.not_judged(few_steps()) if runs.remainder is None else Finding.within()


def _off_course(
    tolerances: Tolerances, runs: ConvergenceCheck, limit: float | None
) -> tuple[Reason | None, bool]:
    """Return why time stepping does not explain the trajectory errors, and if that is sure.

    No order is asked of an error that falls to the floor.
    """
    if limit is not None and runs.error[0] > limit:
        return _too_far(runs, limit), True
    expected = runs.expected_order
    least = (1.0 - tolerances.order) * expected
    slow = None
    if runs.order is not None and runs.order < least and runs.error[-1] > runs.floor:
        figures = {"order": runs.order, "expected": expected, "least": least}
        slow = because(Code.RUN_ORDER, **figures, error=runs.error[-1], step=runs.dt[-1])
    if slow and runs.settled:
        return slow, True
    if runs.remainder is False:
        size = {"left": runs.left, "bound": runs.bound}
        return because(Code.RUN_REMAINDER, where=runs.where, **size), runs.asymptotic
    return slow, not slow


def _too_far(runs: ConvergenceCheck, limit: float) -> Reason:
    return because(Code.TOO_FAR, error=runs.error[0], step=runs.dt[0], limit=limit)


def uncertainty_of(check: ConvergenceCheck, apart: float) -> Uncertainty:
    """Return comparison error and uncertainties.

    Args:
        check: of the engine.
        apart: largest distance of any link between the runs at the two largest steps [m].
    """
    order = min(check.order or check.expected_order, check.expected_order)
    near = order >= GRID_ORDER * check.expected_order
    power = 2.0 ** max(order, GRID_LEAST)
    factor = (GRID_SAFETY if near else GRID_UNSURE) * power / (power - 1.0)
    return Uncertainty(check.error[0], factor * apart, 0.0, check.floor, order)
