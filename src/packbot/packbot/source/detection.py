"""Failures of arms that differ from their model, and how detectors perform on them.

Each arm is drawn within what is not known of it (`drawn`). It goes from pose to pose, a new one
every `EVERY` seconds, by a control that knows the model alone. In one run nothing fails: what is
named is a false alarm. In others a random joint fails at a random time; the same arm without the
failure shows by how much that moves the finger tips.

An oracle knows the arm's friction and payload: how well any detector could do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy
from roboaccord.bag import BagRun
from roboaccord.contract import (
    AccordError,
    Array,
    Command,
    Fault,
    Kind,
    Quantity,
    RobotState,
    fault_of,
)
from roboaccord.report import BLUE, RED, SOFT, legend, picture
from roboaccord.run import run_pieces
from roboaccord.scenario import Setup, load_scenario
from roboaccord.simulators import measured

from packbot.controllers.reach import ComputedTorque
from packbot.detection.detector import Detection, Detector, Watcher, detections
from packbot.detection.diagnosis import Diagnosis
from packbot.detection.observer import MomentumObserver
from packbot.detection.probing import Doubt, Prober
from packbot.detection.uncertainty import Uncertainty
from packbot.identification.estimate import efforts_in_force, setup_of
from packbot.identification.known import KnownArm, diagnosis
from packbot.identification.unknowns import Draw, with_friction
from packbot.model.arm import Kinematics
from packbot.model.parameters import JOINTS
from packbot.planning.rrt import Planner
from packbot.planning.trajectories import TimedPath, in_time
from packbot.source.drawn import Maker, Plant, draw_arm

EVERY, MOVING = 6.0, 5.4  # s from target to target, and of motion in them
FIRST, LAST = 3.0, 9.0  # s between which joints fail
AFTER = 4.0  # s that are watched from then on
WITHIN = 3.0  # s in which the tips must have moved, by
MOVED = 0.05  # m
TURNING = 0.7  # part of the joints that turn in a motion
SPEED = 0.9  # of the limits
BANDWIDTH = 10.0  # rad/s
ROOM = 3.0  # margins that poses keep from touching: the arm is not where it should be
KNOWN = 0.5  # part of the uncertainty of dry friction that is left to the oracle
WEIGHED = 0.01  # kg: to which the oracle knows the payload
KINDS: tuple[Kind, ...] = ("frozen", "loose")
RESULTS = ("right", "undetermined", "missed", "wrong")
WATCHERS = ("detector", "baseline", "oracle")
FAILURES = 3  # of one arm
COLOURS = dict(zip(WATCHERS, (BLUE, RED, SOFT), strict=True))


@dataclass(frozen=True)
class Outcome:
    """Hold what a detector made of a run.

    Args:
        joint, kind: of the failure; "" for none.
        tips: whether it moved the finger tips by `MOVED` in time.
        result: of `RESULTS`; "" where nothing failed.
        delay: of the joint's first name since the failure [s]; nan if there is none.
        false_alarms: names of sound joints before any failed.
        time: of motion without failure [s].
    """

    joint: str
    kind: str
    tips: bool
    result: str
    delay: float
    false_alarms: int
    time: float


class Bench:
    """An arm that is not its model, to let its joints fail.

    Args:
        seed: of all that is drawn.
        engine: that simulates it, or what makes that.
        uncertainty: within which it is drawn.
    """

    def __init__(self, seed: int, engine: Maker, uncertainty: Uncertainty) -> None:
        self._rng = np.random.default_rng(seed)
        self.setup = Setup.of(load_scenario("packbot", "packbot", "reach"))
        self.draw = draw_arm(self._rng, uncertainty, self.setup.effort_limits)
        self._seed = seed
        self._plant = Plant(self.draw, engine)
        self._control = ComputedTorque(self.setup, BANDWIDTH, uncertain=True)
        self._planner, self._kinematics = Planner(self.setup), Kinematics(self.setup)

    def nominal(self, duration: float) -> Array:
        """Return the rows of a motion without failure (k, 22): time, q, qd, commanded efforts."""
        return self._run(self._motion(duration), duration, None)[0]

    def failure(self) -> tuple[Fault, bool, Array]:
        """Return a random failure, whether it moves the tips, and the rows (k, 22)."""
        rng = self._rng
        joint, kind = JOINTS[rng.integers(len(JOINTS))], KINDS[rng.integers(len(KINDS))]
        fault = Fault(joint, kind, round(rng.uniform(FIRST, LAST), 2))
        duration = fault.time + AFTER
        motion = self._motion(duration)
        rows, states = self._run(motion, duration, fault)
        _, sound = self._run(motion, duration, None)
        until = np.flatnonzero(rows[:, 0] <= fault.time + WITHIN)
        tip = self._kinematics.tip
        moved = any(np.linalg.norm(tip(states[k]) - tip(sound[k])) > MOVED for k in until[::5])
        return fault, moved, rows

    def _motion(self, duration: float) -> list[TimedPath]:
        start, found = self._pose(), list[TimedPath]()
        for _ in range(math.ceil(duration / EVERY)):
            found.append(self._path(start))
            start = found[-1].corners[-1]
        return found

    def _pose(self) -> Array:
        p, planner = self.setup.parameters, self._planner
        while True:
            q = self._rng.uniform(*(0.95 * p.limits))
            if not planner.clearance.touches(q, ROOM * planner.margin):
                return np.asarray(q)

    def _path(self, start: Array) -> TimedPath:
        """Return a straight path to a pose to which most of the joints turn, in `MOVING`."""
        planner = self._planner
        while True:
            goal = np.where(self._rng.random(len(JOINTS)) < TURNING, self._pose(), start)
            if (goal == start).all() or planner.clearance.touches(goal, ROOM * planner.margin):
                continue
            if not planner.clear(start, goal):
                continue
            try:
                path = in_time(self.setup, np.array([start, goal]), SPEED)
            except AccordError:
                continue
            if path.duration <= MOVING:
                return replace(path, cruise=1.0 / (MOVING - path.ramp))

    def _run(
        self, motion: Sequence[TimedPath], duration: float, fault: Fault | None
    ) -> tuple[Array, Array]:
        """Return rows of what is measured (k, 22), and the true angles (k, 7)."""

        def control(seen: RobotState) -> Command:
            part, time = divmod(seen.time + 1e-9, EVERY)
            return self._control.command(seen, *motion[int(part)].at(time))

        return self._plant.record(motion[0].corners[0], self._seed, control, duration, fault)


def judge_arm(
    seed: int,
    failures: int,
    nominal: float,
    engine: str,
    scale: float,
) -> dict[str, list[Outcome]]:
    """Return the outcomes of one arm's runs, by `WATCHERS`.

    Args:
        seed: of the arm.
        failures: to let happen, each in a motion of its own.
        nominal: time of motion without failure [s].
        engine: that simulates the arm.
        scale: of the stated uncertainties, within which the arm is drawn.
    """
    bench = Bench(seed, engine, Uncertainty().scaled(scale))
    watchers: dict[str, Watcher] = {
        "detector": Diagnosis(bench.setup),
        "baseline": MomentumObserver(bench.setup),
        "oracle": oracle(bench.draw),
    }
    runs: list[tuple[Fault | None, bool, Array]] = [bench.failure() for _ in range(failures)]
    if nominal:
        runs.append((None, False, bench.nominal(nominal)))
    return {name: [judge(watcher, *run) for run in runs] for name, watcher in watchers.items()}


def oracle(draw: Draw) -> Detector:
    """Return a detector that knows an arm's friction and payload, but not where that hangs."""
    nominal = load_scenario("packbot", "packbot", "reach")
    setup = Setup.of(with_friction(draw, nominal))
    u = Uncertainty()
    beside = draw.payload * u.payload_offset / WEIGHED  # the moment is what matters
    known = replace(
        u, viscous=0.0, coulomb=KNOWN * u.coulomb, payload=WEIGHED, payload_offset=beside
    )
    return Detector(setup, draw.payload, uncertainty=known)


