"""The 68 robots of example-robot-data in all engines, beside counts from the raw libraries.

    make .venv/.fleet && .venv/bin/python -m benchmarks.campaigns.collection

What is counted: accelerations like the reference's, with joints that mimic others and without; the
order of joints; robots that MuJoCo loads as shipped; differences that are not explained. The counts
were made before, from DART, MuJoCo and Drake alone. A sample of these robots is in the slow tests.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import roboaccord as ra

ENGINES = ("dart", "mujoco", "drake")
SAME = 1e-8  # relative error of accelerations, as in docs/parity.md
# Numbers of robots at the last count, beside which a change is shown.
COUNTED = {
    "robots": 68, "same": 37, "same without mimic": 29, "order in dart": (28, 66),
    "order in mujoco": (33, 45), "loaded by mujoco as shipped": 10, "not explained": 0,
}  # fmt: skip


def folder() -> Path:
    """Return where the robots are installed."""
    folders = Path(sys.prefix).glob("lib/*/site-packages/*/share/example-robot-data/robots")
    return min(folders)


def causes(robot: Mapping[str, Any], engine: str) -> set[str]:
    return {cause["cause"] for cause in robot["engines"][engine]["causes"]}


def alike(robot: Mapping[str, Any], engine: str) -> bool:
    """Return whether an engine has all but limits of joints as the file has them."""
    reading = robot["engines"][engine]
    only_limits = reading["worst"] is not None and reading["worst"]["quantity"] == "limit"
    return reading["status"] == "same" or (only_limits and reading["acceleration"] < SAME)


def counts(robots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is counted; SDF files with joints that no URDF has, and empty robots, are out."""
    robots = [r for r in robots if not (r["file"].endswith(".sdf") or r["unread"])]
    same = [r for r in robots if all(alike(r, e) for e in ENGINES)]
    counted: dict[str, Any] = {
        "robots": len(robots),
        "same": len(same),
        "same without mimic": sum(all("mimic" not in causes(r, e) for e in ENGINES) for r in same),
    }
    for engine in ("dart", "mujoco"):
        read = [r for r in robots if r["joints"] and r["engines"][engine]["status"] != "refused"]
        kept = sum("joint order" not in causes(r, engine) for r in read)
        counted[f"order in {engine}"] = (kept, len(read))
    shipped = [r["engines"]["mujoco"]["shipped"]["status"] == "loaded" for r in robots]
    counted["loaded by mujoco as shipped"] = sum(shipped)
    open_ = {"not explained", "crash"}
    counted["not explained"] = sum(bool(causes(r, e) & open_) for r in robots for e in r["engines"])
    return counted


def main() -> int:
    """Print the counts, and those that are not as before."""
    robots: Any = ra.parity(folder()).to_json()["robots"]
    found = counts(robots)
    for what, count in found.items():
        before = "" if count == COUNTED[what] else f", {COUNTED[what]} before"
        print(f"{what}: {count}{before}")
    return int(found != COUNTED)


if __name__ == "__main__":
    sys.exit(main())
