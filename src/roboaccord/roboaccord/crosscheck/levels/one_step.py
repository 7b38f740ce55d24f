"""Level `one_step`: from recorded states, the reference must predict the states one period later.

The reference, the analytical model, is put in each recorded state of an engine's run, simulates one
control period (tick), and is compared with the next recorded state. The error in the rates (joint
and base velocities) must fall with the engine's physics step h as h^p, where p is the order of its
integrator, and to a remainder of 0 at a step of 0; what does not fall is not due to time stepping.

Errors are measured in measures/one_step.py, and the bound on the remainder is set in
extrapolation.py; here they are judged. `judge_rates` judges single recorded runs, too
(recorded_step.py). MAX_REFERENCE_ERROR and REST_RATE may be tuned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from roboaccord.contract.outcome import Code, Finding, Reason, because, unless_few
from roboaccord.contract.results import unit_of
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.extrapolation import coarse_steps, few_steps
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.level_context import LevelContext, judge_by_twin
from roboaccord.crosscheck.measures.one_step import OneStepCheck, check_free_steps, check_steps
from roboaccord.scenario.scenario import Allowance, Tolerances

# Largest error of the reference itself with which it can judge, relative to the change of the rates
# in a tick: a tenth, as MAX_REFERENCE_ERROR of event_ticks.py and MAX_EXPLAINED_SHARE.
MAX_REFERENCE_ERROR = 0.1
# Error below which a robot counts as at rest, whatever its relative error [rad/s]: 0.2 degrees in
# an hour.
REST_RATE = 1e-6


class Rates(NamedTuple):
    """One-step error of the rates of joints or base, and how much of it time stepping explains.

    Args:
        whose: "joints" or "base".
        share: rms error over the rms change of the rates in a control period.
        explained: part of `share` that time stepping explains; infinite if the error falls with
            the step.
        why: reason why no more is explained.
    """

    whose: str
    share: float
    explained: float
    why: Reason | None = None

    def allowed(self, tolerance: float | Allowance) -> float:
        """Return the largest allowed share, for a tolerance as in `judge_rates`."""
        if isinstance(tolerance, Allowance):
            return tolerance.limit
        return tolerance + self.explained


def judge_rates(tolerance: float | Allowance, rates: Sequence[Rates], *, below: bool) -> Finding:
    """Judge the errors of a control period, of a simulated run or a recorded one.

    Args:
        tolerance: share of the change that is allowed beyond what time stepping explains, or an
            allowance of the scenario that replaces both.
        rates: of the joints and of the base.
        below: whether the errors are below the reference's own.
    """
    if below:
        return Finding.within(because(Code.BELOW_ROUND_OFF))
    # An allowance, which the scenario gives with a reason, replaces what time stepping explains.
    if isinstance(tolerance, Allowance):
        share, limit = max(rate.share for rate in rates), tolerance.limit
        if share <= limit:
            why = because(Code.ALLOWED, limit=limit, unit="", text=tolerance.reason)
            return Finding.within(why)
        return Finding.outside(because(Code.STEP_TOO_LARGE, share=share, limit=limit), size=share)
    for rate in rates:
        if rate.share > rate.allowed(tolerance):
            figures = {"share": rate.share, "whose": rate.whose, "why": rate.why}
            return Finding.outside(because(Code.STEP_UNEXPLAINED, **figures), size=rate.share)
    return Finding.within()


@dataclass(frozen=True)
class NoFreeTick:
    """Result if too few control periods are free of events and of joints at their stops."""


class OneStepLevel(Level["OneStepCheck | NoFreeTick"]):
    """Judge one-step errors by their order of convergence, and by the remainder at a step of 0."""

    name = "one_step"
    title = "Level 2: one step"

    def measure(self, case: CheckCase) -> OneStepCheck | NoFreeTick:
        """Predict ticks by the reference; of a chaotic motion only those without an event."""
        arguments = case.setup, case.engine, case.order, case.by_step
        if not case.chaotic:
            return replace(check_steps(*arguments, case.picked), context=LevelContext.of(case))
        check = check_free_steps(*arguments)
        return NoFreeTick() if check is None else replace(check, context=LevelContext.of(case))

    def judge(self, check: OneStepCheck | NoFreeTick, tolerances: Tolerances) -> Finding:
        """Return the outcome by order and remainder; where a twin agrees, by the twin."""
        if isinstance(check, NoFreeTick):
            return Finding.not_judged(because(Code.NO_FREE_TICK))
        finding = judge_step(check, tolerances)
        twin = check.context.twin
        finding = judge_by_twin(finding, twin) if twin else finding
        return unless_few(finding, check.judged, check.ticks)

    def rows(self, check: OneStepCheck | NoFreeTick) -> Rows:
        """Return the errors, their order, and the remainder with its bound."""
        if isinstance(check, NoFreeTick):
            return {}
        unit = unit_of(OneStepCheck, "rms")
        order = str(because(Code.BELOW_ROUND_OFF)) if check.rms <= check.floor else check.order
        return {
            "rms": Entry(check.rms, unit, ".2e"),
            "largest": Entry(check.max, unit, ".2e"),
            "share of the change": Entry(check.relative, form=".2%"),
            "order": Entry(order, form=".2f"),
            "left at 0": Entry(check.left, "rad/s or m/s", ".2e"),
            "explained": Entry(check.bound, "rad/s or m/s", ".2e"),
        }


def judge_step(step: OneStepCheck, tolerances: Tolerances) -> Finding:
    """Judge one-step errors by themselves, without the checks of other levels.

    `step.remainder` is True within its bound, False beyond it, and None with too few physics steps.
    """
    is_below = max(step.rms, step.spin) <= step.floor and step.remainder is not False
    # An allowance is for what does not fall with the step, so the smallest step is judged by it.
    has_allowance = isinstance(tolerances.one_step, Allowance)
    shares = step.finest if has_allowance else (step.relative, step.spin_relative)
    least_order = step.expected_order - tolerances.one_step_order
    rates = (
        _by_order("joints", shares[0], step.order, least_order),
        _by_order("base", shares[1], step.spin_order, least_order),
    )
    finding = judge_rates(tolerances.one_step, rates, below=is_below)
    share = max(step.relative, step.spin_relative)
    # Errors below the reference's own: within, unless that is too large to judge by.
    if is_below and share > MAX_REFERENCE_ERROR and max(step.rms, step.spin) > REST_RATE:
        return Finding.not_judged(because(Code.REFERENCE_ERRS, share=share))
    if is_below or isinstance(tolerances.one_step, Allowance):
        return finding
    # An error of too low an order is certain only if smaller steps would show the same order.
    if finding.reasons and not step.settled:
        return coarse_steps(step.step, *finding.reasons)
    # An error of the right order must also vanish at a step of 0, within its bound.
    if not finding.reasons and step.remainder is False:
        figures = {"where": step.where, "left": step.left, "bound": step.bound}
        why = because(Code.STEP_REMAINDER, **figures)
        if not step.asymptotic:
            return coarse_steps(step.step, why)
        finding = Finding.outside(why, where=step.where, size=step.left)
    if finding.reasons:
        return replace(finding, unexplained=step.context.unexplained)
    # Large errors need a remainder within its bound: without three steps it is not known.
    if share <= tolerances.one_step or step.remainder:
        return finding
    return Finding.not_judged(because(Code.STEP_SHARE, share=share), few_steps())


def _by_order(whose: str, share: float, order: float | None, least: float) -> Rates:
    """Return the error of rates, explained by time stepping if its order is at least `least`.

    Args:
        whose, share: as of `Rates`.
        order: observed order of convergence; None where none is known, which explains any error.
        least: smallest order that is expected.
    """
    if order is None or order >= least:
        return Rates(whose, share, math.inf)
    return Rates(whose, share, 0.0, because(Code.STEP_ORDER, order=order, least=least))
