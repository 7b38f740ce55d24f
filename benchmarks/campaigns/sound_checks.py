"""How often a cross-check condemns an engine that is right: 400 checks of sound engines.

The checks are drawn from a fixed seed, before any rule that judges them was changed:

    make sound SOUND="--out ../sound.jsonl"
    make sound SOUND="--list"
    make sound SOUND="--sample 60 --out ../sample.jsonl"

Each line of the file holds a check, its verdict and its reasons. A run that was ended goes on from
the file; after a rule has changed, it starts with a new one. The end prints how many are outside or
undecided, with the upper end of the 95 % interval of Clopper and Pearson.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from benchmarks.campaigns.rows import keep, read
from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.scenario import Setup, find_robot, load_scenario
from scipy.stats import beta

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "src/roboaccord/test/data/urdf"
COUNT, SEED = 400, 30  # with no check outside, the upper end of 95 % is 0.9 %
DRAW = "34a26e471631d674078e30117f462753de7ed5ecb31d746b92bf3fdaf0f7def7"
"""SHA-256 of the draw, which holds it as it was when it was made."""
PERIODS = (1, 2, 5, 10)  # ms: 1 kHz to 100 Hz
STEPS = (0.25, 0.5, 1.0, 2.0)  # ms: 1 ms, which is usual, half, quarter and twice of it
# Of the checks, by how much a robot's motions have that can go wrong; files of other robots a
# quarter.
SHARES = {"snake": 0.3, "monkeybot": 0.2, "packbot": 0.15, "voxel_sphere": 0.03,
          "roller_sphere": 0.07, "file": 0.25}  # fmt: skip
SCENARIOS = {
    "snake": ["serpenoid", "steer", "waypoints", "change_of_ground", "lateral_undulation"],
    "monkeybot": ["swing", "climbing", "brachiate", "level", "two_step", "clocked", "flight"],
    "packbot": ["reach", "shelf", "watch_target", "frozen_elbow", "loose_elbow2"],
    "voxel_sphere": ["bowl", "teleop"],
    "roller_sphere": ["figure_eight", "headings", "teleop"],
}
FILE_CONTROLLERS = ("pd", "sine", "random")
DRY = {
    "monkeybot": ["parameters.constant_elbow=0.1", "parameters.viscous_elbow=0.05"],
    "packbot": ["parameters.coulomb_elbow1=1.0", "parameters.coulomb_shoulder=1.0"],
    "roller_sphere": ['friction={"law": "coulomb", "mu": 0.5}'],
    "file": ["parameters.dry_friction=1.0"],
}
"""What dry friction is, in a fifth of the checks; the snake's ground has it always."""
NO_DRAKE = ("packbot", "voxel_sphere", "roller_sphere", "allegro_left_hand.urdf", "bolt.urdf",
            "finger_edu.urdf")  # fmt: skip
NO_MUJOCO = ("allegro_left_hand.urdf", "finger_edu.urdf")
"""What these engines refuse, with the reason, and DART takes."""


@dataclass(frozen=True)
class Check:
    """Hold one check: `accord crosscheck SUBJECT SCENARIO --engines ENGINE --set ...`."""

    subject: str
    scenario: str
    engine: str
    changes: tuple[str, ...]

    def __str__(self) -> str:
        sets = " ".join(f"--set {shlex.quote(change)}" for change in self.changes)
        return f"{self.subject} {self.scenario} --engines {self.engine} {sets}".replace("  ", " ")


@dataclass(frozen=True)
class Outcome:
    """Hold what a check came to; a scenario that an engine refuses has no verdict."""

    check: str
    verdict: str
    reasons: list[str]
    remarks: list[str]
    seconds: float