def judge(watcher: Watcher, fault: Fault | None, tips: bool, rows: Array) -> Outcome:
    """Return what a detector makes of a run."""
    watcher.reset()
    time, q, qd, effort = np.split(rows, (1, 8, 15), axis=1)
    found = detections(watcher, time.ravel(), q, qd, effort)
    named = [d for d in found if d.kind not in ("healthy", "unexplained")]
    end = float(time[-1, 0])
    if fault is None:
        return Outcome("", "", tips, "", math.nan, len(named), end)
    early = [d for d in named if d.time <= fault.time]
    last: Mapping[str, str] = {d.joint: d.kind for d in found if d.time > fault.time}
    last = {joint: kind for joint, kind in last.items() if kind not in ("healthy", "unexplained")}
    result = "wrong"
    if not last:
        result = "missed"
    elif set(last) == {fault.joint} and last[fault.joint] in (fault.kind, "undetermined"):
        result = "right" if last[fault.joint] == fault.kind else "undetermined"
    times = [d.time - fault.time for d in named if d.joint == fault.joint and d not in early]
    delay = times[0] if times else math.nan
    return Outcome(fault.joint, fault.kind, tips, result, delay, len(early), fault.time)


@dataclass(frozen=True)
class DetectionCounts:
    """Count the failures by what was made of them, and give the delay of their names."""

    right: Annotated[int, Quantity("")]
    undetermined: Annotated[int, Quantity("")]
    missed: Annotated[int, Quantity("")]
    wrong: Annotated[int, Quantity("")]
    delay: Annotated[float, Quantity("s", "median", form=".2f")]


