"""The page of a parity check: all robots against all engines, with causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roboaccord.contract.outcome import Verdict
from roboaccord.report.page import render_page


def render_parity(result: Mapping[str, Any]) -> str:
    """Return the page as HTML; `result` is what `accord parity --json` prints."""
    robots, engines = result["robots"], list(result["versions"])
    alike = sum(map(agree, robots))
    one = len(robots) == 1
    return render_page(
        "parity.html",
        title=f"What engines make of {robots[0]['name'] if one else f'{len(robots)} robots'}",
        lead=f"{alike} of {len(robots)} read alike by the reference, {', '.join(engines)}.",
        result=result,
        engines=engines,
        groups={robot["file"]: group_causes(robot) for robot in robots},
        apart={robot["file"]: apart_lines(robot) for robot in robots},
    )


def agree(robot: Mapping[str, Any]) -> bool:
    """Return whether all engines read a robot as the reference does."""
    return all(engine["status"] == "same" for engine in robot["engines"].values())


def verdict_of(robots: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return whether all engines read all robots as the reference does, as far as they answered."""
    found = {engine["status"] for robot in robots for engine in robot["engines"].values()}
    if found & {"differ", "refused"}:
        return "fail"
    return "undecided" if "undecided" in found else "pass"


def group_causes(robot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the causes of a robot's differences, with engine, status and all their places."""
    found = dict[tuple[Any, ...], dict[str, Any]]()
    for engine, seen in robot["engines"].items():
        for cause in seen["causes"]:
            key = engine, cause["cause"], cause["before"], cause["after"]
            # What mimic does changes no status: an engine that reads the rest alike refuses that.
            status = "refused" if seen["status"] == "same" else seen["status"]
            entry = {"engine": engine, "status": status, **cause, "where": []}
            found.setdefault(key, entry)["where"].append(cause["where"])
    return list(found.values())


def apart_lines(robot: Mapping[str, Any]) -> list[str]:
    """Return a line for each engine that has what is kept apart otherwise than the file."""
    lines = list[str]()
    for name, engine in robot["engines"].items():
        found = [
            f"{quantity} of {len(places)} joint{'s' * (len(places) > 1)}"
            for quantity, places in engine["apart"].items()
            if quantity not in ("geometry", "refused")
        ]
        for kind, (said, have) in engine["apart"].get("geometry", {}).items():
            found.append(f"{have} collision shapes of kind {kind} for {said}")
        if "refused" in engine["apart"]:
            found.append(f"with mimic and transmissions: {engine['apart']['refused']}")
        if found:
            lines.append(f"apart from this, {name} has otherwise: {', '.join(found)}")
    return lines
