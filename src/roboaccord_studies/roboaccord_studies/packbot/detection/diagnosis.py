"""Diagnosis of the arm: what the detector names, partial failures, and encoders that are stuck.

The detector's filters know joints that are healthy, loose or frozen (detector.py). A joint that it
names is examined again for partial failures (partial.py); if one fits better, that is reported in
place of the name, and the filters take the joint's effort for anything from then on. Encoders that
are stuck are looked for in the readings (stuck.py). Once one is found, the names given in the
meantime are taken back, and nothing more is reported, because an angle is no longer known.

BEFORE and MEMORY may be tuned. Whole failures must stay named as by the detector alone
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
from roboaccord_studies.packbot.detection.detector import THRESHOLD, Detector
from roboaccord_studies.packbot.detection.partial import PARTIAL, PartialCase
from roboaccord_studies.packbot.detection.stuck import REPEATS, StuckEncoders
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

BEFORE = 0.3  # s before a failure from which the arm's unknowns are taken, without a trace of it
MEMORY = 1.5  # s of ticks that are kept; failures are found sooner


class PastTick(NamedTuple):
    """A tick, and what was known before it.

    Args:
        time: at its end [s].
        known: unknowns of the arm before it, and their covariance (m,), (m, m).
        tick: terms of its balance.
        before, after: measured rates at its ends (7,) [rad/s].
    """

    time: float
    known: tuple[Array, Array]
    tick: Tick
    before: Array
    after: Array


class Diagnosis:
    """Diagnosis that watches the arm, state by state, with the methods of `detector.Detector`.

    Args:
        setup: robot and scenario.
        payload: at the finger tips, as known [kg].
        threshold: of the detector [chi^2].
        uncertainty: of the arm.
    """

    def __init__(
        self, setup: Setup, payload: float = 0.0, threshold: float = THRESHOLD,
        uncertainty: Uncertainty | None = None,
    ) -> None:  # fmt: skip
        self.detector = Detector(setup, payload, threshold, uncertainty)
        uncertainty = uncertainty or Uncertainty()
        self._hidden = uncertainty.hidden(setup.effort_limits)
        self._encoders = StuckEncoders(uncertainty.rate_noise)
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        self.detector.reset()
        self._past = deque[PastTick]()  # within `MEMORY`
        self._state: RobotState | None = None  # the last one
        self._cases = dict[int, PartialCase]()  # by index of the joint
        self._names = list[tuple[float, str]]()  # times and joints of all detections
        self._blind = False  # whether an encoder is stuck

    def update(self, state: RobotState, effort: Array) -> tuple[Detection, ...]:
        """Take what was measured, and the effort that was commanded up to then."""
        if self._blind:
            return ()
        before, estimate = self._state, (self.detector.unknowns, self.detector.spread)
        detections, self._state = self.detector.update(state, effort), state
        if before is None:
            self._encoders.reset(state.time)
            return detections
        tick = self.detector.tick
        self._past.append(PastTick(state.time, estimate, tick, before.qd, state.qd))
        while self._past[0].time < state.time - MEMORY:
            self._past.popleft()
        noise = self._past[-min(len(self._past), REPEATS + 2)].tick.noise  # before it stopped
        counted = bool(self.detector.noise.count)
        stuck = self._encoders.see(before, state, tick, estimate[0], noise, counted=counted)
        if stuck is not None:
            return self._blinded(stuck, state.time)
        detections = self._reviewed(detections, state.time)
        self._names += [(state.time, detection.joint) for detection in detections]
        return detections

    def _blinded(self, stuck: int, time: float) -> tuple[Detection, ...]:
        """Return that an encoder is stuck, and take back what was named since."""
        self._blind = True
        began = time - REPEATS * (time - self._past[-2].time)
        named = [name for since, name in self._names if since > began and name != JOINTS[stuck]]
        kept = (Detection(name, "healthy", time, time - began) for name in named)
        return (*kept, Detection(JOINTS[stuck], "stuck", time, time - began))

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what cannot be distinguished; see `Detector.open_explanations`."""
        if self._blind:
            return {}
        judged = [JOINTS[j] for j, case in self._cases.items() if case.verdict]
        explanations = self.detector.open_explanations()
        return {joint: kinds for joint, kinds in explanations.items() if joint not in judged}

    def _reviewed(self, detections: tuple[Detection, ...], time: float) -> tuple[Detection, ...]:
        """Return the detector's detections, with partial failures in place of their names."""
        for detection in detections:
            if detection.kind != "healthy":
                joint = JOINTS.index(detection.joint)
                if joint not in self._cases:
                    self._cases[joint] = self._opened(joint, time - detection.delay)
                self._cases[joint].named = detection.kind
        changed = list[Detection]()
        last = self._past[-1]
        for joint, case in self._cases.items():
            case.take(time, last.tick, last.before, last.after)
            before = case.verdict
            if (kind := case.judge()) and kind != before:
                delay = time - case.began
                changed.append(Detection(JOINTS[joint], kind, time, delay, *case.sizes))
                if kind in PARTIAL:
                    self.detector.exempt(joint, *case.known)
        judged = {JOINTS[joint] for joint, case in self._cases.items() if case.verdict}
        return (*(each for each in detections if each.joint not in judged), *changed)

    def _opened(self, joint: int, began: float) -> PartialCase:
        """Return the case of a joint that failed at a time [s], with its ticks before the last."""
        earlier = [past.known for past in self._past if past.time <= began - BEFORE]
        known = earlier[-1] if earlier else self._past[0].known
        case = PartialCase(joint, float(self._hidden[joint]), known, began)
        for past in list(self._past)[:-1]:
            if past.time > began:
                case.take(past.time, past.tick, past.before, past.after)
        return case
