"""What the checks of other levels tell a level that judges the motion.

A motion is judged less strictly where another level explains it: where every tick is the twin's,
time stepping explains the errors of whole trajectories. FEWEST may be tuned.
"""

from __future__ import annotations

from typing import NamedTuple

from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.crosscheck.measures.scheme import SchemeCheck, is_twin
from roboaccord.crosscheck.motion import CheckCase

FEWEST = 5  # ticks with an event from which their median is judged, by three of them at least


class Beside(NamedTuple):
    """What other levels know, on which the judgement of a motion depends.

    Args:
        twin: check of level `scheme` where every tick is as the engine's twin has it, else None.
        obeys: whether efforts in force are as commanded; else no tick excuses a trajectory.
        described: whether the engine's model is as described.
    """

    twin: SchemeCheck | None = None
    obeys: bool = True
    described: bool = True

    @classmethod
    def of(cls, case: CheckCase) -> Beside:
        """Read the checks of the levels before."""
        scheme, drive, model = (case.checks.get(n) for n in ("scheme", "drive", "acceleration"))
        differs = bool(model and model.model.differences)
        return cls(scheme if is_twin(scheme) else None, not (drive and drive.off), not differs)

    @property
    def unexplained(self) -> bool:
        """Whether the cause of a finding must be sought in the motion."""
        return self.obeys and self.described and self.twin is None


ALONE = Beside()


def by_twin(finding: Finding, check: SchemeCheck) -> Finding:
    """Return the finding on an engine whose ticks are its twin's, where orders do not decide.

    No twin steps ticks with an event: there the limit of the errors at small steps decides. Too few
    physics steps remain too few: errors of an unknown order may have any size.

    Args:
        finding: by the motion alone.
        check: of level `scheme`.
    """
    events = check.others
    if events and events.excess > 1.0:
        why = because(Code.EVENT_TICKS, **vars(events))
        if events.count < FEWEST:
            return Finding.not_judged(why)
        return Finding.outside(
            why, quantity=events.quantity, where=events.where, size=events.excess
        )
    undecided = finding.outcome in (Outcome.OUTSIDE, Outcome.NOT_JUDGED)
    if not undecided or Code.FEW_STEPS in finding.codes:
        return finding
    if check.left_out and not events:
        return Finding.not_judged(because(Code.THE_TWIN_BUT_UNRESOLVED, of=list(finding.reasons)))
    if events and events.count:
        counts = {"judged": check.judged, "count": events.count, "others": check.left_out}
        return Finding.within(because(Code.THE_TWIN_BUT_EVENTS, **counts))
    return Finding.within(because(Code.THE_TWIN))
