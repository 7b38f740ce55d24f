"""Outcomes of the levels, and the verdict that follows from them.

The names in `Level`, `Outcome` and `Verdict` and the keys that `Finding.to_json` gives are part of
the JSON of `accord crosscheck`: they and the order of levels must stay. A level may be added: a
name in `Level` and a field of the same name in `Levels`; its finding is made in crosscheck and its
words in report. `verdict_of` is strict on purpose: what is not judged must never pass
(test_outcomes). The third in `unless_few` may be tuned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from roboaccord.contract.profiles import given
from roboaccord.contract.results import Json

Level = Literal[
    "acceleration", "drive", "scheme", "repeat", "invariance", "one_step", "trajectory",
    "statistics", "events", "energy",
]  # fmt: skip
Outcome = Literal["within", "outside", "not_judged", "excused", "does_not_apply"]
BELOW = "below round-off"
Verdict = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True)
class Cause:
    """Hold what is off.

    Args:
        quantity: mass, gear, delay, sign of rate, ...
        where: link or joint, a pair of them, `*` for each; "" where there is one of it.
        size: by how much, a part of the quantity where the unit is 1; None where it has none.
        interval: of 95 %, low and high; None where there is none.
        unit: of both.
        axis: along or about which, or component; "" where it has none.
    """

    quantity: str
    where: str = ""
    size: float | None = None
    interval: tuple[float, float] | None = None
    unit: str = ""
    axis: str = ""


@dataclass(frozen=True)
class Finding:
    """Hold the outcome of one level of one engine.

    Args:
        level, engine: which.
        outcome: of the level.
        reason: why it is not simply within; "" where it is.
        quantity: what is off: mass, axis, friction, ...; "" where nothing is, or it is unknown.
        where: the link, joint or time where it is off; "" likewise.
        stands_in: whether it is the outcome of another level, which stands in for this one.
        smaller: whether a smaller physics step would decide.
    """

    level: Level
    engine: str
    outcome: Outcome
    reason: str = ""
    quantity: str = ""
    where: str = ""
    stands_in: bool = False
    smaller: bool = False

    def to_json(self) -> Mapping[str, Json]:
        """Return what stands below level and engine."""
        return {name: getattr(self, name) for name in ("outcome", "reason", "quantity", "where")}


Findings = Mapping[str, Finding]
"""By engine."""


@dataclass(frozen=True)
class Levels:
    """Hold the findings of a check by level and engine; none of a level that was not checked."""

    acceleration: Findings = field(default_factory=dict)
    drive: Findings = field(default_factory=dict)
    scheme: Findings = field(default_factory=dict)
    repeat: Findings = field(default_factory=dict)
    invariance: Findings = field(default_factory=dict)
    one_step: Findings = field(default_factory=dict)
    trajectory: Findings = field(default_factory=dict)
    statistics: Findings = field(default_factory=dict)
    events: Findings = field(default_factory=dict)
    energy: Findings = field(default_factory=dict)

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Levels:
        """Sort findings by level."""
        found: dict[str, Findings] = {
            level: {f.engine: f for f in findings if f.level == level} for level in get_args(Level)
        }
        return cls(**found)

    def checked(self) -> dict[str, Findings]:
        """Return the levels that were checked."""
        return {level: findings for level, findings in vars(self).items() if findings}

    def to_json(self) -> Mapping[str, Findings]:
        """Return the levels that were checked."""
        return self.checked()


def outside(level: Level, engine: str, reason: str, quantity: str = "", where: str = "") -> Finding:
    """Return a finding with the outcome `outside`."""
    return Finding(level, engine, "outside", reason, quantity, where)


def stand_in(found: Finding, level: Level, reason: str) -> Finding:
    """Return for a level that does not apply the outcome of the one that stands in for it."""
    return replace(found, level=level, reason=reason, quantity="", where="", stands_in=True)


def unless_few(found: Finding, judged: float, total: float, what: str = "ticks") -> Finding:
    """Return a finding, not judged where it is within on fewer than a third of what there is.

    Args:
        found: of a level.
        judged, total: number of ticks that were judged, and that the level set out to judge.
        what: they are, in words.
    """
    if found.outcome != "within" or 3 * judged >= total:
        return found
    share = f"{judged:.0f} of {total:.0f} {what} ({100 * judged / total:.2g} %) could be judged"
    return replace(found, outcome="not_judged", reason=f"only {share}: a third is needed")


def excuse(
    findings: Iterable[Finding], excuses: Mapping[Level, Mapping[str, str]]
) -> list[Finding]:
    """Return findings with the excuses of a scenario applied to those that are not within."""
    return [
        replace(f, outcome="excused", reason=f"{reason} ({f.reason})")
        if f.outcome in ("outside", "not_judged")
        and (reason := given(excuses.get(f.level, {}), f.engine))
        else f
        for f in findings
    ]


def verdict_of(findings: Sequence[Finding]) -> Verdict | None:
    """Return the verdict: None where there is no engine to judge."""
    if not findings:
        return None
    outcomes = {f.outcome for f in findings}
    if "outside" in outcomes:
        return "fail"
    return "undecided" if "not_judged" in outcomes else "pass"


def remarks(findings: Iterable[Finding], excuses: Mapping[Level, Mapping[str, str]]) -> list[str]:
    """Return in words what is excused or allowed, what is below round-off, and unused excuses."""
    found = []
    for f in findings:
        if f.outcome == "excused" and not f.stands_in:
            found.append(f"{f.engine}: {f.level} excused: {f.reason}")
        elif f.outcome == "within" and f.reason and not f.stands_in:
            found.append(f"{f.engine}: {f.level} within: {f.reason}")
        elif f.outcome == "does_not_apply" and f.level == "trajectory":
            found.append(f"{f.engine}: no trajectory: {f.reason}")
        if f.outcome == "within" and given(excuses.get(f.level, {}), f.engine) is not None:
            found.append(f"{f.engine}: {f.level} needs no excuse here")
    return found
