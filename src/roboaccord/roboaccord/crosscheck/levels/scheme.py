"""Level `scheme`: an engine against its twin, one control period (tick) at a time.

The twin (engines/twin.py) is a simulation of our equations of motion with the engine's own
integration scheme and physics step. Both start each tick from the engine's recorded state. Time
stepping therefore explains no difference, and it is judged by round-off alone, which is measured in
measures/twin_comparison.py. An engine gets a twin by stating its scheme (engines/spec.py).

Ticks are compared in measures/scheme.py, which also searches for the cause of a difference; here
the largest difference is judged. causes/findings.py adds causes to findings by `explained`.
"""

from __future__ import annotations

from dataclasses import replace

from roboaccord.contract.outcome import Code, Finding, because, unless_few
from roboaccord.crosscheck.causes.explain import Explanation
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.measures.scheme import NoTwin, SchemeCheck, check_scheme
from roboaccord.scenario.scenario import Tolerances


class SchemeLevel(Level["SchemeCheck | NoTwin"]):
    """Judge the largest difference of a tick from the twin by round-off alone."""

    name = "scheme"
    title = "Scheme: a twin of the engine"

    def measure(self, case: CheckCase) -> SchemeCheck | NoTwin:
        """Compare ticks of the run with those of the engine's twin."""
        return check_scheme(case.setup, case.engine, case.run, case.picked)

    def judge(self, check: SchemeCheck | NoTwin, tolerances: Tolerances) -> Finding:
        """Return `outside`, with its cause, if a tick differs by more than round-off."""
        if isinstance(check, NoTwin):
            return Finding.does_not_apply(because(Code.NO_TWIN, text=check.reason))
        if check.error <= check.floor:
            total = check.judged + check.left_out - check.touching
            hidden = because(Code.BELOW_SINGLE, of=list(check.resolution))
            finding = Finding.within(*[hidden] if check.single else [])
            return unless_few(finding, check.judged, total)
        names = ("quantity", "where", "time", "error", "floor")
        why = because(Code.NOT_THE_TWIN, **{name: getattr(check, name) for name in names})
        finding = Finding.outside(why, where=check.where, size=check.error)
        return explained(finding, check.explanation)

    def rows(self, check: SchemeCheck | NoTwin) -> Rows:
        """Return the largest difference, what round-off explains, and the numbers of ticks."""
        if isinstance(check, NoTwin):
            return {"of": Entry(check.reason)}
        return {
            "largest difference": Entry(check.error, "SI", ".2g"),
            "round-off explains": Entry(check.floor, "SI", ".2g"),
            "of": Entry(f"{check.quantity}, {check.where}"),
            "ticks": Entry(check.judged),
            "looked at": Entry(min(check.looked_at, check.judged)),
            "left out": Entry(check.left_out),
        }


def explained(finding: Finding, explanation: Explanation) -> Finding:
    """Return a finding with an explanation, and with the joint or link that it names, if any."""
    if not explanation.asked:
        return finding
    cause = explanation.cause
    where = cause.where or finding.where
    with_cause = finding.also(because(Code.CAUSE, of=explanation))
    return replace(with_cause, quantity=cause.quantity, where=where)
