"""Controller that reaches a target also with joints that fail during the motion.

All constants, SLOW to CREEP, may be tuned: how patient, how slow and how exact a recovery is.
THOUGHT must stay simulated time, so that results do not depend on the machine; WAIT, wall time.
Pages on recovery were measured with these. What finds failures is diagnosis.py's, paths are
planning/recovery.py's: change a behaviour between them in `update`, `_swap` or `_follow`.
test_packbot_recovery runs it in each engine.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import (
    FOUND,
    REFUSED,
    AccordError,
    Array,
    Command,
    Event,
    Fault,
    RobotState,
    Target,
    clip_efforts,
)
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.controllers.diagnosis import Detection, known_arm, make_diagnosis
from packbot.controllers.reach import ReachController
from packbot.controllers.torque import ComputedTorque, Integral
from packbot.model import compiled
from packbot.planning.reaching import ARM, MARGIN

if TYPE_CHECKING:
    from packbot.planning.recovery import Recoverer, Recovery
    from packbot.planning.trajectories import TimedPath

SLOW = 0.3  # part of the speed limits at which loose joints come along, nearly at rest
STILL = 0.02  # rad/s: arms slower than that are at rest
SMOOTH = 0.15  # s over which rates are averaged for that, where there is noise
REST = 0.3  # s for which they must be, until a new path is planned
PATIENCE = 8.0  # s after which it is planned anyhow
THOUGHT = 0.2  # s from then until a path begins, and
WAIT = 5.0  # s of wall time for which each state until then waits for the plan
SERVO = 1.0  # 1/s, of the tips' error at the end of a path
SERVED = 0.15  # rad that it adds at most
SOFT = 1e-4  # m^2, of its damping
LAST, LONGEST = 3.0, 50.0  # s for which the arm is at rest at the end of a path; s there at most
LEAN = 3.0  # s over which is averaged how an arm that is not its model hangs
CLOSE = 5e-3  # m from where the tips are to be: as long as they are farther,
CREEP = 1e-4  # rad/s: joints as fast as that are waited for
_log = logging.getLogger(__name__)


class RecoveryController:
    """Reach a target, and when a joint fails, with the joints that are left (Controller).

    A diagnosis sees each state and the commands. When it names a joint and its kind, or takes a
    name back, the arm is held until it is at rest. A joint that seems loose is held, too, and
    turned as the diagnosis asks, a little and back, before it is given up: one that is sound after
    all shows it. Then the model is swapped, a path is planned for the joints that are left, and
    tracked. At its end the tips are drawn to the target by what is measured: loose joints lie as
    they do. Where there is no path, the arm goes to the nearest point that has one. As long as a
    kind is open the arm goes on, which decides it.

    Args:
        setup: robot and scenario; the path starts at its initial state.
        target: where the finger tips shall be, x, y, z.
        watch: distance from which the camera shall look at the target instead.
        speed: part of the speed limits that is used.
        bandwidth: of the control.
        margin: that the path keeps from touching.
        uncertainty: by how much the arm may differ from its model, for the diagnosis. With it the
            arm is controlled with care, as `reach` has it.
        identified: file of `accord identify packbot BAG --json`: all of this takes the arm as that
            has it, with the uncertainties that it leaves.
        diagnosis: by name, what finds the failures; see `controllers.diagnosis`.

    Attributes:
        planner: for the failed arm at rest; one that is set before serves where it fits.
    """

    def __init__(
        self,
        setup: Setup,
        target: Sequence[si.Metres] | None = None,
        watch: si.Metres = 0.0,
        speed: float = 0.8,
        bandwidth: si.RadiansPerSecond = 10.0,
        margin: si.Metres = MARGIN,
        uncertainty: Mapping[str, float] | None = None,
        identified: str = "",
        diagnosis: str = "told",
    ) -> None:
        self._known = known_arm(identified)
        self.planner: Recoverer | None = None
        keys = {"uncertainty": uncertainty, "known": self._known}
        with compiled("the controller recover"):
            self._diagnosis = make_diagnosis(setup, diagnosis, **keys)
        setup = self._known.setup(setup) if self._known else setup
        self._healthy = ReachController(
            setup, target, speed=speed, bandwidth=bandwidth, margin=margin
        )
        self._uncertain = uncertainty is not None or self._known is not None
        period = setup.scenario.control_period
        self._share = period / (period + SMOOTH) if self._uncertain else 1.0
        self._setup, self._target, self._watch = setup, np.array(target, dtype=float), watch
        self._speed, self._bandwidth, self._margin = speed, bandwidth, margin
        self._sound = ComputedTorque(setup, bandwidth, uncertain=True)
        self._integral = Integral(bandwidth, period)

    def reset(self, seed: int) -> None:
        """Forget everything, and plan the path of the healthy arm; `seed` is of the sampling."""
        self._seed = seed
        self._diagnosis.reset()
        self._integral.reset()
        self._effort, self._rate = np.zeros((2, len(self._setup.joints)))
        self.detected: dict[str, Detection] = {}
        self._doubts: list[str] = []
        self.reason, self.done = "", False
        self.started: float | None = None
        self.motion: TimedPath | None = None
        self.recovery: Recovery | None = None
        self._swap((), self._setup.initial)
        if not self._watch:
            try:
                self._healthy.reset(seed)
            except AccordError:
                return
            self.motion, self.started = self._healthy.motion, 0.0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion in force, or hold the arm, and what is found."""
        detections = self._diagnosis.update(state, self._effort)
        state = self._known.seen(state) if self._known else state
        self._rate = (1.0 - self._share) * self._rate + self._share * state.qd
        if np.abs(self._rate[:ARM]).max() > STILL:
            self._moved = state.time
        before, planned = self._faults, self.recovery
        for finding in detections:
            _log.warning(str(finding))
            named = self.detected.get(finding.joint)
            # A loose joint that was given up stays so: it has no drive that could show itself.
            given_up = named and named.kind == "loose" and finding.joint not in self._doubts
            if finding.kind == "unexplained" and given_up:
                continue
            if finding.kind in ("healthy", "unexplained"):
                self.detected.pop(finding.joint, None)
            else:
                self.detected[finding.joint] = finding
        if lost := [finding.joint for finding in detections if finding.kind == "stuck"]:
            self._swap(self._failures, state)
            self.reason = f"the encoder of {lost[0]} is stuck"
        elif self.reason and self._lost:
            self.done = self._rests(state)
        elif self._faults != before:
            self._swap(self._failures, state)
            # One that is frozen is not driven any more: gravity turns it if it is not.
            new = {joint: kind for joint, kind in self._faults.items() if joint not in before}
            self._doubts = [joint for joint, kind in new.items() if kind == "loose"]
        elif self._doubts and self._rests(state):
            self._probe(state)
        elif not self._doubts and self.started is None and (self._plan or self._rests(state)):
            self._replan(state)
        command = self._tried(state, self._follow(state))
        weak = [finding for finding in self.detected.values() if finding.kind == "weak"]
        if weak:
            effort = np.array(command.effort)
            for finding in weak:
                effort[self._setup.joints.index(finding.joint)] /= finding.size
            command = Command(clip_efforts(effort, self._setup.effort_limits))
        if self._known:
            command = self._known.driven(command, self._setup.effort_limits)
        self._effort = command.effort
        findings = [
            Event(finding.time, FOUND + finding.kind, finding.joint) for finding in detections
        ]
        if self.reason and self.recovery is not planned:
            findings.append(Event(state.time, REFUSED, self.reason))
        return replace(command, findings=tuple(findings))

    @property
    def _lost(self) -> bool:
        """Whether a joint's angle is not known any more."""
        return any(each.kind == "stuck" for each in self.detected.values())

    @property
    def _faults(self) -> dict[str, str]:
        """Kinds of the failures that are known, by joint."""
        return {each.joint: each.kind for each in self.detected.values() if each.fault}

    @property
    def _failures(self) -> list[Fault]:
        """Faults of the joints that are known to fail."""
        return [detection.fault for detection in self.detected.values() if detection.fault]

    def _swap(self, faults: Sequence[Fault], state: RobotState) -> None:
        """Swap the model, and hold the arm where it is."""
        from packbot.controllers.torque import FailedTorque
        from packbot.planning.failed_arm import FailedArm

        self._hold = state.q
        self._served, self._lean = np.zeros((2, len(state.q)))
        self.started = self.motion = self.recovery = None
        self._doubts = []  # joints that were named, and are not given up yet
        self._turn: tuple[TimedPath, float] | None = None
        self._plan: Future[tuple[Recoverer, Recovery]] | None = None
        self._since = self._moved = state.time
        self.arm = FailedArm(self._setup, faults, q=state.q, watch=self._watch)
        self._control = FailedTorque(
            self._setup, self.arm, self._bandwidth, uncertain=self._uncertain
        )

    @property
    def _plain(self) -> bool:
        """Whether a healthy arm that is not its model reaches as it would without all this."""
        return self._uncertain and not self.arm.faults

    def _rests(self, state: RobotState) -> bool:
        """Return whether the arm has been at rest for a while, camera and wrist apart."""
        return state.time - self._moved >= REST or state.time - self._since >= PATIENCE

    def _probe(self, state: RobotState) -> None:
        """Turn the joint that was named last a little and back; a joint that is done is given up.

        Others are held, and a joint whose motion is not safe is not turned.
        """
        from packbot.planning.trajectories import in_time

        if self._turn is None and state.time - self._moved >= REST:
            joint = self._setup.joints.index(self._doubts[-1])
            turn = self._diagnosis.probe(state.q, joint)
            if turn is not None:
                corners = np.array([state.q, state.q + turn, state.q])
                with contextlib.suppress(AccordError):  # more than its drive can do
                    self._turn = in_time(self._setup, corners, self._speed), state.time
        if self._turn is None or state.time > self._turn[1] + self._turn[0].duration:
            self._turn = None
            self._doubts.pop()

    def _tried(self, state: RobotState, command: Command) -> Command:
        """Return a command in which joints that are in doubt are held or turned as sound ones."""
        if not self._doubts:
            return command
        r, rate, change = self._hold, np.zeros(len(state.q)), np.zeros(len(state.q))
        if self._turn:
            r, rate, change = self._turn[0].at(state.time - self._turn[1])
        sound, effort = self._sound.command(state, r, rate, change).effort, command.effort.copy()
        for joint in map(self._setup.joints.index, self._doubts):
            effort[joint] = sound[joint]
        return replace(command, effort=effort)

    def _replan(self, state: RobotState) -> None:
        """Plan a path from the resting pose, in a thread: a slow machine is waited for.

        The path begins `THOUGHT` later, so that it does not depend on how fast the machine is.
        """
        from packbot.planning.trajectories import in_time

        if self._plan is None:
            pool = ThreadPoolExecutor(1)
            self._plan = pool.submit(self._planned, self.arm.faults, state.q)
            pool.shutdown(wait=False)  # its thread ends with the plan
            self._since = state.time
        wait([self._plan], WAIT)
        if state.time - self._since < THOUGHT:
            return
        self.planner, self.recovery = self._plan.result()
        self.reason = self.recovery.reason
        self.started, self._hold = state.time, self.recovery.corners[0]
        if len(self.recovery.corners) > 1:
            slow = SLOW if self.planner.tree else self._speed
            self.motion = in_time(self._setup, self.recovery.corners, slow)

    def _planned(self, faults: Sequence[Fault], q: Array) -> tuple[Recoverer, Recovery]:
        """Return a planner, with an arm of its own, and its path from the angles q (7,) [rad]."""
        from packbot.planning.failed_arm import FailedArm
        from packbot.planning.recovery import Recoverer

        planner = self.planner
        arm = FailedArm(self._setup, faults, q=q, watch=self._watch)
        if planner is None or not planner.starts_at(arm, q):
            planner = Recoverer(arm, q, self._seed, self._margin)
        return planner, planner.reach(self._target)

    def _follow(self, state: RobotState) -> Command:
        """Return the efforts along the motion, or those that hold the arm."""
        r, rate, change = self._hold, np.zeros(len(state.q)), np.zeros(len(state.q))
        time = state.time - (self.started or 0.0)
        if self.motion is not None:
            r, rate, change = self.motion.at(time)
        end = self.motion.duration if self.motion is not None else 0.0
        if self.started is not None and time > end:
            rested = min(time - end, state.time - self._moved) > LAST
            settled = self._serve(state) < CLOSE or np.abs(state.qd[:ARM]).max() < CREEP
            self.done = (rested and settled) or time > end + LONGEST
        r = r + self._served
        if self._uncertain:
            wanted, active = state.q.copy(), self.arm.active
            wanted[active] = r[active]
            r = self._integral.added(wanted, state.q)
        return self._control.command(state, r, rate, change)

    def _serve(self, state: RobotState) -> float:
        """Draw the tips to where they are to be, by what is measured; return how far they are [m].

        A healthy arm that is not its model is left to `Integral`, as `reach` leaves it.
        Where loose joints swing freely, that is about where they come to hang; by the model, and
        where that is uncertain by how they have hung of late beside it.
        """
        aim = self.recovery.nearest if self.recovery and self.reason else self._target
        q = state.q
        away = float(np.linalg.norm(aim - self.arm.kinematics.tip(q)))
        if self._plain:
            return away
        if not len(self.arm.propping(q)):
            q = self.arm.hang(q)
            if self._uncertain:
                share = self._setup.scenario.control_period / LEAN
                self._lean += share * (state.q - q - self._lean)
                q = q + self._lean
        error = aim - self.arm.kinematics.tip(q)
        lines = self.arm.tip_jacobian(q)
        step = lines.T @ np.linalg.solve(lines @ lines.T + SOFT * np.eye(3), error)
        self._served += SERVO * self._setup.scenario.control_period * step
        np.clip(self._served, -SERVED, SERVED, out=self._served)
        return away
