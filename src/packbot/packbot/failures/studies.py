"""Recovery over many targets: what a failed arm reaches, with recovery and without."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.numerics.parallel import in_processes
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

from packbot.contact.clearance import Clearance
from packbot.failures.reaching import clear_start, run_reach
from packbot.failures.recovery import REASONS
from packbot.model.kinematics import Kinematics
from packbot.model.parameters import JOINTS

CHUNK = 10  # targets that a process reaches for, one after the other
PARTS = (0.25, 0.5, 0.75)  # of a joint's range, at which it is frozen
PAIRS = (
    ("turret=loose", "wrist=frozen:0.5"),
    ("shoulder=frozen:1.2", "tilt=loose"),
    ("elbow1=frozen:-1.0", "pan=frozen:0.5"),
    ("elbow2=loose", "wrist=loose"),
    ("shoulder=frozen:2.0", "elbow2=loose"),
)


@dataclass(frozen=True)
class Attempt:
    """Hold what came of a target.

    Args:
        index: of the target.
        refused: why, one of `REASONS`; "" if the planner found a way.
        recovered: whether the failed arm reached it.
        baseline: whether the controller did that ignores failures.
        error: of the finger tips in the end [m]; 0 if refused.
        load: greatest effort over its limit.
        fault: what went wrong in the run, if something did.
    """

    index: int
    refused: str
    recovered: bool = False
    baseline: bool = False
    error: float = 0.0
    load: float = 0.0
    fault: str = ""


def all_cases(setup: Setup) -> list[tuple[str, ...]]:
    """Return the faults of the study: each joint loose and frozen at three angles, and pairs."""
    p = setup.parameters
    lower, upper = p.of_joints("lower"), p.of_joints("upper")
    cases = list[tuple[str, ...]]()
    for joint, low, high in zip(JOINTS, lower, upper, strict=True):
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
        q = rng.uniform(p.of_joints("lower"), p.of_joints("upper"))
        if turret:
            q[0] = setup.initial.q[0]
        if not clearance.touches(q):
            found.append(kinematics.tip(q))
    return np.array(found)


def recover(
    setup: Setup,
    count: int,
    engine: str,
    seed: int,
    *,
    known: Sequence[Attempt] = (),
) -> Iterator[list[Attempt]]:
    """Yield attempts at targets as they are done, on all cores.

    Args:
        setup: robot, scenario and faults; its start is clear.
        count: of targets.
        engine: name.
        seed: of the targets and of the planner.
        known: attempts that are done.
    """
    targets = draw_targets(setup, count, seed)
    done = {attempt.index for attempt in known}
    left = [i for i in range(count) if i not in done]
    chunks = [left[i : i + CHUNK] for i in range(0, len(left), CHUNK)]
    data = {**setup.scenario.data(), "seed": seed}
    calls = ((data, chunk, targets[chunk], engine) for chunk in chunks)
    yield from in_processes(_reach_for, calls, ordered=False)


def _reach_for(
    data: Mapping[str, Any], indices: Sequence[int], targets: Array, engine: str
) -> list[Attempt]:
    setup, planner, found = Setup.of(make_scenario(data)), None, list[Attempt]()
    for index, target in zip(indices, targets, strict=True):
        if planner is not None and planner.reach(target).reason:
            found.append(Attempt(index, planner.reach(target).reason))
            continue
        run = run_reach(setup, target, engine, planner=planner)
        planner = run.planner or planner
        if run.reason in REASONS and (planner is None or planner.reach(target).reason):
            found.append(Attempt(index, run.reason))
            continue
        ignored = run_reach(setup, target, engine, ignore=True)
        found.append(
            Attempt(index, "", run.reached, ignored.reached, run.error, run.load, run.reason)
        )
    return found


def counts(attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Return how many targets are reachable, recovered, reached by the baseline, and refused."""
    refused = Counter(attempt.refused for attempt in attempts if attempt.refused)
    tried = [attempt for attempt in attempts if not attempt.refused]
    return {
        "targets": len(attempts),
        "reachable": len(tried),
        "recovered": sum(attempt.recovered for attempt in tried),
        "baseline": sum(attempt.baseline for attempt in tried),
        "refused": {reason: refused[reason] for reason in REASONS if refused[reason]},
        "worst_error": max((attempt.error for attempt in tried if attempt.recovered), default=None),
        "worst_load": max((attempt.load for attempt in tried), default=None),
        "failed": dict(Counter(a.fault for a in tried if not a.recovered)),
    }


class Ledger:
    """Keep attempts in a file, a line each, so that a study that was ended can go on.

    Args:
        path: of the file; None keeps nothing.
        options: of the study, which those of the file must be.

    Raises:
        AccordError: if the file is of another study, or cannot be read.
    """

    def __init__(self, path: Path | None, options: Mapping[str, Any]) -> None:
        self._path, self.attempts = path, list[Attempt]()
        if path is None:
            return
        head = json.dumps(dict(options), sort_keys=True)
        if not path.exists():
            path.write_text(head + "\n", encoding="utf-8")
            return
        try:
            first, *lines = path.read_text(encoding="utf-8").splitlines()
            self.attempts = [Attempt(**json.loads(line)) for line in lines if line.endswith("}")]
        except (OSError, ValueError, TypeError):
            raise AccordError(f"{path} holds no attempts") from None
        if first != head:
            raise AccordError(f"{path} is of another study: choose another --out")

    def add(self, attempts: Sequence[Attempt]) -> None:
        """Add attempts, and write them."""
        self.attempts += attempts
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(each)) + "\n" for each in attempts)


def study(
    setup: Setup,
    count: int,
    engine: str,
    seed: int,
    folder: Path | None,
    done: Callable[[int], None],
) -> list[Attempt]:
    """Return the attempts at all targets of a setup's faults, those kept in a folder included."""
    faults = [str(fault) for fault in setup.faults]
    name = "_".join(faults).replace("=", "-").replace(":", "") or "healthy"
    options = {"faults": faults, "targets": count, "engine": engine, "seed": seed}
    ledger = Ledger(folder / f"{name}.jsonl" if folder else None, options)
    done(len(ledger.attempts))
    for attempts in recover(clear_start(setup), count, engine, seed, known=ledger.attempts):
        ledger.add(attempts)
        done(len(attempts))
    return sorted(ledger.attempts, key=lambda attempt: attempt.index)
