"""How many targets an arm of the Packbot with failed joints reaches, with recovery and without.

The targets are the finger tips of random clear poses of the healthy arm; with a failed turret they
lie in the plane to which it confines the arm. A target is reachable if there is a path to it; each
is then reached for in the engine, also by the controller that ignores failures (baseline). Without
--fault each joint is loose and frozen at three angles, and five pairs fail. With --model-error each
target has an arm that differs from its model, the same for all cases, and healthy arms are there,
too: the distance from where the plain controller ends is shown. A run goes on from its file.

    make recovery RECOVERY="--targets 20 --seed 2 --out FILE --figure recovered.svg"
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.campaigns.attempts import Attempt, reach_for
from benchmarks.campaigns.rows import campaign_parser, complete
from packbot import Clearance, Kinematics
from packbot.controllers.trial import clear_start
from packbot.model.parameters import JOINTS
from packbot.planning.recovery import REASONS
from roboaccord.cli import load_setup
from roboaccord.contract import Array, Fault, to_json
from roboaccord.report import BLUE, RED, RULE, legend, picture
from roboaccord.scenario import Setup

# Of a joint's range, at which it is frozen: the middle and halfway to both ends.
PARTS = (0.25, 0.5, 0.75)
PAIRS = (
    ("turret=loose", "wrist=frozen:0.5"),
    ("shoulder=frozen:1.2", "tilt=loose"),
    ("elbow1=frozen:-1.0", "pan=frozen:0.5"),
    ("elbow2=loose", "wrist=loose"),
    ("shoulder=frozen:2.0", "elbow2=loose"),
)


def all_cases(setup: Setup) -> list[tuple[str, ...]]:
    """Return the faults of the study: each joint loose and frozen at three angles, and pairs."""
    cases = list[tuple[str, ...]]()
    for joint, low, high in zip(JOINTS, *setup.parameters.limits, strict=True):
        cases.append((f"{joint}=loose",))
        cases += [(f"{joint}=frozen:{low + part * (high - low):.3g}",) for part in PARTS]
    return [*cases, *PAIRS]


def draw_targets(setup: Setup, count: int, seed: int) -> Array:
    """Return targets (count, 3) [m]: finger tips of random poses of the healthy arm, all clear.

    With a failed turret they lie in the plane that it leaves: others have no chance.
    """
    p, clearance, kinematics = setup.parameters, Clearance.of(setup), Kinematics(setup)
    rng, found = np.random.default_rng(seed), list[Array]()
    turret = any(fault.joint == JOINTS[0] for fault in setup.faults)
    while len(found) < count:
        q = rng.uniform(*p.limits)
        if turret:
            q[0] = setup.initial.q[0]
        if not clearance.touches(q):
            found.append(kinematics.tip(q))
    return np.array(found)


@dataclass(frozen=True, kw_only=True)
class RecoveryCounts:
    """Hold how many targets are reachable with faults, recovered, reached by the baseline."""

    faults: list[str]
    targets: int
    reachable: int
    recovered: int
    baseline: int
    refused: Mapping[str, int]
    disputed: int
    beyond: int
    worst_error: float | None
    worst_measured: float | None
    worst_apart: float | None
    worst_load: float | None
    failed: Mapping[str, int]


def counts(faults: Iterable[Fault], attempts: Sequence[Attempt]) -> RecoveryCounts:
    """Return the counts of attempts with faults."""
    reachable = [attempt for attempt in attempts if not attempt.judged]
    refused = Counter(attempt.refused for attempt in attempts if attempt.refused)
    tried = [attempt for attempt in attempts if not attempt.refused]
    there = [attempt for attempt in tried if attempt.recovered]
    failed = list(map(str, faults))
    return RecoveryCounts(
        faults=failed,
        targets=len(attempts),
        reachable=len(reachable),
        recovered=sum(attempt.recovered for attempt in reachable),
        baseline=sum(attempt.baseline for attempt in reachable),
        refused={reason: refused[reason] for reason in REASONS if refused[reason]},
        disputed=sum(bool(a.refused) and a.judged != a.refused for a in attempts),
        beyond=sum(attempt.recovered and bool(attempt.judged) for attempt in attempts),
        worst_error=max((attempt.error for attempt in there), default=None),
        worst_measured=max((attempt.measured for attempt in there), default=None),
        worst_apart=None if failed else max((attempt.apart for attempt in tried), default=None),
        worst_load=max((attempt.load for attempt in tried), default=None),
        failed=Counter(a.fault for a in tried if not a.recovered),
    )


def calls(
    setups: Sequence[Setup], engine: str, seed: int, count: int, scale: float | None
) -> Iterator[tuple[str, str, Array, float | None, int, Array]]:
    """Yield the arguments of `reach_for` for the targets of each setup."""
    for setup in setups:
        start = clear_start(setup)
        targets = draw_targets(start, count, seed)
        data = json.dumps({**start.scenario.data(), "seed": seed}, sort_keys=True)
        first = targets[0]
        yield from ((data, engine, first, scale, i, target) for i, target in enumerate(targets))


def draw_recovery(found: Sequence[RecoveryCounts], path: Path) -> None:
    """Draw how many targets of each case are reachable, recovered, and reached by the baseline."""
    with picture(path, (7.5, 1.5 + 0.24 * len(found))) as axes:
        places = np.arange(len(found))[::-1]
        kinds = (("reachable", RULE, 0.8), ("recovered", BLUE, 0.5), ("baseline", RED, 0.2))
        for key, colour, height in kinds:
            values = [getattr(case, key) for case in found]
            axes.barh(places, values, height=height, color=colour, label=key)
        axes.set_yticks(places, [", ".join(case.faults) or "none" for case in found])
        axes.set(xlabel="targets")
        legend(axes, 3)


@dataclass(frozen=True)
class Row:
    """Hold what came of a target with the faults of a case, none for a healthy arm."""

    engine: str
    case: str
    seed: int
    scale: float | None
    index: int
    attempt: dict[str, Any]


def carry_out(call: tuple[str, str, int, float | None, int]) -> Row:
    """Reach for a target."""
    engine, case, seed, scale, index = call
    setup = load_setup("packbot", "reach", faults=case.split())
    *_, last = calls([setup], engine, seed, index + 1, scale)
    return Row(*call, asdict(reach_for(*last)))


def main() -> None:
    """Run what is not in the file yet, then count and draw."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--figure", type=Path, help="to draw")
    parser.add_argument("--fault", action="append", help="JOINT=KIND of one case; repeatable")
    parser.add_argument("--targets", type=int, default=200, help="of each case")
    parser.add_argument("--engine", default="reference", help="that simulates the arm")
    parser.add_argument("--seed", type=int, default=0, help="of the targets")
    parser.add_argument("--model-error", type=float, help="multiple of the stated uncertainties")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    asked = parser.parse_args()
    cases = [tuple(asked.fault)] if asked.fault else all_cases(load_setup("packbot", "reach"))
    if asked.model_error is not None and not asked.fault:
        cases = [(), *cases]
    jobs = [
        (asked.engine, " ".join(case), asked.seed, asked.model_error, i)
        for case in cases
        for i in range(asked.targets)
    ]
    rows = complete(asked.out, Row, carry_out, jobs, lambda row: None, asked.jobs)
    found = []
    for case in cases:
        mine = [Attempt(**row.attempt) for row in rows if row.case == " ".join(case)]
        found.append(counts(load_setup("packbot", "reach", faults=[*case]).faults, mine))
        print(json.dumps(to_json(found[-1])))
    keys = ("targets", "reachable", "recovered", "baseline", "disputed")
    print(json.dumps({key: sum(getattr(case, key) for case in found) for key in keys}))
    if asked.figure:
        draw_recovery(found, asked.figure)


if __name__ == "__main__":
    main()
