"""Outcomes, reasons and findings of the levels of a cross-check, and the verdict.

A cross-check consists of levels (accelerations, single steps, trajectories, energy, ...). Each
level, in crosscheck/levels/, returns a `Finding` for each engine: an `Outcome`, and `Reason`s, each
a `Code` (codes.py) with figures. report/words.py converts reasons to words when they are shown, so
that no verdict depends on words. `verdict_of` is strict on purpose: an engine that could not be
judged never passes (test_outcomes).

Values of `Outcome` and `Verdict`, and the keys of `Finding.to_json`, are part of the JSON of
`accord crosscheck` and stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from typing import Any, Literal

from roboaccord.contract.codes import Code as Code
from roboaccord.contract.errors import did_you_mean
from roboaccord.contract.profiles import entry_of
from roboaccord.contract.results import Json, to_json
from roboaccord.contract.shown import display

Verdict = Literal["pass", "fail", "undecided"]
# A level counts as judged if at least one in JUDGED_SHARE ticks was. Chosen: one in two would
# exclude motions that are in contact half of the time, and one in ten shows nothing about the other
# ticks.
JUDGED_SHARE = 3


class Outcome(StrEnum):
    """The outcome of a level for an engine."""

    WITHIN = auto()  # the difference is within the tolerance
    OUTSIDE = auto()  # it is larger
    NOT_JUDGED = auto()  # too little is known for a verdict
    EXCUSED = auto()  # outside or not judged, for a reason that the scenario states
    DOES_NOT_APPLY = auto()  # the engine or the motion has nothing that the level compares


@dataclass(frozen=True)
class Reason:
    """Reason for the outcome of a level: a code with figures; `str` returns it in words.

    Args:
        code: a member of `Code`, or one of a level that another package adds.
        figures: by name, in SI units; other reasons may be among them.
    """

    code: Code | str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the reason in words."""
        return display.words(self)

    def to_json(self) -> Mapping[str, Json]:
        """Return the code and the figures in one mapping."""
        return {"code": str(self.code), **{k: to_json(v) for k, v in self.figures.items()}}


def because(code: Code | str, **figures: Any) -> Reason:
    """Return the reason with a code and figures."""
    return Reason(code, figures)


@dataclass(frozen=True)
class Cause:
    """Cause of a disagreement: the quantity that is wrong in an engine or a log, and its error.

    Args:
        quantity: mass, gear, delay, sign of rate, ...
        where: link, joint or pair of them, `*` for all; "" if there is only one.
        size: size of the error, relative if the unit is 1; None if it has none.
        interval: low and high end of the 95 % confidence interval; None if there is none.
        unit: unit of size and interval.
        axis: along or about which the quantity is wrong, or its component; "" if it has none.
    """

    quantity: str
    where: str = ""
    size: float | None = None
    interval: tuple[float, float] | None = None
    unit: str = ""
    axis: str = ""