def draw(count: int, seed: int) -> Iterator[Check]:
    """Yield checks from the ranges that the robots are used in."""
    rng = np.random.default_rng(seed)
    files = sorted(path.name for path in FILES.glob("*.urdf"))
    for _ in range(count):
        kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
        step = float(rng.choice(STEPS))
        period = float(rng.choice([p for p in PERIODS if p % step == 0]))
        changes = [
            f"physics_step={step / 1e3:g}",
            f"control_period={period / 1e3:g}",
            f"seed={rng.integers(1000)}",
            f"crosscheck.duration={round(rng.uniform(0.3, 1.0) / 0.05) * 0.05:.2f}",
        ]
        spread, waves, dry = rng.uniform(0.0, 0.1), rng.uniform(0.5, 3.0), rng.uniform() < 0.2
        engine = str(rng.choice(["dart", "mujoco", "rk4", "drake"], p=[0.4, 0.3, 0.15, 0.15]))
        pick, controller = rng.uniform(), str(rng.choice(FILE_CONTROLLERS))
        if kind == "file":
            subject, scenario = files[int(pick * len(files))], ""
            changes += [f"controller.name={controller}"]
        else:
            names = SCENARIOS[kind]
            subject, scenario = kind, names[int(pick * len(names))]
        if subject in {"drake": NO_DRAKE, "dart": ()}.get(engine, NO_MUJOCO):
            engine = "dart"
        if kind not in ("voxel_sphere", "roller_sphere"):
            changes += [f"initial.spread_q={spread:.3f}"]
        if kind == "snake" and scenario != "lateral_undulation":  # its waves are its segments
            changes += [f"controller.waves={waves:.2f}"]
        if engine == "rk4":
            changes += ["engine_options.mujoco.integrator=rk4"]
        if dry:
            changes += DRY.get(kind, [])
        yield Check(subject, scenario, engine.replace("rk4", "mujoco"), tuple(changes))


def carry_out(check: Check) -> Outcome:
    """Run one check."""
    start = time.perf_counter()
    is_file = check.subject.endswith(".urdf")
    robot = find_robot(str(FILES / check.subject) if is_file else check.subject)
    name = check.scenario or "released"
    try:
        setup = Setup.of(load_scenario(robot.package, robot.key, name, list(check.changes)))
        with tempfile.TemporaryDirectory() as folder:
            report = run_crosscheck(setup, [check.engine], refine=3, out=Path(folder) / "out")
    except AccordError as error:
        return Outcome(str(check), "refused", [str(error)], [], time.perf_counter() - start)
    took = time.perf_counter() - start
    words = list(report.reasons), list(report.remarks)
    return Outcome(str(check), str(report.verdict), *words, took)


def upper(count: int, whole: int) -> float:
    """Return the upper end of the two-sided 95 % interval of a share (Clopper and Pearson)."""
    return float(beta.ppf(0.975, count + 1, whole - count)) if count < whole else 1.0


def main() -> None:
    """Run what is not in the file yet, then count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="file, outside the repository")
    parser.add_argument("--list", action="store_true", help="print the checks only")
    parser.add_argument("--only", default="", help="words that a check must hold")
    parser.add_argument("--sample", type=int, default=COUNT, help="number of checks drawn of these")
    parser.add_argument("--jobs", type=int, default=2, help="checks at a time")
    asked = parser.parse_args()
    checks = list(draw(COUNT, SEED))
    found = hashlib.sha256("\n".join(map(str, checks)).encode()).hexdigest()
    if found != DRAW:
        parser.error(f"the draw has changed: {found}")
    order = np.random.default_rng(SEED).permutation(COUNT)[: asked.sample]
    checks = [checks[i] for i in sorted(order)]
    if asked.list or not asked.out:
        print("\n".join(f"accord crosscheck {check}" for check in checks))
        return
    done = {row.check: row for row in read(asked.out, Outcome)}
    left = [c for c in checks if str(c) not in done and asked.only in str(c)]
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # the checks themselves run side by side
    with get_context("spawn").Pool(asked.jobs) as pool:
        for row in keep(asked.out, pool.imap_unordered(carry_out, left)):
            done[row.check] = row
            print(f"{len(done)} of {len(checks)}: {row.verdict}, {row.seconds:.1f} s, {row.check}")
    judged = [row for row in done.values() if row.verdict != "refused"]
    counts = Counter(row.verdict for row in done.values())
    for row in judged:
        if row.verdict != "pass":
            print(f"{row.verdict}: accord crosscheck {row.check}", *row.reasons, sep="\n    ")
    for verdict, count in counts.items():
        bound = f", below {100 * upper(count, len(judged)):.2g} % with 95 %" * (
            verdict != "refused"
        )
        print(f"{verdict}: {count} of {len(done)}{bound}")


if __name__ == "__main__":
    main()
