"""Random failures of loaded arms with noise, and how soon the detector finds them.

An arm's friction is scaled joint by joint, and it carries another payload than is known. Efforts
are those of a computed torque control with the same noise. Missing motion is that of the
healthy arm under the same efforts from the failure on, less that of the failed one; likewise the
arm with the other failure of the joint tells whether the two could be told apart at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.fault import KINDS, Fault
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

from packbot.detection.detector import ERRORS, NOISE, Detector, detections
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from packbot.planning.rrt import Planner
from packbot.planning.trajectories import TimedPath, in_time
from packbot.simulators.reference import PackbotReference

MISSING = 0.05  # rad of missing motion, from which on the delay counts
DEADLINE = 0.2  # s after it
ALIKE = 0.02  # rad: closer by the deadline, motions with either failure cannot be told apart
AFTER = 1.5  # s after a failure in which it must show
RESULTS = ("found", "undetermined", "missed", "wrong")  # of a failure
SLOW = 0.5  # s: an arm that is not controlled parts from itself tenfold in that time
LATEST = 3.0  # s: of a failure
TOLERANCE = 1e-6  # of the steps: rad, rad/s, far below the noise
PAYLOADS = (0.0, 3.0)  # kg
TURNING = 0.7  # part of the joints that turn in a motion
BANDWIDTH = 10.0  # rad/s
NO_ROWS = np.empty((0, 22))
LATE = "after the first 0.05 rad of missing motion of the joint that failed"


@dataclass(frozen=True)
class Trial:
    """Hold what was measured of an arm, and what was wrong with it.

    Args:
        payload: that is known [kg].
        joint, kind: of the failure; "" for none.
        failed: when [s].
        missed: when `MISSING` was reached by the joint [s].
        apart: how far the joint's motion with the other failure was off by the deadline [rad].
        rows: time, q, qd and commanded effort up to then (k, 22).
    """

    payload: float
    joint: str
    kind: str
    failed: float
    missed: float
    apart: float
    rows: Array

    @property
    def slow(self) -> bool:
        """Whether the failed joint took longer than `SLOW` to miss its motion."""
        return self.missed - self.failed > SLOW


class Bench:
    """An arm with drawn friction and payload, to let its joints fail.

    Args:
        seed: of all that is drawn.
    """

    def __init__(self, seed: int) -> None:
        self._rng = rng = np.random.default_rng(seed)
        nominal = Setup.of(load_scenario("packbot", "packbot", "reach"))
        self.payload = float(rng.uniform(*PAYLOADS))
        true = self.payload * (1.0 + ERRORS[0] * rng.uniform(-1.0, 1.0))
        scales = 1.0 + ERRORS[1] * rng.uniform(-1.0, 1.0, len(JOINTS))
        viscous = scales * nominal.parameters.of_joints("viscous")
        changes = [f"engine_options.reference.tolerance={TOLERANCE!r}"]
        changes += [f"parameters.viscous_{j}={v!r}" for j, v in zip(JOINTS, viscous.tolist())]
        setup = Setup.of(load_scenario("packbot", "packbot", "reach", changes))
        self._arm, self._healthy, self._other = (PackbotReference(setup) for _ in range(3))
        for simulator in (self._arm, self._healthy, self._other):
            simulator.arm.carry(true, setup.parameters.gripper_length)
        self._model = Arm.of(nominal)
        self._model.carry(self.payload, nominal.parameters.gripper_length)
        self._viscous = nominal.parameters.of_joints("viscous")
        self._planner = Planner(nominal)
        self._setup, self._period = nominal, nominal.scenario.control_period

    def failure(self) -> Trial:
        """Let a random joint fail in a random motion; draw again where no motion is missing."""
        while True:
            path, rng = self._path(self._pose()), self._rng
            fault = Fault(JOINTS[rng.integers(len(JOINTS))], KINDS[rng.integers(len(KINDS))])
            tick = round(rng.uniform(0.3, min(path.duration, LATEST)) / self._period)
            trial = self._fail(path, fault, tick)
            if trial is not None:
                return trial

    def nominal(self, duration: float) -> Trial:
        """Move from pose to pose for a time [s] without any failure."""
        q = self._pose()
        state = self._arm.reset(RobotState(0.0, q, np.zeros(7), np.zeros(7)))
        rows, effort, began = list[Array](), np.zeros(7), 0.0
        path = self._path(q)
        while state.time < duration - 1e-9:
            seen = self._seen(state, effort)
            rows.append(row_of(seen))
            if state.time > began + path.duration:
                began, path = state.time, self._path(path.corners[-1])
            effort = self._efforts(seen, *path.at(state.time - began))
            state = self._arm.step(Command(effort), self._period)
        return Trial(self.payload, "", "", np.inf, np.inf, 0.0, np.array(rows))

    def _pose(self) -> Array:
        p = self._setup.parameters
        while True:
            q = self._rng.uniform(*(0.95 * p.limits))
            if not self._planner.clearance.touches(q, self._planner.margin):
                return np.asarray(q)

    def _path(self, start: Array) -> TimedPath:
        """Return a straight way to a pose to which most of the joints turn."""
        while True:
            goal = np.where(self._rng.random(len(JOINTS)) < TURNING, self._pose(), start)
            if self._planner.clearance.touches(goal, self._planner.margin):
                continue
            if (goal != start).any() and self._planner.clear(start, goal):
                return in_time(self._setup, np.array([start, goal]), self._rng.uniform(0.4, 1.0))

    def _fail(self, path: TimedPath, fault: Fault, tick: int) -> Trial | None:
        """Let a joint fail at a tick of a path; None if no motion is missing within `AFTER`."""
        arm, healthy, other = self._arm, self._healthy, self._other
        state = arm.reset(RobotState(0.0, path.corners[0], np.zeros(7), np.zeros(7)))
        rows, effort, apart = list[Array](), np.zeros(7), 0.0
        joint, missed = JOINTS.index(fault.joint), np.inf
        for k in range(tick + round(AFTER / self._period)):
            seen = self._seen(state, effort)
            rows.append(row_of(seen))
            if state.time > missed + DEADLINE - 1e-9:
                return Trial(
                    self.payload, fault.joint, fault.kind, tick * self._period, missed, apart,
                    np.array(rows),
                )  # fmt: skip
            effort = self._efforts(seen, *path.at(state.time))
            if k == tick:
                healthy.reset(state)
                other.reset(state)
                arm.fail(fault)
                other.fail(Fault(fault.joint, KINDS[1 - KINDS.index(fault.kind)]))
            state = arm.step(Command(effort), self._period)
            if k >= tick:
                sound, alike = (t.step(Command(effort), self._period).q for t in (healthy, other))
                apart = max(apart, abs(float((alike - state.q)[joint])))
                if abs(sound[joint] - state.q[joint]) > MISSING:
                    missed = min(missed, state.time)
        return None

    def _efforts(self, seen: RobotState, r: Array, rate: Array, change: Array) -> Array:
        """Return computed torques (7,) [N m] for angles r, their rates and accelerations.

        Friction is taken at the rate that is wanted: at the measured one, a friction that is less
        than known would let the light joints run away.
        """
        w, q, qd = BANDWIDTH, seen.q, seen.qd
        a = change + 2.0 * w * (rate - qd) + w * w * (r - q)
        effort = self._model.efforts(q, qd, a) + self._viscous * (rate + w * (r - q))
        return clip_efforts(effort, self._setup.effort_limits)

    def _seen(self, state: RobotState, effort: Array) -> RobotState:
        """Return a state with the noise of measurement."""
        q, qd = (
            x + sigma * self._rng.standard_normal(len(JOINTS))
            for x, sigma in zip((state.q, state.qd), NOISE, strict=True)
        )
        return RobotState(state.time, q, qd, effort)


def row_of(state: RobotState) -> Array:
    """Return time, q, qd and effort of a state in one row (22,)."""
    return np.concatenate([[state.time], state.q, state.qd, state.effort])


def judge_arm(
    seed: int, failures: int, nominal: float, thresholds: Sequence[float]
) -> list[list[Outcome]]:
    """Return the outcomes of one arm's trials at each threshold, without their rows.

    Args:
        seed: of the arm.
        failures: to let happen, each in a motion of its own.
        nominal: time of motion without failure [s].
        thresholds: of the detector.
    """
    setup, bench = Setup.of(load_scenario("packbot", "packbot", "reach")), Bench(seed)
    trials = [*(bench.failure() for _ in range(failures)), bench.nominal(nominal)]
    found = [[judge_trial(setup, trial, threshold) for trial in trials] for threshold in thresholds]
    return [[replace(o, trial=replace(o.trial, rows=NO_ROWS)) for o in each] for each in found]


@dataclass(frozen=True)
class Outcome:
    """Hold what a detector made of a trial.

    Args:
        result: `found`, `undetermined` where that is right, `missed`, `wrong`, or `nominal`.
        delay: after the joint's first `MISSING` rad of missing motion [s]; nan if not found.
        false_alarms: joints that were named before any failed.
        time: of motion without failure [s].
    """

    trial: Trial
    result: str
    delay: float
    false_alarms: int
    time: float


def judge_trial(setup: Setup, trial: Trial, threshold: float) -> Outcome:
    """Return what a detector with a threshold makes of a trial; its data end at the deadline."""
    detector = Detector(setup, trial.payload, threshold=threshold)
    time, q, qd, effort = np.split(trial.rows, (1, 8, 15), axis=1)
    told = detections(detector, time.ravel(), q, qd, effort)
    false = [d for d in told if d.time <= trial.failed or d.joint != trial.joint]
    right = [d for d in told if d not in false]
    early = sum(d.time <= trial.failed for d in told)
    result = "missed" if trial.joint else "nominal"
    if trial.joint and right:
        kind = right[-1].kind
        if false or kind not in (trial.kind, "undetermined"):
            result = "wrong"
        elif kind == trial.kind:
            result = "found"
        elif trial.apart < ALIKE:
            result = "undetermined"
    seen = result in ("found", "undetermined")
    delay = right[0].time - trial.missed if seen else math.nan
    return Outcome(trial, result, delay, early, min(trial.failed, float(time[-1, 0])))


@dataclass(frozen=True)
class Delays:
    """Hold percentiles of the delays of what was found."""

    p50: Annotated[float, Quantity("s", LATE, name="delay 50 %", form=".3f")]
    p95: Annotated[float, Quantity("s", name="delay 95 %", form=".3f")]
    p100: Annotated[float, Quantity("s", name="delay 100 %", form=".3f")]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Hold counts of outcomes at a threshold, delays, and false alarms."""

    threshold: Annotated[float, Quantity("", form="g")]
    found: Annotated[int, Quantity("")]
    undetermined: Annotated[int, Quantity("")]
    missed: Annotated[int, Quantity("")]
    wrong: Annotated[int, Quantity("")]
    missed_percent: Annotated[float, Quantity("%", "missed or wrong")]
    delay: Delays
    slow_missed: int
    slow: int
    false_alarms: int
    hours: Annotated[float, Quantity("h", "without failure")]

    @property
    def alarms(self) -> Annotated[float, Quantity("1/h", name="false alarms", form=".1f")]:
        """False alarms per time without failure."""
        return self.false_alarms / self.hours


def summary(outcomes: Sequence[Outcome], threshold: float) -> Summary:
    """Return the summary of all outcomes at a threshold."""
    failed = [o for o in outcomes if o.trial.joint]
    counts = {r: sum(o.result == r for o in failed) for r in RESULTS}
    delays = np.array([o.delay for o in failed if not math.isnan(o.delay)] or [math.nan])
    return Summary(
        threshold=threshold,
        **counts,
        missed_percent=100.0 * (counts["missed"] + counts["wrong"]) / max(len(failed), 1),
        delay=Delays(*np.percentile(delays, (50, 95, 100)).tolist()),
        slow_missed=sum(o.result == "missed" and o.trial.slow for o in failed),
        slow=sum(o.trial.slow for o in failed),
        false_alarms=sum(o.false_alarms for o in outcomes),
        hours=sum(o.time for o in outcomes) / 3600.0,
    )
