"""Outcomes, reasons and findings of the levels, and the verdict that follows from them.

A reason may be added: a member of `Code`, and its words in report/words.py. Values of `Outcome`,
`Code` and `Verdict` and the keys that `Finding.to_json` gives are part of the JSON of
`accord crosscheck` and stay. No verdict may hang on words: compare codes. `verdict_of` is strict on
purpose: what is not judged must never pass (test_outcomes). JUDGED_SHARE may be tuned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from typing import Any, Literal

from roboaccord.contract.profiles import given
from roboaccord.contract.results import Json, to_json
from roboaccord.contract.shown import display

Verdict = Literal["pass", "fail", "undecided"]
JUDGED_SHARE = 3  # a level is judged where at least one of so many ticks is: a matter of judgement


class Outcome(StrEnum):
    """The outcome of a level."""

    WITHIN = auto()
    OUTSIDE = auto()
    NOT_JUDGED = auto()
    EXCUSED = auto()
    DOES_NOT_APPLY = auto()


class Code(StrEnum):
    """Why a level has its outcome. Words and figures of each are in report/words.py."""

    TEXT = auto()  # what a user, an engine or an error has to say
    BELOW_ROUND_OFF = auto()
    ALLOWED = auto()
    FEW_JUDGED = auto()
    FEW_STEPS = auto()
    COARSE = auto()
    NOTHING_MOVES = auto()
    NOTHING_CAN_MOVE = auto()
    KINEMATIC = auto()
    HIDDEN = auto()  # more than the scenario allows to go unnoticed
    CAUSE = auto()
    MODEL = auto()
    ACCELERATION = auto()
    OFF_BY = auto()
    OFF_BY_SHARE = auto()
    OFF_BY_ANGLE = auto()
    INSTEAD = auto()
    READS = auto()
    MISSING = auto()
    NO_COMMAND = auto()
    DISOBEYED = auto()
    SWITCH_DISOBEYED = auto()
    NO_TWIN = auto()
    NOT_THE_TWIN = auto()
    THE_TWIN = auto()
    THE_TWIN_BUT_EVENTS = auto()
    THE_TWIN_BUT_UNRESOLVED = auto()
    EVENT_TICKS = auto()
    NOT_REPEATED = auto()
    NO_MOVE = auto()
    NOT_INVARIANT = auto()
    NO_FREE_TICK = auto()
    REFERENCE_ERRS = auto()
    STEP_ORDER = auto()
    STEP_REMAINDER = auto()
    STEP_SHARE = auto()
    STEP_UNEXPLAINED = auto()
    STEP_TOO_LARGE = auto()
    STEPPING_EXPLAINS = auto()
    STEPPING_HIDES = auto()
    NO_STEP = auto()
    REFUSED_STATE = auto()
    TOLERANCE_BELOW_NOISE = auto()
    TOO_FAR = auto()
    RUN_ORDER = auto()
    RUN_REMAINDER = auto()
    CHAOTIC = auto()
    THROWN = auto()
    NO_FIGURE = auto()
    FEW_RUNS = auto()
    SHARES = auto()
    UNSETTLED = auto()
    NO_FIGURE_AT_STEP = auto()
    MEDIANS = auto()
    NO_EVENTS = auto()
    NO_RESTART = auto()
    EVENT_UNEXPLAINED = auto()
    EVENT_MISPLACED = auto()
    EVENT_MISSING = auto()
    NO_BOOK = auto()
    ONLY_GAINS = auto()
    ENERGY_OF_TWIN = auto()
    ENERGY = auto()
    SUSPECT = auto()
    STEP_FAR = auto()
    LARGEST_ERROR = auto()
    OUR_EQUATIONS = auto()
    LOG_NOISE = auto()
    LOG_EFFORT_NOISE = auto()
    LOG_EFFORT_ZERO = auto()
    LOG_RESIDUALS = auto()
    LEVEL_EXCUSED = auto()
    LEVEL_WITHIN = auto()
    NO_EXCUSE_NEEDED = auto()
    EXCITED = auto()
    SENSITIVE = auto()
    SAME_SETTINGS = auto()


@dataclass(frozen=True)
class Reason:
    """Why a level has its outcome: a code with its figures; `str` gives the words.

    Args:
        code: a member of `Code`, or a name of a level that is not in the tree.
        figures: by name, in SI units; other reasons among them.
    """

    code: Code | str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return display.words(self)

    def to_json(self) -> Mapping[str, Json]:
        """Return the code, and figures beside it."""
        return {"code": str(self.code), **{k: to_json(v) for k, v in self.figures.items()}}


def because(code: Code | str, **figures: Any) -> Reason:
    """Return a reason with its figures."""
    return Reason(code, figures)


@dataclass(frozen=True)
class Cause:
    """What is off in an engine or a log, and by how much.

    Args:
        quantity: mass, gear, delay, sign of rate, ...
        where: link or joint, a pair of them, `*` for all; "" where there is only one.
        size: by how much, a share of the quantity where the unit is 1; None where it has none.
        interval: of 95 % confidence, low and high; None where there is none.
        unit: of size and interval.
        axis: along or about which the quantity is off, or its component; "" where it has none.
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
        outcome: of the level.
        reasons: why it is not simply within; none where it is.
        quantity: what is off: mass, axis, friction, ...; "" where nothing is, or it is unknown.
        where: the link, joint or time where it is off; "" likewise.
        size: by how much, in the unit of the quantity; None likewise.
        level, engine: their names; the check fills them in.
        unexplained: whether a cause is still to be sought.
        smaller: whether a smaller physics step would decide.
        stands_in: whether this is the outcome of another level, which stands in for this one.
        excuse: why the scenario does not count it.
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
        """The codes of its reasons."""
        return tuple(str(reason.code) for reason in self.reasons)

    @property
    def reason(self) -> str:
        """Its reasons in words."""
        return display.words(self)

    def also(self, *reasons: Reason) -> Finding:
        """Return the finding with more reasons."""
        return replace(self, reasons=(*self.reasons, *reasons))

    def to_json(self) -> Mapping[str, Json]:
        """Return the keys that stand below level and engine."""
        names = ("outcome", "reason", "codes", "quantity", "where", "size")
        return {name: to_json(getattr(self, name)) for name in names}


