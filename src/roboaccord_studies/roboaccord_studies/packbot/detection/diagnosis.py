"""Diagnosis of the arm: whole failures, partial failures, and stuck encoders.

`Diagnosis` combines three methods, which all take the measured states one by one:

- The detector tells whether each joint is healthy, loose or frozen (detector.py).
- A joint that the detector reports is examined for partial failures, a weak drive or a slipping
  brake (partial.py). If one explains the joint's efforts better, it is reported instead, and the
  detector's filters allow any effort of this joint from then on.
- Readings that repeat show a stuck encoder (stuck.py). Once one is found, reports since it stopped
  are taken back, and nothing more is reported, because an angle is no longer known.

ESTIMATE_AGE and MEMORY may be tuned. Whole failures must be reported as by the detector alone
(test_diagnosis).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from packbot.controllers.diagnosis import Detection
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array, RobotState
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.balance import Tick
from roboaccord_studies.packbot.detection.detector import Detector
from roboaccord_studies.packbot.detection.partial import PARTIAL, PartialCase
from roboaccord_studies.packbot.detection.stuck import REPEATS, StuckEncoders
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

# s; the unknowns are taken this long before a failure, when it cannot affect them, as
# detector.PATIENCE.
ESTIMATE_AGE = 0.3
# s; past ticks are kept for this time, longer than a failure takes to be found: half of all take
# 0.33 s or less (docs/packbot_failures.md)
MEMORY = 1.5


class PastTick(NamedTuple):
    """A past control period, and the estimate of the arm before it.

    Args:
        time: at its end [s].
        estimate: unknowns of the arm as estimated before it (m,), and their covariance (m, m).
        tick: terms of its balance of efforts.
        before: measured rates at its start (7,) [rad/s].
        after: measured rates at its end (7,) [rad/s].
    """

    time: float
    estimate: tuple[Array, Array]
    tick: Tick
    before: Array
    after: Array


class Diagnosis:
    """Diagnosis of the arm, which takes measured states one by one as `detector.Detector` does.

    Args:
        setup: robot and scenario.
        payload: known payload at the finger tips [kg].
        uncertainty: by how much the arm may differ from its model.
    """

    def __init__(
        self, setup: Setup, payload: float = 0.0, uncertainty: Uncertainty | None = None
    ) -> None:
        self.detector = Detector(setup, payload, uncertainty=uncertainty)
        uncertainty = uncertainty or Uncertainty()
        self._hidden = uncertainty.hidden(setup.effort_limits)
        self._encoders = StuckEncoders(uncertainty.rate_noise)
        self.reset()

    def reset(self) -> None:
        """Return to the state at the start of a run."""
        self.detector.reset()
        self._past = deque[PastTick]()  # ticks of the last `MEMORY` seconds, oldest first
        self._state: RobotState | None = None  # last measured state
        self._cases = dict[int, PartialCase]()  # examinations, by index of the joint
        self._reports = list[tuple[float, str]]()  # times [s] and joints of all reports
        self._encoder_stuck = False

    def update(self, state: RobotState, effort: Array) -> tuple[Detection, ...]:
        """Return new reports about joints, by a measured state and the effort (7,) before it."""
        if self._encoder_stuck:
            return ()
        before = self._state
        self._state = state
        estimate = (self.detector.unknowns, self.detector.spread)
        detections = self.detector.update(state, effort)
        if before is None:
            self._encoders.reset(state.time)
            return detections
        tick = self.detector.tick
        self._past.append(PastTick(state.time, estimate, tick, before.qd, state.qd))
        while self._past[0].time < state.time - MEMORY:
            self._past.popleft()
        # A stuck encoder has no noise: the noise is that of the tick before readings repeated.
        ticks_ago = min(len(self._past), REPEATS + 2)
        noise = self._past[-ticks_ago].tick.noise
        counted = bool(self.detector.noise.count)
        stuck = self._encoders.update(before, state, tick, estimate[0], noise, counted=counted)
        if stuck is not None:
            return self._report_stuck(stuck, state.time)
        detections = self._revised(detections, state.time)
        self._reports += [(state.time, detection.joint) for detection in detections]
        return detections

    def _report_stuck(self, stuck: int, time: float) -> tuple[Detection, ...]:
        """Report the stuck encoder of a joint (index), and take back the reports since it stopped.

        "healthy" takes a report back.
        """
        self._encoder_stuck = True
        began = time - REPEATS * (time - self._past[-2].time)  # REPEATS periods ago
        reported = [name for when, name in self._reports if when > began and name != JOINTS[stuck]]
        taken_back = (Detection(name, "healthy", time, time - began) for name in reported)
        return (*taken_back, Detection(JOINTS[stuck], "stuck", time, time - began))

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return the kinds of each joint that measurements cannot tell apart.

        See `Detector.open_explanations`; joints with a verdict about partial failures are left out.
        """
        if self._encoder_stuck:
            return {}
        judged = [JOINTS[j] for j, case in self._cases.items() if case.verdict]
        explanations = self.detector.open_explanations()
        return {joint: kinds for joint, kinds in explanations.items() if joint not in judged}

    def _revised(self, detections: tuple[Detection, ...], time: float) -> tuple[Detection, ...]:
        """Return the detector's reports, those of partially failed joints replaced."""
        # Open an examination of each joint that the detector reports for the first time.
        for detection in detections:
            if detection.kind != "healthy":
                joint = JOINTS.index(detection.joint)
                if joint not in self._cases:
                    self._cases[joint] = self._open_case(joint, time - detection.delay)
                self._cases[joint].named = detection.kind
        # Give the last tick to all examinations, and report verdicts that have changed.
        changed = list[Detection]()
        last = self._past[-1]
        for joint, case in self._cases.items():
            case.add(time, last.tick, last.before, last.after)
            before = case.verdict
            kind = case.judge()
            if kind and kind != before:
                name, delay = JOINTS[joint], time - case.began
                changed.append(Detection(name, kind, time, delay, case.residual, case.size))
                if kind in PARTIAL:
                    self.detector.exempt(joint, *case.estimate)
        judged = {JOINTS[joint] for joint, case in self._cases.items() if case.verdict}
        return (*(report for report in detections if report.joint not in judged), *changed)

    def _open_case(self, joint: int, began: float) -> PartialCase:
        """Return an examination of a joint that failed at a time [s], with all ticks but the last.

        The unknowns of the arm are those ESTIMATE_AGE seconds earlier, or the oldest ones kept.
        """
        earlier = [past.estimate for past in self._past if past.time <= began - ESTIMATE_AGE]
        estimate = earlier[-1] if earlier else self._past[0].estimate
        case = PartialCase(joint, float(self._hidden[joint]), estimate, began)
        for past in list(self._past)[:-1]:
            if past.time > began:
                case.add(past.time, past.tick, past.before, past.after)
        return case
