"""Controller `recover`, which reaches a target even if joints fail during the motion.

A failed joint is frozen (locked at its angle) or loose (without drive). In each control period the
simulator calls `RecoveryController.update` with the measured state, and gets the efforts of the
joints and the reports of failures.

 1. The path of the healthy arm is tracked, while a diagnosis examines each state and the commands
    before it.
 2. When the diagnosis reports a frozen or loose joint, or takes a report back, the arm is held
    until it is at rest (rest.py).
 3. A joint that seems loose is turned a little, because a healthy one would move (doubts.py).
 4. A path is planned with the joints that still work (replanning.py), to the target or to the
    nearest point that has a path, and tracked by computed torque (torque.py).
 5. At its end, feedback of the measured angles moves the finger tips to the target (tip_servo.py).

Modules that need pinocchio or coal are imported in the functions that use them, because robot.py
imports this module where these libraries are missing, too.

The constants may be tuned; the pages on recovery were measured with these. test_packbot_recovery
runs the controller in each engine.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import REFUSED, AccordError, Command, Event, Fault, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.controllers.diagnosis import Detection, make_diagnosis
from packbot.controllers.identified import read_identified
from packbot.controllers.reach import ReachController
from packbot.controllers.rest import RestWatch
from packbot.controllers.tip_servo import TipServo
from packbot.controllers.torque import FailedTorque, Integral, with_weak_drives
from packbot.model import compiled
from packbot.planning.reaching import HAND_JOINTS, MARGIN

if TYPE_CHECKING:
    from packbot.planning.recovery import Recoverer, Recovery
    from packbot.planning.trajectories import TimedPath

# Fraction of the speed limits at which loose joints follow nearly in equilibrium: 0.15 rad/s of the
# shoulder, reached in RAMP (trajectories.py), accelerates elbow 2 by 0.5 m/s^2 at most: link 3
# leans by 0.05 rad.
LOOSE_SPEED = 0.3
# s; the arm must be at rest for so long at the end of a path: 3 / GAIN of tip_servo.py
REST_TIME = 3.0
# s; after this time at the end of a path it is final, even if the tips still move: 16 times that in
# which the swing of a loose elbow 2 decays (MAX_SWINGING_TIME in rest.py)
END_TIMEOUT = 50.0
# m; tips closer than that to their aim have arrived; half of what a reach allows
ARRIVAL_DISTANCE = 5e-3
# rad/s; joints slower than that will not bring the tips closer: by less than 0.6 mm in REST_TIME
CREEP_RATE = 1e-4
_log = logging.getLogger(__name__)


class RecoveryController:
    """Reach a target, and if a joint fails, with the remaining joints (Controller).

    As long as it is undetermined whether a failed joint is frozen or loose, the motion goes on,
    because it is needed to decide.

    Args:
        setup: robot and scenario; the path starts at its initial state.
        target: desired position of the finger tips, x, y, z.
        watch: if not 0, the camera has to look at the target from this distance instead.
        speed: fraction of the speed limits that is used.
        bandwidth: bandwidth of the control law.
        margin: distance that the path keeps from contact.
        uncertainty: by how much the arm may differ from its model, for the diagnosis. If given, the
            control law is that for an uncertain arm, as in `reach`.
        identified: file of `accord identify packbot BAG --json`: planning, control and diagnosis
            are for the identified arm, with the uncertainties that remain.
        diagnosis: name of the diagnosis that finds the failures; see `controllers.diagnosis`.

    Attributes:
        planner: planner for the failed arm at rest; one that is set beforehand is used if it fits.
        arm: the arm with the failures found so far.
        detected: last report about each failed joint, by name of the joint.
        motion: path that is tracked; None while the arm is held.
        started: time at which the motion, or the hold at its end, began [s]; None before.
        recovery: result of planning for the failed arm; None before.
        reason: why the target is refused, or "".
        done: whether the arm will not come closer.
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
        arm = read_identified(identified)  # the identified arm, or None
        with compiled("the controller recover"):
            from packbot.controllers.doubts import DoubtfulJoints
            from packbot.controllers.replanning import Replanner

            self._diagnosis = make_diagnosis(setup, diagnosis, uncertainty=uncertainty, known=arm)
        setup = arm.setup(setup) if arm else setup
        self._setup, self._identified = setup, arm
        self.planner: Recoverer | None = None
        self._healthy = ReachController(
            setup, target, speed=speed, bandwidth=bandwidth, margin=margin
        )
        self._uncertain = uncertainty is not None or arm is not None
        self._target, self._watch = np.array(target, dtype=float), watch
        self._speed, self._bandwidth = speed, bandwidth
        self._period = setup.scenario.control_period
        self._rest = RestWatch(self._period, noisy=self._uncertain)
        self._doubts = DoubtfulJoints(setup, speed, bandwidth)
        self._replanner = Replanner(setup, self._target, watch, margin)
        self._integral = Integral(bandwidth, self._period)

    def reset(self, seed: int) -> None:
        """Forget all failures, and plan the path of the healthy arm with a random seed."""
        self._seed = seed
        self._diagnosis.reset()
        self._integral.reset()
        self._rest.reset()
        self._effort = np.zeros(len(self._setup.joints))  # of the last command [N m]
        self.detected: dict[str, Detection] = {}
        self.reason = ""
        self.done = False
        self.motion: TimedPath | None = None
        self.started: float | None = None
        self.recovery: Recovery | None = None
        self._stop_arm(self._setup.initial)
        if not self._watch:
            try:
                self._healthy.reset(seed)
            except AccordError:
                return  # no path: `update` plans one to the nearest point
            self.motion, self.started = self._healthy.motion, 0.0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion or hold the arm, and new reports as events."""
        detections = self._diagnosis.update(state, self._effort)
        state = self._identified.corrected_state(state) if self._identified else state
        self._rest.add(state)
        earlier_faults, earlier_recovery = self._faults, self.recovery
        for detection in detections:
            _log.warning(str(detection))
            self._update_detected(detection)
        self._decide(detections, earlier_faults, state)
        command = self._doubts.drive(state, self._follow(state))
        weak = {d.joint: d.size for d in self.detected.values() if d.kind == "weak"}
        command = with_weak_drives(self._setup, command, weak) if weak else command
        if self._identified:
            command = self._identified.corrected_command(command, self._setup.effort_limits)
        self._effort = command.effort
        events = [detection.event for detection in detections]
        if self.reason and self.recovery is not earlier_recovery:
            events.append(Event(state.time, REFUSED, self.reason))
        return replace(command, findings=tuple(events))

    @property
    def _faults(self) -> tuple[Fault, ...]:
        """Faults of the joints that are known to be loose or frozen."""
        return tuple(report.fault for report in self.detected.values() if report.fault)

    def _update_detected(self, detection: Detection) -> None:
        """Update `detected` by a new report."""
        earlier = self.detected.get(detection.joint)
        # A loose joint that was given up remains loose: it is not driven, and could not be tested.
        is_doubted = detection.joint in self._doubts.names
        is_given_up = earlier is not None and earlier.kind == "loose" and not is_doubted
        if detection.kind == "unexplained" and is_given_up:
            return
        if detection.kind in ("healthy", "unexplained"):
            self.detected.pop(detection.joint, None)
        else:
            self.detected[detection.joint] = detection

    def _decide(
        self, detections: Sequence[Detection], earlier_faults: Sequence[Fault], state: RobotState
    ) -> None:
        """Stop the arm, test a joint, or plan a new path, by the first of these that applies.

        - The encoder of a joint gets stuck: the arm stops for good.
        - Other joints are known to be loose or frozen than before: the arm stops, and joints that
          are newly reported as loose are doubted.
        - Joints are doubted: when the arm is at rest, one is tested.
        - There is no motion: when the arm is at rest, one is planned.

        Args:
            detections: new reports.
            earlier_faults: faults that were known before them.
            state: measured state.
        """
        stuck_joints = [report.joint for report in detections if report.kind == "stuck"]
        old = {fault.joint: fault.kind for fault in earlier_faults}
        new = {fault.joint: fault.kind for fault in self._faults}
        if stuck_joints:
            self._stop_arm(state)
            self.reason = f"the encoder of {stuck_joints[0]} is stuck"
        elif self.reason and any(report.kind == "stuck" for report in self.detected.values()):
            self.done = self._rest.has_settled(state.time)  # stopped for good
        elif new != old:
            # Only loose joints are tested: a joint reported as frozen is no longer driven, so that
            # gravity turns it if it is not frozen.
            doubtful = [joint for joint in new if new[joint] == "loose" and joint not in old]
            self._stop_arm(state, doubtful)
        elif self._doubts.names:
            if self._rest.has_settled(state.time):
                self._doubts.test(state, self._diagnosis, at_rest=self._rest.at_rest(state.time))
        elif self.started is None and (
            self._replanner.pending or self._rest.has_settled(state.time)
        ):
            self._replan(state)

    def _stop_arm(self, state: RobotState, doubtful: Sequence[str] = ()) -> None:
        """Hold the arm where it is until there is a new path, as an arm with the known faults.

        Args:
            state: measured state.
            doubtful: names of loose joints that are tested before they are given up.
        """
        from packbot.planning.failed_arm import FailedArm

        self._held_angles = state.q  # angles to be held (7,) [rad]
        self.motion = self.started = self.recovery = None
        self._replanner.discard()
        self._rest.restart(state.time)
        self._doubts.restart(state.q, doubtful)
        setup, uncertain = self._setup, self._uncertain
        self.arm = FailedArm(setup, self._faults, q=state.q, watch=self._watch)
        self._servo = TipServo(self.arm, self._period, uncertain=uncertain)
        self._control = FailedTorque(setup, self.arm, self._bandwidth, uncertain=uncertain)

    def _replan(self, state: RobotState) -> None:
        """Start planning a path from the resting pose, or take the result when it is due."""
        from packbot.planning.trajectories import in_time

        plan = self._replanner.advance(state, self.arm.faults, self._seed, self.planner)
        if plan is None:
            return
        self.planner, self.recovery = plan
        self.reason = self.recovery.reason
        self.started, self._held_angles = state.time, self.recovery.corners[0]
        if len(self.recovery.corners) > 1:
            speed = LOOSE_SPEED if self.planner.tree else self._speed
            self.motion = in_time(self._setup, self.recovery.corners, speed)

    def _follow(self, state: RobotState) -> Command:
        """Return the efforts along the motion, or those that hold the arm."""
        elapsed = state.time - (self.started or 0.0)  # s
        end = 0.0  # s
        angles = self._held_angles
        rates = accelerations = np.zeros(len(state.q))
        if self.motion is not None:
            angles, rates, accelerations = self.motion.at(elapsed)
            end = self.motion.duration
        if self.started is not None and elapsed > end:
            self._finish(state, elapsed, end)
        angles = angles + self._servo.offset
        if self._uncertain:
            # Only the error of joints that can move is integrated.
            desired, active = state.q.copy(), self.arm.active
            desired[active] = angles[active]
            angles = self._integral.added(desired, state.q)
        return self._control.command(state, angles, rates, accelerations)

    def _finish(self, state: RobotState, elapsed: float, end: float) -> None:
        """Move the tips to their aim by feedback, and decide whether the reach is done.

        Args:
            state: measured state.
            elapsed: time since the motion began [s].
            end: duration of the motion [s].
        """
        aim = self.recovery.nearest if self.recovery and self.reason else self._target
        distance = self._servo.step(state.q, aim)
        has_rested = min(elapsed - end, state.time - self._rest.moved) > REST_TIME
        fastest = np.abs(state.qd[:HAND_JOINTS]).max()
        has_settled = distance < ARRIVAL_DISTANCE or fastest < CREEP_RATE
        self.done = bool((has_rested and has_settled) or elapsed > end + END_TIMEOUT)
