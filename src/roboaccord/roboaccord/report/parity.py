"""The page of a parity check: all robots against all engines, with causes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roboaccord.report.page import render_page


def render_parity(result: Mapping[str, Any]) -> str:
    """Return the page as HTML; `result` is what `accord parity --json` prints."""
    robots, engines = result["robots"], list(result["versions"])
    alike = sum(all(e["status"] == "same" for e in r["engines"].values()) for r in robots)
    one = len(robots) == 1
    return render_page(
        "parity.html",
        title=f"What engines make of {robots[0]['name'] if one else f'{len(robots)} robots'}",
        lead=f"{alike} of {len(robots)} read alike by the reference, {', '.join(engines)}.",
        result=result,
        engines=engines,
        groups={robot["file"]: _groups(robot) for robot in robots},
    )


def _groups(robot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the causes of a robot's differences, the places of each engine's together."""
    found = dict[tuple[Any, ...], dict[str, Any]]()
    for engine, seen in robot["engines"].items():
        for cause in seen["causes"]:
            key = engine, cause["cause"], cause["before"], cause["after"]
            entry = {"engine": engine, "status": seen["status"], "where": [], **cause}
            entry["where"] = []
            found.setdefault(key, entry)["where"].append(cause["where"])
    return list(found.values())