@dataclass(frozen=True)
class Finding:
    """The outcome of one level for one engine.

    Args:
        outcome: outcome of the level.
        reasons: for the outcome; none if it is within without more to say.
        quantity: the wrong quantity, such as mass or axis; "" if there is none, or it is unknown.
        where: link, joint or time where it is wrong; "" if nothing is, or it is unknown.
        size: error in the unit of the quantity; None if nothing is wrong, or it is unknown.
        level, engine: their names, which the check fills in.
        unexplained: whether a cause is still to be searched for.
        smaller: whether a smaller physics step would decide the matter.
        stands_in: whether the level does not apply, and the outcome is that of another level.
        excuse: reason for which the scenario does not count the finding; "" if it does.
    """

    outcome: Outcome
    reasons: tuple[Reason, ...] = ()
    quantity: str = ""
    where: str = ""
    size: float | None = None
    level: str = ""
    engine: str = ""
    unexplained: bool = False
    smaller: bool = False
    stands_in: bool = False
    excuse: str = ""

    @classmethod
    def within(cls, *reasons: Reason) -> Finding:
        """Return a finding that is within the tolerance."""
        return cls(Outcome.WITHIN, reasons)

    @classmethod
    def outside(
        cls, *reasons: Reason, quantity: str = "", where: str = "", size: float | None = None
    ) -> Finding:
        """Return a finding that is outside of the tolerance."""
        return cls(Outcome.OUTSIDE, reasons, quantity, where, size)

    @classmethod
    def not_judged(cls, *reasons: Reason, smaller: bool = False) -> Finding:
        """Return a finding of a level that could not be judged."""
        return cls(Outcome.NOT_JUDGED, reasons, smaller=smaller)

    @classmethod
    def does_not_apply(cls, *reasons: Reason) -> Finding:
        """Return a finding of a level that does not apply."""
        return cls(Outcome.DOES_NOT_APPLY, reasons)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons, as texts."""
        return tuple(str(reason.code) for reason in self.reasons)

    @property
    def reason(self) -> str:
        """The reasons in words."""
        return display.words(self)

    def also(self, *reasons: Reason) -> Finding:
        """Return the finding with `reasons` added."""
        return replace(self, reasons=(*self.reasons, *reasons))

    def to_json(self) -> Mapping[str, Json]:
        """Return the JSON of the finding; level and engine are keys above it."""
        names = ("outcome", "reason", "codes", "quantity", "where", "size")
        return {name: to_json(getattr(self, name)) for name in names}


Findings = Mapping[str, Finding]
"""Findings of one level, by engine."""


class Levels(dict[str, Findings]):
    """Findings of a check by level, then by engine; only of levels that were checked.

    `levels.one_step["dart"]` is the same as `levels["one_step"]["dart"]`.
    """

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Levels:
        """Return findings sorted by level and engine."""
        levels = cls()
        for finding in findings:
            level = levels.get(finding.level, {})
            levels[finding.level] = {**level, finding.engine: finding}
        return levels

    def __getattr__(self, level: str) -> Findings:
        """Return the findings of a level by its name as an attribute."""
        if level not in self:
            raise AttributeError(f"no level {level} was checked{did_you_mean(level, self)}")
        return self[level]

    @property
    def findings(self) -> list[Finding]:
        """All findings."""
        return [finding for level in self.values() for finding in level.values()]


def stand_in(finding: Finding, level: str, *reasons: Reason) -> Finding:
    """Return the finding of a level that does not apply, with the outcome of another level."""
    return Finding(finding.outcome, reasons, level=level, engine=finding.engine, stands_in=True)


def unless_few(finding: Finding, judged: float, total: float, what: str = "ticks") -> Finding:
    """Return a finding, or "not judged" where it is within but rests on too few ticks.

    That is the case if less than one of JUDGED_SHARE ticks was judged.

    Args:
        finding: the finding of a level.
        judged: number of ticks that were judged.
        total: number of ticks that the level was to judge.
        what: name of what is counted, for the reason.
    """
    if finding.outcome != Outcome.WITHIN or JUDGED_SHARE * judged >= total:
        return finding
    reason = because(Code.FEW_JUDGED, judged=judged, total=total, what=what)
    return replace(finding, outcome=Outcome.NOT_JUDGED, reasons=(reason,))


def excuse(findings: Iterable[Finding], excuses: Mapping[str, Mapping[str, str]]) -> list[Finding]:
    """Return findings; those outside or not judged become excused where the scenario says so.

    Args:
        findings: the findings of all levels and engines.
        excuses: text of the excuse, by level and engine.
    """
    counted = list[Finding]()
    for finding in findings:
        text = entry_of(excuses.get(finding.level, {}), finding.engine)
        if text and finding.outcome in (Outcome.OUTSIDE, Outcome.NOT_JUDGED):
            finding = replace(finding, outcome=Outcome.EXCUSED, excuse=text)
        counted.append(finding)
    return counted


def verdict_of(findings: Sequence[Finding]) -> Verdict | None:
    """Return "fail" if any finding is outside, "undecided" if any is not judged, else "pass".

    None if there is no finding, because there is no engine to judge.
    """
    if not findings:
        return None
    outcomes = {f.outcome for f in findings}
    if Outcome.OUTSIDE in outcomes:
        return "fail"
    return "undecided" if Outcome.NOT_JUDGED in outcomes else "pass"
