"""Recovery over many targets: what a failed arm reaches, with recovery and without."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState
from roboaccord.numerics.parallel import in_processes
from roboaccord.run.factory import make_simulator
from roboaccord.run.loop import simulate
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

from packbot.contact.clearance import Clearance
from packbot.failures.controller import RecoveryController
from packbot.failures.reaching import LONGEST, PLANNING, Ending, clear_start, run_reach
from packbot.failures.recovery import REASONS, Recoverer
from packbot.failures.roadmap import Roadmap
from packbot.model.kinematics import Kinematics
from packbot.model.parameters import JOINTS

CHUNK = 25  # targets that a process reaches for, one after the other
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
        judged: why it is not reachable, by the independent roadmap; "" if it is.
        refused: why the planner refused it, one of `REASONS`; "" if it found a way.
        recovered: whether the failed arm reached it.
        baseline: whether the controller did that ignores failures.
        error: of the finger tips in the end [m]; 0 if refused.
        load: greatest effort over its limit.
        fault: what went wrong in the run, if something did.
    """

    index: int
    judged: str
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
    setups: Sequence[Setup], known: Sequence[Collection[int]], count: int, engine: str, seed: int
) -> Iterator[tuple[int, list[Attempt]]]:
    """Yield attempts at targets with the number of their setup as they are done, on all cores.

    Args:
        setups: robot, scenario and faults.
        known: targets of each that are done.
        count: of targets.
        engine: name.
        seed: of the targets and of the planner.
    """

    def calls() -> Iterator[tuple[int, str, str, list[int], Array]]:
        for number, (setup, done) in enumerate(zip(setups, known, strict=True)):
            left = [i for i in range(count) if i not in done]
            setup = clear_start(setup) if left else setup
            targets = draw_targets(setup, count, seed) if left else np.empty((0, 3))
            data = json.dumps({**setup.scenario.data(), "seed": seed}, sort_keys=True)
            for chunk in (left[i : i + CHUNK] for i in range(0, len(left), CHUNK)):
                yield number, data, engine, chunk, targets[chunk]

    yield from in_processes(_reach_for, calls(), ordered=False)


def _reach_for(
    number: int, data: str, engine: str, indices: Sequence[int], targets: Array
) -> tuple[int, list[Attempt]]:
    case = _case(data, engine)
    return number, [case.attempt(i, target) for i, target in zip(indices, targets, strict=True)]


@lru_cache(maxsize=1)
def _case(data: str, engine: str) -> Case:
    return Case(Setup.of(make_scenario(json.loads(data))), engine)


class Resting(RecoveryController):
    """Let a failed arm come to rest, and make its planner there."""

    def _replan(self, state: RobotState) -> None:
        self.planner = Recoverer(self.arm, state.q, self._seed, self._margin)
        self.started, self.done = state.time, True


class Case:
    """Reach for targets with failures: as the planner wants, and as the roadmap judges.

    Args:
        setup: robot, scenario and faults; its start is clear.
        engine: name.
    """

    def __init__(self, setup: Setup, engine: str) -> None:
        self._setup, self._engine = setup, engine
        self._later = any(fault.time > 0.0 for fault in setup.faults)
        self._planner: Recoverer | None = None

    def attempt(self, index: int, target: Array) -> Attempt:
        """Return what comes of a target (3,) [m]."""
        if self._planner is None or self._later:  # it depends on when an arm on its way fails
            self._planner = self._rested(target)
            if self._planner:
                self._roadmap = Roadmap(self._planner.arm, self._planner.present)
        judged = refused = ""
        if self._planner:  # else a failure that nothing shows on the way, and all is reachable
            judged, (refused, _) = self._roadmap.verdict(target), self._planner.find(target)
        if refused:
            return Attempt(index, judged, refused)
        run = run_reach(self._setup, target, self._engine, planner=self._planner)
        ignored = run_reach(self._setup, target, self._engine, ignore=True)
        return Attempt(
            index, judged, "", run.reached, ignored.reached, run.error, run.load, run.reason
        )

    def _rested(self, target: Array) -> Recoverer | None:
        """Return the planner of the failed arm at rest; None if the way ends before it is found."""
        setup = self._setup
        controller = Resting(setup, target.tolist())
        simulate(
            simulator=make_simulator(setup, self._engine),
            controller=controller,
            initial=setup.initial,
            duration=LONGEST,
            control_period=setup.scenario.control_period,
            seed=setup.scenario.seed,
            inputs=Ending(controller, LONGEST),
            timeout=PLANNING,
        )
        return controller.planner


def counts(attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Return how many targets are reachable, recovered, reached by the baseline, and refused."""
    reachable = [attempt for attempt in attempts if not attempt.judged]
    refused = Counter(attempt.refused for attempt in attempts if attempt.refused)
    tried = [attempt for attempt in attempts if not attempt.refused]
    return {
        "targets": len(attempts),
        "reachable": len(reachable),
        "recovered": sum(attempt.recovered for attempt in reachable),
        "baseline": sum(attempt.baseline for attempt in reachable),
        "refused": {reason: refused[reason] for reason in REASONS if refused[reason]},
        "disputed": sum(bool(a.refused) and a.judged != a.refused for a in attempts),
        "beyond": sum(attempt.recovered and bool(attempt.judged) for attempt in attempts),
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
    setups: Sequence[Setup],
    count: int,
    engine: str,
    seed: int,
    folder: Path | None,
    done: Callable[[int], None],
) -> list[list[Attempt]]:
    """Return the attempts at all targets of each setup's faults, those kept in a folder included.

    A study with fewer targets is the beginning of one with more.
    """
    ledgers = [_ledger(setup, engine, seed, folder) for setup in setups]
    known = [{a.index for a in ledger.attempts if a.index < count} for ledger in ledgers]
    done(sum(map(len, known)))
    for number, attempts in recover(setups, known, count, engine, seed):
        ledgers[number].add(attempts)
        done(len(attempts))
    found = [sorted(ledger.attempts, key=lambda attempt: attempt.index) for ledger in ledgers]
    return [attempts[:count] for attempts in found]


def _ledger(setup: Setup, engine: str, seed: int, folder: Path | None) -> Ledger:
    faults = [str(fault) for fault in setup.faults]
    name = "_".join(faults).replace("=", "-").replace(":", "")
    options = {"faults": faults, "engine": engine, "seed": seed}
    return Ledger(folder / f"{name}.jsonl" if folder else None, options)
