"""Context of a motion level: what the levels measured before it say about the same engine.

A level that compares motions (`one_step`, `trajectory`, `statistics`) judges less strictly where
another level has already explained the errors. Three facts matter: the efforts in force are as
commanded (level `drive`), the engine's model is as described (level `acceleration`), and every
control period, or tick, is as in the engine's twin (level `scheme`). The twin is a simulation of
our equations of motion with the engine's own integration scheme; an engine that equals its twin
differs from the reference by time stepping alone. A motion level keeps the `LevelContext` of its
measurement, and passes its finding through `judge_by_twin`. MIN_EVENT_TICKS may be tuned.
"""

from __future__ import annotations

from typing import NamedTuple

from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.measures.scheme import SchemeCheck, is_twin

# Fewest ticks with an event that are judged: of 5, a median rests on at least three.
MIN_EVENT_TICKS = 5


class LevelContext(NamedTuple):
    """Results of the levels measured before, on which the judgement of a motion depends.

    Args:
        twin: check of level `scheme` if every tick without an event equals the twin's, else None.
        follows_commands: whether efforts in force are as commanded; if not, the twin does not
            explain the errors of a trajectory.
        matches_description: whether the engine's model is as described.
    """

    twin: SchemeCheck | None = None
    follows_commands: bool = True
    matches_description: bool = True

    @classmethod
    def of(cls, case: CheckCase) -> LevelContext:
        """Return the results of levels `scheme`, `drive` and `acceleration` on a case."""
        names = ("scheme", "drive", "acceleration")
        scheme, drive, acceleration = (case.checks.get(name) for name in names)
        differs = bool(acceleration and acceleration.model.differences)
        return cls(scheme if is_twin(scheme) else None, not (drive and drive.off), not differs)

    @property
    def unexplained(self) -> bool:
        """Whether the cause of a finding must be sought in the motion."""
        return self.follows_commands and self.matches_description and self.twin is None


NO_CONTEXT = LevelContext()  # where other levels were not measured


def judge_by_twin(finding: Finding, check: SchemeCheck) -> Finding:
    """Return the finding on the motion of an engine whose ticks are its twin's.

    Where the order of convergence alone leaves the motion undecided or outside, the twin explains
    it, and it is within. A twin does not simulate ticks with an event (impact, stop, switch); those
    are judged by the limit of their errors at small physics steps. A finding of too few physics
    steps stays: errors of an unknown order may have any size.

    Args:
        finding: by the motion alone.
        check: of level `scheme`.
    """
    # Ticks with an event first. `excess` is their error that does not vanish with the physics
    # step, over what time stepping explains (median of `count` ticks).
    events = check.others
    if events and events.excess > 1.0:
        why = because(Code.EVENT_TICKS, **vars(events))
        if events.count < MIN_EVENT_TICKS:
            return Finding.not_judged(why)
        coordinate = {"quantity": events.quantity, "where": events.where}
        return Finding.outside(why, **coordinate, size=events.excess)
    # The motion alone decides, unless its errors are too large or of no clear order.
    undecided = finding.outcome in (Outcome.OUTSIDE, Outcome.NOT_JUDGED)
    if not undecided or Code.FEW_STEPS in finding.codes:
        return finding
    # Every compared tick is the twin's; `left_out` ticks have an event, which no twin simulates.
    if check.left_out and not events:
        return Finding.not_judged(because(Code.THE_TWIN_BUT_UNRESOLVED, of=list(finding.reasons)))
    if events and events.count:
        counts = {"judged": check.judged, "count": events.count, "others": check.left_out}
        return Finding.within(because(Code.THE_TWIN_BUT_EVENTS, **counts))
    return Finding.within(because(Code.THE_TWIN))
