"""Judgement of each level: within, outside or not judged, with the reason.

Texts may be reworded. BLIND, SLOW and FEWEST may be tuned: they decide when a level is not judged.
What a level may be off by is set in the scenario (`Tolerances`), not here. To judge another level,
add its check to `EngineChecks` and its finding to `judge`. Which outcome follows from which figures
is fixed by test_outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from roboaccord.contract.outcome import BELOW, Finding, Level, outside, stand_in, unless_few
from roboaccord.crosscheck.causes.explain import Explanation
from roboaccord.crosscheck.causes.words import text_of
from roboaccord.crosscheck.chaotic import StatisticsCheck
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.drive import DriveCheck, judge_drive
from roboaccord.crosscheck.energy import NoBook
from roboaccord.crosscheck.energy_check import EnergyCheck, judge_energy
from roboaccord.crosscheck.events import EventsCheck, judge_events
from roboaccord.crosscheck.extrapolation import STEPS
from roboaccord.crosscheck.invariance import InvarianceCheck, judge_invariance
from roboaccord.crosscheck.models import AccelerationCheck, ModelCheck
from roboaccord.crosscheck.one_step import OneStepCheck
from roboaccord.crosscheck.runs import RepeatCheck, judge_repeat
from roboaccord.crosscheck.scheme import NoTwin, SchemeCheck, is_twin, judge_scheme
from roboaccord.numerics.statistics import CONFIDENCE
from roboaccord.scenario.scenario import Allowance, Tolerances, limit_of

FEW = f"{STEPS} physics steps are needed for a verdict: --refine {STEPS}"
STILL = "nothing moves: give it rates at the start, such as --set initial.qd.JOINT=0.5, or efforts"
BLIND = 0.1  # of the change: a reference that errs by more does not decide
TWIN = "each tick matches our equations under the engine's own scheme (level scheme)"
THROWN = "each tick without an event matches the twin; the reference does not resolve the others"
BUT_STOPS = (
    "each of {} ticks matches our equations under the engine's own scheme (level scheme), and in "
    "{} of {} others, with an event or a joint at its stop, errors vanish with the step"
)
SLOW = 1e-6  # rad/s, m/s: below it nothing moves
SEEDS = "the motion is chaotic: statistics over seeds compare it in its place"
NO_TICK = "every tick has an event or a joint at its stop"
FEWEST = 5  # ticks with an event, from which a median can be judged
Ask = Callable[[], Explanation]


@dataclass(frozen=True)
class EngineChecks:
    """Hold the measurements of one engine; levels that do not apply are None."""

    engine: str
    model: ModelCheck
    acceleration: AccelerationCheck
    one_step: OneStepCheck | None = None
    trajectory: ConvergenceCheck | None = None
    statistics: StatisticsCheck | None = None
    scheme: SchemeCheck | NoTwin | None = None
    repeat: RepeatCheck | None = None
    events: EventsCheck | None = None
    energy: EnergyCheck | NoBook | None = None
    invariance: InvarianceCheck | None = None
    drive: DriveCheck | None = None


def judge(
    tolerances: Tolerances,
    checks: EngineChecks,
    name: Ask,
    name_trajectory: Ask,
) -> list[Finding]:
    """Return a finding for each level of an engine.

    Args:
        tolerances: of the scenario.
        checks: what was measured.
        name, name_trajectory: name what is off; asked only where a level is outside and the model
            itself is not.
    """
    obeys = not (checks.drive and checks.drive.off)  # else no tick excuses a trajectory
    twin = checks.scheme if is_twin(checks.scheme) else None
    silent = bool(checks.model.differences) or twin is not None or not obeys
    first = judge_model(tolerances, checks, name)
    others = [judge_drive(checks.engine, checks.drive)] if checks.drive else []
    others += [judge_scheme(checks.engine, checks.scheme)] if checks.scheme else []
    others += [judge_repeat(checks.engine, checks.repeat)] if checks.repeat else []
    others += [judge_invariance(checks.engine, checks.invariance)] if checks.invariance else []
    others += [judge_events(checks.engine, checks.events)] if checks.events else []
    others += [judge_energy(checks.engine, checks.energy)] if checks.energy else []
    if checks.one_step is None:
        second = Finding("one_step", checks.engine, "not_judged", NO_TICK)
    else:
        second = judge_step(tolerances, checks, Explanation if silent else name)
        second = _by_twin(second, twin) if twin else second
        second = unless_few(second, checks.one_step.judged, checks.one_step.ticks)
    if checks.statistics is not None:
        last = judge_seeds(checks.engine, checks.statistics)
        if twin and obeys and last.outcome == "not_judged" and is_thrown(checks.statistics):
            last = _by_twin(last, twin)  # no statistics decide there, and each tick does
        return [first, *others, second, stand_in(last, "trajectory", SEEDS), last]
    third = judge_trajectory(tolerances, checks, Explanation if silent else name_trajectory)
    runs = checks.trajectory
    assert runs is not None
    alike = all(d[0] <= runs.floor for d in runs.distance.values())  # a twin begins as its engine
    if twin and obeys and alike and tolerances.of(checks.engine) is None:
        third = _by_twin(third, twin)
    if third.outcome != "outside" and runs.range <= runs.floor:  # nothing moves
        third = Finding("trajectory", checks.engine, "not_judged", STILL)
    if checks.acceleration.max is None and first.outcome == "within":
        reason = f"{checks.acceleration.reason}: one step compares the rates in its place"
        first = stand_in(second, "acceleration", reason)
    return [first, *others, second, third]


def _by_twin(finding: Finding, check: SchemeCheck) -> Finding:
    """Return the finding on an engine that is its twin, where orders do not decide.

    In ticks with an event no twin steps: the limit of their errors at small steps decides. Too few
    physics steps stay too few: errors of an unknown order may be of any size.
    """
    level, engine, others = finding.level, finding.engine, check.others
    if others and others.excess > 1.0:
        text = (
            f"in ticks with an event or a joint at its stop the {others.quantity} of "
            f"{others.where} keeps {others.excess:.2g} times the error that time stepping explains "
            f"(median of {others.count} ticks), in that at t = {others.time:g} s for one"
        )
        if others.count < FEWEST:
            return Finding(level, engine, "not_judged", f"{text}: too few for a verdict")
        return outside(level, engine, text, others.quantity, others.where)
    if finding.outcome in ("outside", "not_judged") and not finding.reason.endswith(FEW):
        if check.left_out and not others:
            return Finding(level, engine, "not_judged", f"{THROWN} ({finding.reason})")
        count = others.count if others else 0
        reason = BUT_STOPS.format(check.judged, count, check.left_out) if count else TWIN
        return Finding(level, engine, "within", reason)
    return finding


def judge_model(tolerances: Tolerances, checks: EngineChecks, ask: Ask) -> Finding:
    """Judge masses, limits and the rest of the model, then accelerations."""
    engine, found = checks.engine, checks.acceleration.max
    reasons, quantity, where = [], "", ""
    for difference in checks.model.differences:
        of = f" of {difference.where}" if difference.where else ""
        text = f"{difference.quantity}{of} is {difference.text}"
        whole, expected = (f"{m:.4g} kg" for m in (checks.model.total, checks.model.reference))
        if difference.quantity == "mass" and whole != expected:
            text += f"; the whole weighs {whole}, the reference {expected}"
        reasons.append(text)
    if checks.model.differences:
        quantity, where = checks.model.differences[0].quantity, checks.model.differences[0].where
    if found is not None and not found <= tolerances.acceleration:
        reasons.append(
            f"accelerations differ by {found:.2g} relative, allowed {tolerances.acceleration:.0e}"
        )
        if not checks.model.differences:
            found_by = ask()
            quantity, where = found_by.cause.quantity, found_by.cause.where
            reasons.append(text_of(found_by))
    if reasons:
        return outside("acceleration", engine, "; ".join(filter(None, reasons)), quantity, where)
    return Finding("acceleration", engine, "within")


def judge_step(tolerances: Tolerances, checks: EngineChecks, ask: Ask) -> Finding:
    """Judge one-step errors: they must fall with the physics step to a remainder of 0."""
    step, engine = checks.one_step, checks.engine
    assert step is not None
    below = max(step.rms, step.spin) <= step.floor and step.remainder is not False
    least = step.expected_order - tolerances.one_step_order
    rates = (
        _by_order("joints'", step.relative, step.order, least),
        _by_order("base's", step.spin_relative, step.spin_order, least),
    )
    found = judge_one_step(engine, tolerances.one_step, rates, below=below)
    share = max(step.relative, step.spin_relative)
    if below and share > BLIND and max(step.rms, step.spin) > SLOW:
        text = f"the reference's own error is {100 * share:.2g} % of the change or more"
        return Finding("one_step", engine, "not_judged", text)
    if below or isinstance(tolerances.one_step, Allowance):
        return found
    reason = found.reason
    if reason and not step.settled:
        return _coarse("one_step", engine, reason, step.step)
    if not reason and step.remainder is False:
        reason = (
            f"the {step.where} keeps an error of {step.left:.2g} (rms) at a physics step of 0, "
            f"of which time stepping explains only {step.bound:.2g}"
        )
        if not step.asymptotic:
            return _coarse("one_step", engine, reason, step.step)
    if reason:
        name = ask()
        text = "; ".join(filter(None, [reason, text_of(name)]))
        return outside("one_step", engine, text, name.cause.quantity, name.cause.where)
    if share <= tolerances.one_step or step.remainder:
        return found
    return Finding("one_step", engine, "not_judged", f"{100 * share:.2g} % in one step; {FEW}")


class Rates(NamedTuple):
    """Hold the one-step error of some rates, and what time stepping explains of it.

    Args:
        whose: joints' or base's.
        share: of the change of the rates, in a control period.
        explained: of that share; infinite where the error falls with the physics step.
        why: that is not more, in words.
    """

    whose: str
    share: float
    explained: float
    why: str

    def allowed(self, tolerance: float | Allowance) -> float:
        """Return the share that is allowed."""
        if isinstance(tolerance, Allowance):
            return tolerance.limit
        return tolerance + self.explained


def _by_order(whose: str, share: float, order: float | None, least: float) -> Rates:
    """Return what the order shows by which an error falls, which must be `least`."""
    if order is None or order >= least:
        return Rates(whose, share, math.inf, "")
    why = f"the error falls with order {order:.2f} only, at least {least:g} is expected"
    return Rates(whose, share, 0.0, why)


def judge_one_step(
    engine: str, tolerance: float | Allowance, rates: Sequence[Rates], *, below: bool
) -> Finding:
    """Judge the errors of a control period, of a fresh run or a recorded one.

    Args:
        engine: of the run.
        tolerance: share of the change beside what time stepping explains, or an allowance, which
            takes the place of both.
        rates: of the joints and of the base's turning.
        below: whether the errors are below the reference's own.
    """
    if below:
        return Finding("one_step", engine, "within", BELOW)
    if isinstance(tolerance, Allowance):
        share, limit = max(each.share for each in rates), tolerance.limit
        if share <= limit:
            reason = f"allowed {limit:g}: {tolerance.reason}"
            return Finding("one_step", engine, "within", reason)
        text = f"one step differs by {100 * share:.3g} % of the change, allowed {100 * limit:g} %"
        return outside("one_step", engine, text)
    for each in rates:
        if each.share > each.allowed(tolerance):
            text = f"one step from the same state differs by {100 * each.share:.3g} % of the change"
            return outside("one_step", engine, f"{text} of the {each.whose} rates, and {each.why}")
    return Finding("one_step", engine, "within")


def judge_trajectory(tolerances: Tolerances, checks: EngineChecks, ask: Ask) -> Finding:
    """Judge trajectories by order while errors exceed the floor, and by the remainder at 0."""
    runs, engine = checks.trajectory, checks.engine
    assert runs is not None
    limit = tolerances.of(engine)
    if limit is not None and limit_of(limit) < runs.floor:
        text = f"the tolerance of {limit_of(limit):g} m is below the noise floor"
        return Finding("trajectory", engine, "not_judged", f"{text} of {runs.floor:.2g} m")
    if isinstance(limit, Allowance):
        if runs.error[0] <= limit.limit:
            text = f"allowed {1e3 * limit.limit:g} mm: {limit.reason}"
            return Finding("trajectory", engine, "within", text)
        return outside("trajectory", engine, _too_far(runs, limit.limit))
    reason, sure = _off_course(tolerances, runs, limit)
    if runs.before and not reason:
        reason, sure = _off_course(tolerances, runs.before, None)
    if reason and not sure:
        found = _coarse("trajectory", engine, reason, runs.dt[-1])
        return replace(found, smaller=runs.kink is None)  # over kinks orders do not settle
    if reason:
        name = ask()
        text = "; ".join(filter(None, [reason, text_of(name)]))
        where = name.cause.where or runs.where
        return outside("trajectory", engine, text, name.cause.quantity, where)
    if max(runs.error) <= runs.floor:
        return Finding("trajectory", engine, "within", BELOW)
    if runs.remainder is None:
        return Finding("trajectory", engine, "not_judged", FEW)
    return Finding("trajectory", engine, "within")


def _coarse(level: Level, engine: str, reason: str, step: float) -> Finding:
    """Return that an error is off its course outside the asymptotic range, and what to do."""
    text = (
        f"{reason}: the physics step is too large to find out why; "
        f"halve the step, to {step / 2:g} s at the finest, by one more --refine"
    )
    return Finding(level, engine, "not_judged", text, smaller=True)


def _off_course(
    tolerances: Tolerances, runs: ConvergenceCheck, limit: float | None
) -> tuple[str, bool]:
    """Return why time stepping does not explain the trajectory errors, or "", and if that is sure.

    No order is asked of an error that falls to the floor.
    """
    if limit is not None and runs.error[0] > limit:
        return _too_far(runs, limit), True
    expected = runs.expected_order
    least = (1.0 - tolerances.order) * expected
    slow = ""
    if runs.order is not None and runs.order < least and runs.error[-1] > runs.floor:
        slow = (
            f"converges with order {runs.order:.2f} only, expected {expected} and at least "
            f"{least:g}; {1e3 * runs.error[-1]:.3g} mm are left at {runs.dt[-1]:g} s"
        )
    if slow and runs.settled:
        return slow, True
    if runs.remainder is False:
        rest = (
            f"{runs.where} keeps an error of {runs.left:.2g} at a physics step of 0, "
            f"of which time stepping and round-off explain only {runs.bound:.2g}"
        )
        return rest, runs.asymptotic
    return slow, not slow


def _too_far(runs: ConvergenceCheck, limit: float) -> str:
    return (
        f"{1e3 * runs.error[0]:.3g} mm from the reference at {runs.dt[0]:g} s, "
        f"allowed {1e3 * limit:g} mm"
    )


def is_thrown(check: StatisticsCheck) -> bool:
    """Return whether the control loop throws joints from stop to stop, in runs that do not diverge.

    An eigenvalue of its tick below -1 does; see `linearise_loop`.
    """
    return check.loop is not None and check.loop < -1.0 and not check.diverged


def judge_seeds(engine: str, check: StatisticsCheck) -> Finding:
    """Judge statistics over seeds: the medians by the allowance, and the shares above 0.

    Runs without a value count against an engine: it must give one for every seed. A run that
    diverges may do so by its physics step. Where the control loop throws joints from stop to stop,
    the engine's own law of stops decides the figure, and no difference is judged.
    """
    found = _compare_seeds(engine, check)
    if found.outcome == "outside" and is_thrown(check):
        text = (
            f"{found.reason}; but the control loop throws joints from stop to stop (an eigenvalue "
            f"of its tick is {check.loop:.2g}), so the engines' own laws of stops decide the "
            "figure: take a shorter control_period"
        )
        return Finding("statistics", engine, "not_judged", text)
    return found


def _compare_seeds(engine: str, check: StatisticsCheck) -> Finding:
    off, below = partial(outside, "statistics", engine, quantity=check.figure), 1.0 - CONFIDENCE
    if check.failures:
        seed, reason = next(iter(check.failures.items()))
        text = f"{len(check.failures)} runs have no {check.figure}: seed {seed}: {reason}"
        return Finding("statistics", engine, "not_judged", text) if check.diverged else off(text)
    if check.difference is None:
        reason = f"engine and reference have too few runs with a {check.figure}"
        return Finding("statistics", engine, "not_judged", reason)
    if check.share_probability is not None and check.share_probability < below:
        return off(
            f"{100 * check.positive:.0f} % of the runs have {check.figure} above 0, unlike the "
            f"reference's: probability {check.share_probability:.2g} if the shares were alike"
        )
    if check.unsettled:
        reason = (
            f"the difference of median {check.figure} is known to +-{check.unsettled:.2g} "
            f"{check.unit} only, from seeds and physics step: take more seeds or a smaller step"
        )
        return Finding("statistics", engine, "not_judged", reason)
    low, high = check.difference
    if not math.isfinite(check.allowance):
        reason = f"at another physics step there is no {check.figure}: take a smaller step"
        return Finding("statistics", engine, "not_judged", reason)
    if low <= check.allowance and high >= -check.allowance:
        return Finding("statistics", engine, "within")
    return off(
        f"median {check.figure} differs from the reference's by {low:.3g} to {high:.3g} "
        f"{check.unit}".rstrip()
        + f" with 95 % confidence, allowed {check.allowance:.2g}"
    )