@dataclass(frozen=True)
class Alarms:
    """Count the names of sound joints.

    Args:
        false_alarms: how many.
        hours: of motion without failure.
        per_hour_95: upper bound of the rate with 95 % confidence.
    """

    false_alarms: Annotated[int, Quantity("")]
    hours: Annotated[float, Quantity("h", form=".2f")]
    per_hour_95: Annotated[float, Quantity("1/h", "upper bound, 95 %", form=".2f")]


def counts_of(outcomes: Sequence[Outcome]) -> DetectionCounts:
    """Return the counts of failures."""
    counts = {r: sum(o.result == r for o in outcomes) for r in RESULTS}
    delays = [o.delay for o in outcomes if not math.isnan(o.delay)]
    return DetectionCounts(**counts, delay=float(np.median(delays)) if delays else math.nan)


def alarms_of(outcomes: Sequence[Outcome]) -> Alarms:
    """Return the false alarms of all outcomes, their rate bounded by the Poisson distribution."""
    count = sum(o.false_alarms for o in outcomes)
    hours = sum(o.time for o in outcomes) / 3600.0
    most = 0.5 * float(scipy.stats.chi2.ppf(0.95, 2 * (count + 1)))
    return Alarms(count, hours, most / hours if hours else math.nan)


@dataclass(frozen=True, kw_only=True)
class Found(DetectionCounts, Alarms):
    """Hold counts of a watcher: of failures that move the tips, and false alarms.

    Args:
        all: of all failures.
        kinds: of all failures, by kind.
    """

    all: DetectionCounts
    kinds: dict[str, DetectionCounts]

    @classmethod
    def of_all(cls, outcomes: Sequence[Outcome]) -> Found:
        """Return those of outcomes."""
        failed = [o for o in outcomes if o.joint]
        kinds = {str(kind): counts_of([o for o in failed if o.kind == kind]) for kind in KINDS}
        tips = counts_of([o for o in failed if o.tips])
        return cls(**vars(tips), **vars(alarms_of(outcomes)), all=counts_of(failed), kinds=kinds)


