"""Failures of arms that differ from their model: drawn arms that move, and joints that fail.

Each arm is drawn within what is not known of it (`drawn_arms`). It goes from pose to pose, a new
one every `EVERY` seconds, by a control that knows the model alone. In one run nothing fails; in
others a random joint fails at a random time, and the same arm without the failure shows by how much
that moves the finger tips. `judge_arm` has what watchers make of it: a name where nothing fails is
a false alarm. An oracle knows the arm's friction and payload: how well any detector could do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from benchmarks.campaigns.drawn_arms import Maker, Plant, draw_arm
from benchmarks.campaigns.momentum_observer import MomentumObserver
from packbot.controllers.torque import ComputedTorque
from packbot.model.arm import Kinematics
from packbot.model.parameters import JOINTS
from packbot.planning.rrt import Planner
from packbot.planning.trajectories import TimedPath, in_time
from roboaccord.contract import AccordError, Array, Command, Fault, Kind, RobotState
from roboaccord.scenario import Setup, load_scenario
from roboaccord_studies.packbot.detection.detected import Watcher, detections
from roboaccord_studies.packbot.detection.detector import Detector
from roboaccord_studies.packbot.detection.diagnosis import Diagnosis
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.drawn_arm import Draw, with_friction

# s from target to target, and of motion in them: the slowest joint, at 0.5 rad/s, turns by 2.7 rad
# in them.
EVERY, MOVING = 6.0, 5.4
# s between which joints fail: in the first two motions, after the unknowns are estimated
# (noise.SETTLING_TIME).
FIRST, LAST = 3.0, 9.0
AFTER = 4.0  # s that are watched from then on, longer than the evidence fades (bank.EVIDENCE_TIME)
# s in which the tips must have moved, by: a failure that moves nothing in half a motion does no
# harm yet.
WITHIN = 3.0
MOVED = 0.05  # m: a cell of the workspace (recovery/workspace.CELL)
# Part of the joints that turn in a motion: others stand still, where a failure shows least.
TURNING = 0.7
SPEED = 0.9  # of the limits; the rest is for tracking
BANDWIDTH = 10.0  # rad/s: a sixtieth of the rate of control, 100 Hz
# Margins that poses keep from touching: the arm is not where it should be; zeros and lengths are
# off, too.
ROOM = 3.0
KINDS: tuple[Kind, ...] = ("frozen", "loose")


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


KNOWN = 0.5  # part of the uncertainty of dry friction that is left to the oracle
WEIGHED = 0.01  # kg: to which the oracle knows the payload, as kitchen scales do


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


def judge_arm(
    seed: int, failures: int, nominal: float, engine: str, scale: float
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
    payload = float(draw.of("payload")[0])
    beside = payload * u.payload_offset / WEIGHED  # the moment is what matters
    known = replace(
        u, viscous=0.0, coulomb=KNOWN * u.coulomb, payload=WEIGHED, payload_offset=beside
    )
    return Detector(setup, payload, uncertainty=known)


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
