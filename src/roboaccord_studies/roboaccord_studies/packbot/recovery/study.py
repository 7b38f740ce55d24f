"""Recovery over many targets: what a failed arm reaches, with recovery and without.

Arms that are not their model are drawn (`drawn`), one for each target and the same for all cases of
a study. What is reachable is judged by the model; `reaching` defines what counts as reached.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import numpy as np
from packbot.contact.clearance import Clearance
from packbot.controllers.recovery import RecoveryController
from packbot.controllers.trial import Noticed, clear_start, drive, run_reach, tips
from packbot.model.arm import Kinematics
from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import FailedArm
from packbot.planning.recovery import REASONS, Recoverer
from roboaccord.contract import Array, Fault, Quantity, RobotState
from roboaccord.report import BLUE, RED, RULE, legend, picture
from roboaccord.run import run_pieces
from roboaccord.scenario import Setup, make_scenario

from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.drawn import Instrumented, Plant, draw_arm
from roboaccord_studies.packbot.recovery.roadmap import Roadmap

CASES = 40  # kept in a process, 10 MB each
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
        refused: why the planner refused it, one of `REASONS`; "" if it found a path.
        recovered: whether the failed arm reached it.
        baseline: whether the controller did that ignores failures.
        error: of the finger tips in the end [m]; 0 if refused.
        load: greatest effort over its limit.
        fault: what went wrong in the run, if something did.
        measured: `error` as the arm measures it [m].
        plain: error of the healthy arm's controller with nothing failed, true and as measured [m].
        apart: from where the finger tips end so; of a healthy arm, as long after [m].
        duration: of the run [s].
        named: joints that were found failed in the end, with their kinds.
    """

    index: int
    judged: str
    refused: str
    recovered: bool = False
    baseline: bool = False
    error: float = 0.0
    load: float = 0.0
    fault: str = ""
    measured: float = 0.0
    plain: tuple[float, float] = (0.0, 0.0)
    apart: float = 0.0
    duration: float = 0.0
    named: tuple[str, ...] = ()


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


def reach_for(
    data: str, engine: str, first: Array, scale: float | None, index: int, target: Array
) -> Attempt:
    """Return what comes of a target (3,) [m]; see `calls`."""
    return _case(data, engine, tuple(first.tolist()), scale).attempt(index, target)