@dataclass(frozen=True, kw_only=True)
class DetectionStudy(Found):
    """Hold what the detector made of a study, and what the others did."""

    seeds: list[int]
    model_error: float
    engine: str
    baseline: Found
    oracle: Found

    @classmethod
    def of(cls, task: DetectionTask, found: Mapping[str, Found]) -> DetectionStudy:
        """Return it from what each watcher made of the same runs."""
        return cls(
            **vars(found["detector"]), seeds=[task.seed, task.seed + task.arms - 1],
            model_error=task.scale, engine=task.engine, baseline=found["baseline"],
            oracle=found["oracle"],
        )  # fmt: skip


@dataclass(frozen=True)
class DetectionTask:
    """Specify a study of detection.

    Args:
        failures: number of joints to fail, `FAILURES` of an arm.
        nominal: time of motion without failure, of all arms [s].
        scale: of the stated uncertainties, within which arms are drawn.
        engine: that simulates them.
        seed: of the first arm.
    """

    failures: int
    nominal: float
    scale: float
    engine: str
    seed: int

    @property
    def arms(self) -> int:
        """Number of arms."""
        return math.ceil(self.failures / FAILURES)

    def run(self, done: Callable[[object], None]) -> dict[str, list[Outcome]]:
        """Return all outcomes by `WATCHERS`; `done` is called with those of each arm."""
        share = np.diff(np.linspace(0, self.failures, self.arms + 1).round())
        more = self.nominal / self.arms, self.engine, self.scale
        calls = [(self.seed + i, int(n), *more) for i, n in enumerate(share)]
        judged = run_pieces(judge_arm, calls, done=done)
        return {name: [o for arm in judged for o in arm[name]] for name in WATCHERS}


def draw_delays(outcomes: Mapping[str, Sequence[Outcome]], path: Path) -> None:
    """Draw the share of failures that move the tips which are named, over the time since then."""
    with picture(path) as axes:
        for name, each in outcomes.items():
            failed = [o for o in each if o.tips]
            delays = sorted(o.delay for o in failed if not math.isnan(o.delay))
            shares = 100.0 * np.arange(1, len(delays) + 1) / max(len(failed), 1)
            axes.step(delays, shares, where="post", color=COLOURS[name], label=name)
        axes.set(xlabel="time since the failure [s]", ylabel="failures named [%]", ylim=(0, 100))
        legend(axes)


@dataclass(frozen=True)
class Findings:
    """Hold the failed joints of a motion, and what cannot be distinguished."""

    faults: Annotated[list[Detection], Quantity("", "failed joints")]
    undetermined: Annotated[list[Doubt], Quantity("", "joints that cannot be distinguished")]


def findings(run: BagRun, payload: float) -> Findings:
    """Find failed joints in the joint states and commanded efforts of a recorded run.

    Args:
        run: as recorded.
        payload: at the finger tips [kg].

    Raises:
        AccordError: if it is of no run of the Packbot, or has no commands.
    """
    setup = setup_of(run)
    keys = setup.scenario.controller
    try:
        known = KnownArm.given(keys.get("identified", ""))
        detector = diagnosis(setup, keys.get("uncertainty"), known, payload)
    except ValueError as error:
        raise AccordError(str(error)) from None
    motion = run.trajectory
    found = detections(detector, motion.time, *measured(motion), efforts_in_force(run))
    recorded = {f.joint: f.time for f in map(fault_of, motion.events) if f}
    all_ = {each.joint: each for each in found}.values()
    last = [each for each in all_ if each.kind != "healthy"]  # a name that was taken back
    began = {each.joint: recorded.get(each.joint, each.time - each.delay) for each in last}
    faults = [replace(each, delay=each.time - began[each.joint]) for each in last]
    doubts = Prober(setup, payload).doubts(motion.q[-1], detector.open_explanations())
    return Findings(faults, doubts)
