"""Partial faults of the Packbot's arm, and what the detector makes of them, by kind and size.

    python benchmarks/campaigns/partial_faults.py [ARMS] [FIRST_SEED]

Arms are drawn within the stated uncertainties, as by `make detection`. Turret,
shoulder, elbow 1 or elbow 2 fails at a random time; the detector sees 2.5 s before and 4 s after.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
from benchmarks.campaigns.failing_arms import AFTER, FIRST, LAST, Bench
from packbot.controllers.diagnosis import Detection
from packbot.model.parameters import JOINTS
from roboaccord.contract.fault import Fault, Kind
from roboaccord_studies.packbot.detection.detected import detections
from roboaccord_studies.packbot.detection.diagnosis import Diagnosis
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

# From what is hardly felt to nearly a whole failure, by factors of 2 to 5.
CASES: list[tuple[Kind, float]] = [
    ("weak", 0.8), ("weak", 0.5), ("weak", 0.2), ("slipping", 0.03), ("slipping", 0.1),
    ("slipping", 0.3), ("backlash", 0.02), ("backlash", 0.1), ("stuck", 0.0), ("drifting", 0.01),
    ("drifting", 0.05), ("frozen", 0.0), ("loose", 0.0),
]  # fmt: skip
"""Kinds and sizes; brakes as a part of the effort limit."""
MOVING = 4  # joints, from the turret on, that move the tips
BEFORE = 2.5  # s: after noise.SETTLING_TIME (1.5 s)
HELD = 0.01  # rad: a brake that turned less has not slipped, and is a lock: half a degree
OPEN = ("undetermined", "unexplained")


def result_of(fault: Fault, found: list[Detection], moved: float) -> str:
    """Return right, held, open, missed or wrong."""
    last = {each.joint: each.kind for each in found if each.time > fault.time}
    last = {joint: kind for joint, kind in last.items() if kind != "healthy"}
    own = last.pop(fault.joint, None)
    held = fault.kind == "slipping" and moved < HELD and own == "frozen"
    if any(kind not in OPEN for kind in last.values()):
        return "wrong"
    if own is None:
        return "open" if last else "missed"
    if own == fault.kind:
        return "right"
    return "held" if held else "open" if own in OPEN else "wrong"


def main(arms: int = 20, first: int = 7000) -> None:
    """Print the counts by kind and size."""
    counts = {case: Counter[str]() for case in CASES}
    delays: dict[tuple[Kind, float], list[float]] = {case: [] for case in CASES}
    for seed in range(first, first + arms):
        bench, rng = Bench(seed, "mujoco", Uncertainty()), np.random.default_rng(seed + 10**6)
        motion, diagnosis = bench._motion(LAST + AFTER), Diagnosis(bench.setup)
        for kind, size in CASES:
            joint, time = int(rng.integers(MOVING)), round(rng.uniform(FIRST, LAST), 2)
            scale = bench.setup.effort_limits[joint] if kind == "slipping" else 1.0
            fault = Fault(JOINTS[joint], kind, time, size=float(size * scale))
            rows, states = bench._run(motion, time + AFTER, fault)
            moved = float(np.ptp(states[rows[:, 0] > time, joint]))
            t, q, qd, effort = np.split(rows[rows[:, 0] > time - BEFORE], (1, 8, 15), axis=1)
            diagnosis.reset()
            found = detections(diagnosis, t.ravel(), q, qd, effort)
            result = result_of(fault, found, moved)
            counts[kind, size][result] += 1
            if result == "right":
                named = (d.time for d in found if (d.joint, d.kind) == (fault.joint, kind))
                delays[kind, size].append(next(at for at in named if at > time) - time)
        print(f"seed {seed}", file=sys.stderr)
    for (kind, size), count in counts.items():
        delay = float(np.median(delays[kind, size])) if delays[kind, size] else float("nan")
        print(f"{kind}:{size:g}", dict(count), f"median delay {delay:.2f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
