"""Ten public robots through every engine: which levels of the cross-check each passes.

    make .venv/.fleet
    nice python -m benchmarks.campaigns.engines --out FILE

The robots come with the wheel example-robot-data. Each is cross-checked in one engine at a time, in
a process of its own, under random efforts for DURATION from rest, without the damping of its file:
at 1 ms a damping of 1 N m s/rad at a light wrist diverges in every engine that adds it explicitly.
Rows of what is done are kept. An engine that is not installed is said, and left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pinocchio
from benchmarks.campaigns.rows import complete
from roboaccord.engines import spec
from roboaccord.engines.spec import Missing

PREFIX = Path(pinocchio.__file__).resolve().parents[4]  # of the wheels made by cmeel
COLLECTION = PREFIX / "share/example-robot-data/robots"
# By name: file, and how the base moves.
ROBOTS = {
    "Kinova": ("kinova_description/robots/kinova.urdf", "fixed"),
    "SO-101": ("so_arm_description/urdf/so101.urdf", "fixed"),
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "fixed"),
    "xArm 7": ("xarm_description/urdf/xarm7.urdf", "fixed"),
    "Z1": ("z1_description/urdf/z1.urdf", "fixed"),
    "Bolt": ("bolt_description/robots/bolt.urdf", "free"),
    "Solo 12": ("solo_description/robots/solo12.urdf", "free"),
    "Go2": ("go2_description/urdf/go2.urdf", "free"),
    "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "free"),
}
ENGINES = ("dart", "mujoco", "drake", "mjwarp", "newton", "sapien")
# s: 50 physics steps of 1 ms, ten control periods; enough for 1e-5 of a rate to show.
DURATION, PERIOD = 0.05, 0.005
LIMIT = 1800  # s by the clock, for one check


@dataclass(frozen=True)
class Row:
    """What a check says.

    Args:
        robot, engine: names.
        status: verdict, or `refused`.
        error: largest relative error of accelerations at random states.
        order: of convergence; None where round-off hides it.
        levels: outcome of each level.
        why: reasons of what is outside or refused.
        cpu: time of the process [s].
    """

    robot: str
    engine: str
    status: str
    error: float | None = None
    order: float | None = None
    levels: dict[str, str] = field(default_factory=dict)
    why: str = ""
    cpu: float = 0.0


def check(call: tuple[str, str]) -> Row:
    """Return the row of one robot in one engine."""
    robot, engine = call
    name, base = ROBOTS[robot]
    file = COLLECTION / name
    keys = {
        "duration": DURATION,
        "control_period": PERIOD,
        "parameters.damping": 0,
        "controller.name": "random",
        "crosscheck.states": 10,
    }
    sets = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as out:
        words = [str(file), "--base", base, "--engines", engine, *sets, "--json", "--out", out]
        command = [sys.executable, "-m", "roboaccord.cli.main", "crosscheck", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    took = time.perf_counter() - begin
    if not done.stdout:
        return Row(robot, engine, "refused", why=done.stderr.strip().splitlines()[-1], cpu=took)
    report: dict[str, Any] = json.loads(done.stdout)
    if engine not in report["acceleration"]:
        why = done.stderr.strip().splitlines()[-1]
        return Row(robot, engine, "refused", why=why, cpu=took)
    levels = {level: each[engine] for level, each in report["levels"].items()}
    outside = {k: v for k, v in levels.items() if v["outcome"] in ("outside", "not_judged")}
    error = report["acceleration"][engine]
    order = report["trajectory"][engine]["order"]
    why = "; ".join(f"{k}: {v['reason']}" for k, v in outside.items())
    outcomes = {level: each["outcome"] for level, each in levels.items()}
    return Row(robot, engine, report["verdict"], error, order, outcomes, why, took)


def line(row: Row) -> str:
    """Return a row of the table."""
    error = "" if row.error is None else f"{row.error:.1e}"
    order = "" if row.order is None else f"{row.order:.2f}"
    outside = ", ".join(k for k, v in row.levels.items() if v == "outside")
    cells = row.robot, row.engine, row.status, error, order, outside or row.why, f"{row.cpu:.0f}"
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file of the rows")
    parser.add_argument("--engines", default=",".join(ENGINES), help="names, with commas between")
    options = parser.parse_args()
    engines = []
    for name in options.engines.split(","):
        found = spec(name).look()
        if isinstance(found, Missing):
            print(found.reason)
        else:
            engines.append(name)
    calls = [(robot, engine) for robot in ROBOTS for engine in engines]
    show = partial(print, flush=True)
    rows = complete(options.out, Row, check, calls, lambda row: show(line(row)), 1)
    print("\n".join(map(line, rows)))


if __name__ == "__main__":
    main()
