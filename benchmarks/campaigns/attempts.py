"""One target of an arm with failed joints: what the planner wants of it, and what comes of that.

`Case` has the arm as its model, `DrawnCase` one that is drawn for each target (`drawn_arms`).
What is reachable is judged by the model; `packbot.controllers.trial` defines what counts as
reached.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from benchmarks.campaigns.drawn_arms import Instrumented, Plant, draw_arm
from benchmarks.campaigns.roadmap import Roadmap
from packbot.controllers.recovery import RecoveryController
from packbot.controllers.trial import DETECTED, Noticed, drive, run_reach, tips
from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import FailedArm
from packbot.planning.recovery import REASONS, Recoverer
from roboaccord.contract import Array, RobotState
from roboaccord.scenario import Setup, make_scenario
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

CASES = 40  # kept in a process, 10 MB each: 0.4 GB at most


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
        self.planner = Recoverer(self.arm, state.q, self._seed, self._replanner.margin)
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
            first = target if self._later else self._first
            controller = Resting(self._setup, first.tolist(), diagnosis=DETECTED)
            drive(self._setup, self._engine, controller)
            self._planner = controller.planner  # None if the path ends before the arm rests
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
            rest = arm.resting_pose(start)
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
