"""One-step errors of joint rates and of the base's turning, judged against what explains them.

Levels `one_step` of a fresh run and of a recorded one both judge by `judge_rates`: a change is one
of both. Tolerances are the scenario's; what time stepping explains is found by each level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from roboaccord.contract.outcome import Code, Finding, Reason, because
from roboaccord.scenario.scenario import Allowance


class Rates(NamedTuple):
    """One-step error of the rates of joints or base, and what time stepping explains of it.

    Args:
        whose: "joints" or "base".
        share: error relative to the change of the rates in a control period.
        explained: part of that share; infinite where the error falls with the physics step.
        why: no more is explained.
    """

    whose: str
    share: float
    explained: float
    why: Reason | None = None

    def allowed(self, tolerance: float | Allowance) -> float:
        """Return the share that is allowed."""
        if isinstance(tolerance, Allowance):
            return tolerance.limit
        return tolerance + self.explained


def judge_rates(tolerance: float | Allowance, rates: Sequence[Rates], *, below: bool) -> Finding:
    """Judge the errors of a control period, of a fresh run or a recorded one.

    Args:
        tolerance: share of the change that is allowed beyond what time stepping explains, or an
            allowance that replaces both.
        rates: of the joints and of the base.
        below: whether the errors are below the reference's own.
    """
    if below:
        return Finding.within(because(Code.BELOW_ROUND_OFF))
    if isinstance(tolerance, Allowance):
        share, limit = max(rate.share for rate in rates), tolerance.limit
        if share <= limit:
            return Finding.within(
                because(Code.ALLOWED, limit=limit, unit="", text=tolerance.reason)
            )
        return Finding.outside(because(Code.STEP_TOO_LARGE, share=share, limit=limit), size=share)
    for rate in rates:
        if rate.share > rate.allowed(tolerance):
            figures = {"share": rate.share, "whose": rate.whose, "why": rate.why}
            return Finding.outside(because(Code.STEP_UNEXPLAINED, **figures), size=rate.share)
    return Finding.within()