@lru_cache(maxsize=CASES)
def _case(
    data: str, engine: str, first: tuple[float, ...], scale: float | None
) -> Case | DrawnCase:
    setup = Setup.of(make_scenario(json.loads(data)))
    return (
        Case(setup, engine, np.array(first)) if scale is None else DrawnCase(setup, engine, scale)
    )


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
        first: target (3,) [m] for which the arm starts when a failure shows at once, so that its
            resting pose is the same whichever targets a process reaches for.
    """

    def __init__(self, setup: Setup, engine: str, first: Array) -> None:
        self._setup, self._engine, self._first = setup, engine, first
        self._later = any(fault.time > 0.0 for fault in setup.faults)
        self._planner: Recoverer | None = None

    def attempt(self, index: int, target: Array) -> Attempt:
        """Return what comes of a target (3,) [m]."""
        if self._planner is None or self._later:  # it depends on when a moving arm fails
            self._planner = self._rested(target if self._later else self._first)
            if self._planner:
                self._roadmap = Roadmap(self._planner.arm, self._planner.present)
        judged = refused = ""
        if self._planner:  # else a failure that the motion does not show, and all is reachable
            judged, (refused, _) = self._roadmap.verdict(target), self._planner.find(target)
        if refused:
            return Attempt(index, judged, refused)
        run = run_reach(self._setup, target, self._engine, planner=self._planner)
        ignored = run_reach(self._setup, target, self._engine, ignore=True)
        return Attempt(
            index, judged, "", run.reached, ignored.reached, run.error, run.load, run.reason or ""
        )

    def _rested(self, target: Array) -> Recoverer | None:
        """Return the planner of the failed arm at rest; None if the path ends before that."""
        controller = Resting(self._setup, target.tolist())
        drive(self._setup, self._engine, controller)
        return controller.planner


class DrawnCase:
    """Reach for targets with failures and arms that are drawn.

    Reachable is what the roadmap has a path to from where the model falls at the start; it knows
    what failed. Other targets are not tried.

    Args:
        setup: robot, scenario and faults; its start is clear.
        engine: name.
        scale: of the stated uncertainties, within which arms are drawn.
    """

    def __init__(self, setup: Setup, engine: str, scale: float) -> None:
        self._setup, self._engine = setup, engine
        self._uncertainty = Uncertainty().scaled(scale)
        data, start = setup.scenario.data(), setup.initial.q
        q = dict(zip(JOINTS, start.tolist(), strict=True))
        self._sound = Setup.of(make_scenario({**data, "faults": [], "initial": {"q": q}}))
        self._roadmap: Roadmap | None = None
        if setup.faults:
            arm = FailedArm(setup, setup.faults)
            rest = arm.rest(start)
            self._roadmap = Roadmap(arm, start if rest is None else rest)

    def attempt(self, index: int, target: Array) -> Attempt:
        """Return what comes of a target (3,) [m]."""
        judged = self._roadmap.verdict(target) if self._roadmap else ""
        if judged:
            return Attempt(index, judged, judged)
        setup, seed = self._setup, self._setup.scenario.seed + index
        draw = draw_arm(np.random.default_rng(seed), self._uncertainty, setup.effort_limits)
        failed, sound = (
            Instrumented(Plant(draw, self._engine, each.scenario), seed)
            for each in (setup, self._sound)
        )
        run = run_reach(setup, target, failed)
        last = 0.0 if setup.faults else run.duration
        plain = run_reach(self._sound, target, sound, ignore=True, last=last)
        ignored = run_reach(setup, target, failed, ignore=True) if setup.faults else plain
        ends = [tips(setup, each.trajectory.q[-1], failed)[0] for each in (run, plain)]
        detected = run.detected or []
        found = [detected] if isinstance(detected, Noticed) else detected
        return Attempt(
            index,
            judged,
            run.reason if run.reason in REASONS else "",
            run.reached,
            ignored.reached,
            run.error,
            run.load,
            run.reason or "",
            measured=run.measured,
            plain=(plain.error, plain.measured),
            apart=float(np.linalg.norm(ends[0] - ends[1])),
            duration=run.duration,
            named=tuple(f"{each.joint}={each.kind}" for each in found),
        )


@dataclass(frozen=True, kw_only=True)
class RecoveryCounts:
    """Hold how many targets are reachable with faults, recovered, reached by the baseline."""

    faults: Annotated[list[str], Quantity("", name="failed")]
    targets: Annotated[int, Quantity("")]
    reachable: Annotated[int, Quantity("")]
    recovered: Annotated[int, Quantity("")]
    baseline: Annotated[int, Quantity("")]
    refused: Annotated[Mapping[str, int], Quantity("", form="text")]
    disputed: Annotated[int, Quantity("")]
    beyond: int
    worst_error: Annotated[float | None, Quantity("m")]
    worst_measured: Annotated[float | None, Quantity("m", name="measured", shown="mm")]
    worst_apart: Annotated[float | None, Quantity("m", name="apart", shown="mm")]
    worst_load: Annotated[float | None, Quantity("1")]
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


def study(
    setups: Sequence[Setup],
    count: int,
    engine: str,
    seed: int,
    done: Callable[[Attempt], None],
    scale: float | None = None,
) -> list[list[Attempt]]:
    """Return the attempts at all targets of each setup's faults.

    A study with fewer targets is the beginning of one with more.

    Args:
        setups: robot, scenario and faults.
        count: of targets.
        engine: name.
        seed: of the targets, of the planner, and of the first arm that is drawn.
        done: called with each attempt.
        scale: of the stated uncertainties, within which arms are drawn; None for the model.
    """
    found = run_pieces(reach_for, calls(setups, engine, seed, count, scale), done=done)
    return [found[i : i + count] for i in range(0, len(found), count)]


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
