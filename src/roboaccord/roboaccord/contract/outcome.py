"""Outcomes of the levels, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Level = Literal["acceleration", "one_step", "trajectory", "statistics"]
Outcome = Literal["within", "outside", "not_judged", "excused"]
BELOW = "below round-off"
Verdict = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True)
class Finding:
    """Hold the outcome of one level of one engine.

    Args:
        level, engine: which.
        outcome: of the level.
        reason: why it is not simply within; "" where it is.
        quantity: what is off: mass, axis, friction, ...; "" where nothing is, or it cannot be told.
        where: the link, joint or time where it is off; "" likewise.
        stands_in: whether it is the outcome of another level, which stands in for this one.
    """

    level: Level
    engine: str
    outcome: Outcome
    reason: str = ""
    quantity: str = ""
    where: str = ""
    stands_in: bool = False


def outside(level: Level, engine: str, reason: str, quantity: str = "", where: str = "") -> Finding:
    """Return a finding with the outcome `outside`."""
    return Finding(level, engine, "outside", reason, quantity, where)


def stand_in(found: Finding, level: Level, reason: str) -> Finding:
    """Return for a level that does not apply the outcome of the one that stands in for it."""
    return replace(found, level=level, reason=reason, quantity="", where="", stands_in=True)


def excuse(
    findings: Iterable[Finding], excuses: Mapping[Level, Mapping[str, str]]
) -> list[Finding]:
    """Return findings with the excuses of a scenario applied to those that are not within."""
    return [
        replace(f, outcome="excused", reason=f"{reason} ({f.reason})")
        if f.outcome in ("outside", "not_judged")
        and (reason := excuses.get(f.level, {}).get(f.engine))
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


def describe_verdict(data: Mapping[str, Any]) -> str:
    """Return a verdict in words: how much was excused, and which part of the run was judged."""
    if data["verdict"] is None:
        return "none: there is no engine beside the reference"
    parts = [str(data["verdict"])]
    if data["excused"]:
        parts.append(f"{data['excused']} excused")
    judged, run = data["judged"], data["duration"]
    if judged < run:
        parts.append(f"judged 0 to {judged:g} s of {run:g} s")
    return ", ".join(parts)


def by_level(findings: Iterable[Finding]) -> dict[str, dict[str, dict[str, str]]]:
    """Return findings as plain data, by level and engine."""
    levels: dict[str, dict[str, dict[str, str]]] = {}
    for finding in findings:
        data = asdict(finding)
        del data["stands_in"]
        levels.setdefault(data.pop("level"), {})[data.pop("engine")] = data
    return levels


def remarks(findings: Iterable[Finding], excuses: Mapping[Level, Mapping[str, str]]) -> list[str]:
    """Return in words what is excused or allowed, what is below round-off, and unused excuses."""
    found = []
    for f in findings:
        if f.outcome == "excused" and not f.stands_in:
            found.append(f"{f.engine}: {f.level} excused: {f.reason}")
        elif f.outcome == "within" and f.reason and not f.stands_in:
            found.append(f"{f.engine}: {f.level} within: {f.reason}")
        if f.outcome == "within" and excuses.get(f.level, {}).get(f.engine):
            found.append(f"{f.engine}: {f.level} needs no excuse here")
    return found
