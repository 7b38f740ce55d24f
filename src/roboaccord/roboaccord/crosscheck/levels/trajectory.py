"""Level `trajectory`: whole trajectories at steps dt, dt/2 and dt/4 against the reference's.

Engine and reference (the analytical model) simulate the same scenario. The distance of the engine's
links from the reference's must fall with the physics step dt as dt^p, where p is the order of the
engine's integration scheme, while it exceeds the floor (round-off and the reference's own error);
and the distance that remains at a step of 0 must be within its bound. Trajectories of a chaotic
motion are not compared; level `statistics` stands in.

Runs are compared in measures/convergence.py and judged here; the bound is set in extrapolation.py,
and tolerances in the scenario.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from roboaccord.contract.outcome import Code, Finding, Outcome, Reason, because
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.extrapolation import coarse_steps, few_steps
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.level_context import LevelContext, judge_by_twin
from roboaccord.crosscheck.measures import convergence
from roboaccord.crosscheck.measures.convergence import ConvergenceCheck
from roboaccord.crosscheck.measures.predictions import HEIGHT_COLUMN, lift_at_start
from roboaccord.engines import REFERENCE
from roboaccord.scenario.scenario import Allowance, Tolerances, limit_of


@dataclass(frozen=True)
class Seeds:
    """Result for a chaotic motion: statistics over seeds are compared in place of trajectories."""


class TrajectoryLevel(Level["ConvergenceCheck | Seeds"]):
    """Judge by the order while errors exceed the floor, and by the remainder at a step of 0."""

    name = "trajectory"
    title = "Level 3: whole trajectories"
    of_reference = True
    substitute = "statistics"

    def measure(self, case: CheckCase) -> ConvergenceCheck | Seeds:
        """Compare runs at all physics steps with the reference; of a chaotic motion nothing."""
        if case.chaotic:
            return Seeds()
        tree, runs, name = case.setup.tree, case.runs, case.name
        floor = convergence.floor_of(tree, runs, name, case.simulator.rounding)
        if name != REFERENCE:
            # Contacts of an engine may lift the robot at its start, which is no error. Coordinates
            # (links.py) begin with x, y and z of each link: every third, from the third on, is z.
            heights = slice(2, 3 * len(tree.links), 3)
            floor.coordinates[:, heights] += lift_at_start(case.setup, case.engine)[HEIGHT_COLUMN]
        bodies = case.setup.body_names
        check = convergence.check_convergence(tree, runs, name, case.simulator, floor, bodies)
        movable = bool(case.setup.joints or case.setup.base.moves)
        return replace(check, engine=name, movable=movable, context=LevelContext.of(case))

    def judge(self, check: ConvergenceCheck | Seeds, tolerances: Tolerances) -> Finding:
        """Return the outcome by order and remainder; a twin of the same start may replace it."""
        if isinstance(check, Seeds):
            return replace(Finding.does_not_apply(because(Code.CHAOTIC)), stands_in=True)
        finding = judge_runs(check, tolerances)
        # The twin explains runs from the same initial state, unless the scenario sets a tolerance.
        twin, follows_commands, _ = check.context
        same_start = all(distance[0] <= check.floor for distance in check.distance.values())
        if twin and follows_commands and same_start and tolerances.of(check.engine) is None:
            finding = judge_by_twin(finding, twin)
        if finding.outcome != Outcome.OUTSIDE and check.range <= check.floor:
            code = Code.NOTHING_MOVES if check.movable else Code.NOTHING_CAN_MOVE
            return Finding.not_judged(because(code))
        return finding

    def rows(self, check: ConvergenceCheck | Seeds) -> Rows:
        """Return the error by physics step, the order, the remainder and the uncertainties."""
        if isinstance(check, Seeds):
            return {}
        is_below = check.order is None and max(check.error) <= check.floor
        order = Entry(str(because(Code.BELOW_ROUND_OFF)) if is_below else check.order, form=".2f")
        errors = zip(check.dt, check.error, strict=True)
        return {
            **{f"{1e3 * dt:g} ms": Entry(1e3 * error, "mm") for dt, error in errors},
            "order": order,
            "expected": Entry(check.expected_order),
            "left at 0": Entry(check.left, "m or rad", ".2e"),
            "explained": Entry(check.bound, "m or rad", ".2e"),
            "of": Entry(check.where),
            **{
                name.replace("_", " "): Entry(1e3 * size, "mm", ".2g")
                for name, size in vars(check.uncertainty or convergence.NO_UNCERTAINTY).items()
                if name != "order"
            },
        }


def judge_runs(runs: ConvergenceCheck, tolerances: Tolerances) -> Finding:
    """Judge the runs of an engine by themselves, without the checks of other levels.

    `runs.remainder` is True within its bound, False beyond it, and None with too few physics steps.
    """
    limit = tolerances.of(runs.engine)
    if limit is not None and limit_of(limit) < runs.floor:
        why = because(Code.TOLERANCE_BELOW_NOISE, limit=limit_of(limit), floor=runs.floor)
        return Finding.not_judged(why)
    if isinstance(limit, Allowance):
        if runs.error[0] <= limit.limit:
            why = because(Code.ALLOWED, limit=limit.limit, unit="m", text=limit.reason)
            return Finding.within(why)
        return Finding.outside(_too_far(runs, limit.limit), size=runs.error[0])
    # Judge the whole runs, then those up to the first kink, which must show the full order.
    reason, certain = _why_unexplained(tolerances, runs, limit)
    if runs.before and not reason:
        reason, certain = _why_unexplained(tolerances, runs.before, None)
    if reason and not certain:
        # A kink stays at any step.
        return coarse_steps(runs.dt[-1], reason, smaller=runs.kink is None)
    if reason:
        finding = Finding.outside(reason, where=runs.where, size=runs.left)
        return replace(finding, unexplained=runs.context.unexplained)
    if max(runs.error) <= runs.floor:
        return Finding.within(because(Code.BELOW_ROUND_OFF))
    return Finding.not_judged(few_steps()) if runs.remainder is None else Finding.within()


def _why_unexplained(
    tolerances: Tolerances, runs: ConvergenceCheck, limit: float | None
) -> tuple[Reason | None, bool]:
    """Return why time stepping does not explain the errors, and whether that is certain.

    The reason is None if it explains them. No order is required of an error at the floor.

    Args:
        tolerances: of the scenario.
        runs: whole runs, or runs up to the first kink.
        limit: largest allowed distance of a link at the largest step [m]; None for no such limit.

    Returns:
        the reason, and whether smaller steps would show the same.
    """
    if limit is not None and runs.error[0] > limit:
        return _too_far(runs, limit), True
    expected = runs.expected_order
    least = (1.0 - tolerances.order) * expected
    # Errors above the floor that fall with too low an order.
    low_order = None
    if runs.order is not None and runs.order < least and runs.error[-1] > runs.floor:
        figures = {"order": runs.order, "expected": expected, "least": least}
        low_order = because(Code.RUN_ORDER, **figures, error=runs.error[-1], step=runs.dt[-1])
    # A low order is certain if smaller steps would show the same; then the remainder decides.
    if low_order and runs.settled:
        return low_order, True
    if runs.remainder is False:
        size = {"left": runs.left, "bound": runs.bound}
        return because(Code.RUN_REMAINDER, where=runs.where, **size), runs.asymptotic
    return low_order, not low_order


def _too_far(runs: ConvergenceCheck, limit: float) -> Reason:
    """Return the reason that a link is farther from the reference's than a limit [m]."""
    return because(Code.TOO_FAR, error=runs.error[0], step=runs.dt[0], limit=limit)