Findings = Mapping[str, Finding]
"""By engine."""


class Levels(dict[str, Findings]):
    """Findings of a check by level and engine, of the levels that were checked.

    `levels.one_step["dart"]` is the same as `levels["one_step"]["dart"]`.
    """

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Levels:
        """Sort findings by level."""
        levels = cls()
        for finding in findings:
            level = levels.get(finding.level, {})
            levels[finding.level] = {**level, finding.engine: finding}
        return levels

    def __getattr__(self, level: str) -> Findings:
        """Return the findings of a level."""
        if level not in self:
            raise AttributeError(f"no level {level} was checked")
        return self[level]

    @property
    def findings(self) -> list[Finding]:
        """All findings."""
        return [finding for level in self.values() for finding in level.values()]


def stand_in(finding: Finding, level: str, *reasons: Reason) -> Finding:
    """Return the finding of a level that does not apply, whose outcome is that of another."""
    return Finding(finding.outcome, reasons, level=level, engine=finding.engine, stands_in=True)


def unless_few(finding: Finding, judged: float, total: float, what: str = "ticks") -> Finding:
    """Return a finding; one that is within on less than a third of the ticks is not judged.

    Args:
        finding: of a level.
        judged, total: number of ticks that were judged, and that the level set out to judge.
        what: is counted, in words.
    """
    if finding.outcome != Outcome.WITHIN or JUDGED_SHARE * judged >= total:
        return finding
    why = because(Code.FEW_JUDGED, judged=judged, total=total, what=what)
    return replace(finding, outcome=Outcome.NOT_JUDGED, reasons=(why,))


def excuse(findings: Iterable[Finding], excuses: Mapping[str, Mapping[str, str]]) -> list[Finding]:
    """Return findings with the excuses of a scenario applied to those that are not within."""
    return [
        replace(f, outcome=Outcome.EXCUSED, excuse=why)
        if f.outcome in (Outcome.OUTSIDE, Outcome.NOT_JUDGED)
        and (why := given(excuses.get(f.level, {}), f.engine))
        else f
        for f in findings
    ]


def verdict_of(findings: Sequence[Finding]) -> Verdict | None:
    """Return the verdict: None where there is no engine to judge."""
    if not findings:
        return None
    outcomes = {f.outcome for f in findings}
    if Outcome.OUTSIDE in outcomes:
        return "fail"
    return "undecided" if Outcome.NOT_JUDGED in outcomes else "pass"
