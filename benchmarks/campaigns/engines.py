"""Robots through every engine: which levels of the cross-check each passes.

    make .venv/.fleet
    nice python -m benchmarks.campaigns.engines --out FILE

The robots are ten public ones, of the wheel example-robot-data, and those of this workspace in all
their scenarios. Each is cross-checked in one engine at a time. The public ones move under random
efforts for DURATION from rest, without the damping of their files: at 1 ms a damping of 1 N m s/rad
at a light wrist diverges in every engine that adds it explicitly. A scenario lasts STEPS physics
steps, or one control period. Rows of what is done are kept. An engine that is not installed is
said, and left out.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pinocchio
from benchmarks.campaigns.rows import campaign_parser, complete
from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.engines import spec
from roboaccord.engines.spec import Missing
from roboaccord.scenario import Setup, find_robot, scenario_names
from roboaccord.scenario.setups import load_setup

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
WORKSPACE = ("snake", "monkeybot", "packbot", "voxel_sphere", "roller_sphere")
ENGINES = ("dart", "mujoco", "drake", "mjwarp", "newton", "sapien")
# s: 50 physics steps of 1 ms, ten control periods; enough for 1e-5 of a rate to show.
DURATION, PERIOD = 0.05, 0.005
# Physics steps of a scenario; MuJoCo Warp needs 20 ms for each, and a check some fifteen runs.
STEPS, SLOW_STEPS = 50, {"mjwarp": 5}
STATES = 10  # random states at which accelerations are compared


@dataclass(frozen=True)
class Row:
    """What a check says.

    Args:
        robot: name; one of this workspace with its scenario, such as `snake steer`.
        engine: name.
        status: verdict, or `refused`.
        error: largest relative error of accelerations at random states.
        order: of convergence; None where round-off hides it.
        levels: outcome of each level.
        why: reasons of what is outside or refused.
        cpu: time that it took [s].
    """

    robot: str
    engine: str
    status: str
    error: float | None = None
    order: float | None = None
    levels: dict[str, str] = field(default_factory=dict)
    why: str = ""
    cpu: float = 0.0


def scenarios() -> list[str]:
    """Return the robots of this workspace, each with each of its scenarios."""
    names = {robot: scenario_names(find_robot(robot).package) for robot in WORKSPACE}
    return [f"{robot} {scenario}" for robot in WORKSPACE for scenario in names[robot]]


def public_setup(robot: str) -> Setup:
    """Return a public robot under random efforts."""
    name, base = ROBOTS[robot]
    keys = {
        "duration": DURATION,
        "control_period": PERIOD,
        "parameters.damping": 0,
        "controller.name": "random",
        "crosscheck.states": STATES,
    }
    changes = [f"{key}={value}" for key, value in keys.items()]
    return load_setup(str(COLLECTION / name), changes=changes, base=base)


def scenario_setup(names: str, engine: str) -> Setup:
    """Return a robot of this workspace in the beginning of a scenario."""
    robot, scenario = names.split()
    full = load_setup(robot, scenario).scenario
    steps = SLOW_STEPS.get(engine, STEPS)
    periods = max(1, round(steps * full.physics_step / full.control_period))
    keys = {
        "duration": f"{periods * full.control_period:.9g}",
        "crosscheck.states": STATES,
        # Figures of chaotic motions are those of a whole motion.
        "crosscheck.statistics": "null",
    }
    return load_setup(robot, scenario, [f"{key}={value}" for key, value in keys.items()])


def check(call: tuple[str, str]) -> Row:
    """Return the row of one robot in one engine."""
    robot, engine = call
    begin = time.perf_counter()
    try:
        setup = public_setup(robot) if robot in ROBOTS else scenario_setup(robot, engine)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            checked = run_crosscheck(setup, [engine], refine=3, out=out)
    except AccordError as refusal:
        took = time.perf_counter() - begin
        return Row(robot, engine, "refused", why=str(refusal), cpu=took)
    report: dict[str, Any] = checked.to_json()
    levels = {level: each[engine] for level, each in report["levels"].items() if engine in each}
    judged = {k: v for k, v in levels.items() if v["outcome"] in ("outside", "not_judged")}
    why = "; ".join(f"{k}: {v['reason']}" for k, v in judged.items())
    outcomes = {level: each["outcome"] for level, each in levels.items()}
    error, order = report["acceleration"][engine], report["trajectory"][engine]["order"]
    took = time.perf_counter() - begin
    return Row(robot, engine, report["verdict"], error, order, outcomes, why, took)


def line(row: Row) -> str:
    """Return a row of the table."""
    error = "" if row.error is None else f"{row.error:.1e}"
    order = "" if row.order is None else f"{row.order:.2f}"
    outside = ", ".join(k for k, v in row.levels.items() if v == "outside")
    cells = row.robot, row.engine, row.status, error, order, outside or row.why, f"{row.cpu:.0f}"
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = campaign_parser(__doc__, "file of the rows")
    parser.add_argument("--engines", default=",".join(ENGINES), help="names, with commas between")
    parser.add_argument("--robots", default="", help="how names begin; all by default")
    options = parser.parse_args()
    engines = []
    for name in options.engines.split(","):
        found = spec(name).look()
        if isinstance(found, Missing):
            print(found.reason)
        else:
            engines.append(name)
    begins = tuple(options.robots.split(","))
    robots = [each for each in [*ROBOTS, *scenarios()] if each.startswith(begins)]
    calls = [(robot, engine) for robot in robots for engine in engines]
    show = partial(print, flush=True)
    rows = complete(options.out, Row, check, calls, lambda row: show(line(row)), 1)
    print("\n".join(map(line, rows)))


if __name__ == "__main__":
    main()
