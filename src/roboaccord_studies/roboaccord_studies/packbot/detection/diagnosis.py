"""Partial failures, distinguished from whole ones: what a detector names is reexamined.

CLEAR, FITS and PARTLY decide what is weak, slips or stays whole, and may be tuned; most were chosen
on the arms of docs/packbot_failures.md's table, which benchmarks/campaigns/partial_faults.py makes
anew. A failure of another law is a column of `_Case.judge`. Whole failures must stay named as by
the detector alone (test_diagnosis).

The detector's filters know joints that are healthy, loose or frozen. Once it has named one, the
effort that the joint lacks by the arm as it was known before is compared, in means over `BLOCK`,
with what each failure would make of it: with the effort u that was commanded and the sign of the
rate,

    loose: -u,    weak: -(1 - f) u,    slipping: -c sign(q'), at most c at rest,    frozen: q' = 0

with f and c by least squares; an error that all means share, from what is not known of the arm,
counts once. A name that two of them share is not touched. The effort of a joint that is weak or
slips is anything to the filters from then on. An encoder that is
stuck repeats its reading to the bit, which noise never does; where there is none, its joint passes
on no impulse as it seems to stop. What was named meanwhile is taken back, and after that nothing is
found any more: the angle is not known. An encoder in counts, whose rates are differences, repeats
at rest, too: where it is stuck, its joint seems to be frozen.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from packbot.controllers.diagnosis import Detection, Verdict
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array, RobotState
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.detector import SIGMAS, SLOW, THRESHOLD, Detector, Tick
from roboaccord_studies.packbot.detection.filters import N
from roboaccord_studies.packbot.detection.noise import ADAPT, QUIET, SETTLED
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

BLOCK, FEWEST, MOST = 0.1, 3, 25  # s of a mean, and how many are compared
BEFORE, MEMORY = 0.3, 1.5  # s before a failure of which the arm is known, and that are kept
CLEAR = 25.0  # chi^2 by which one failure beats all others,
FITS = 4.0  # and what it may leave of each mean
PARTLY = (0.15, 0.95)  # least and most of an effort that is left; less is none
REPEATS = 5  # of a reading, to the bit
PASSED = 0.5  # part of an impulse that is one
PERIODS = 10.0  # of control, in a mean


class Diagnosis:
    """Watch the arm, state by state; see `detector.Detector`, which has the same face."""

    def __init__(
        self,
        setup: Setup,
        payload: float = 0.0,
        threshold: float = THRESHOLD,
        uncertainty: Uncertainty | None = None,
    ) -> None:
        self.detector = Detector(setup, payload, threshold, uncertainty)
        known = uncertainty or Uncertainty()
        self._hidden, self._noise = known.hidden(setup.effort_limits), known.rate_noise
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        self.detector.reset()
        self._past = deque[tuple[float, tuple[Array, Array], Tick, Array, Array]]()
        self._reading: tuple[Array, Array] | None = None
        self._repeats = np.zeros(N, dtype=np.int64)
        self._passes = np.ones(N, dtype=np.bool_)  # an impulse, as it stopped
        self._cases = dict[int, _Case]()
        self._named = list[tuple[float, str]]()
        self._blind = False

    def update(self, state: RobotState, effort: Array) -> tuple[Detection, ...]:
        """Take what was measured, and the effort that was commanded up to then."""
        time, q, qd = state.time, state.q, state.qd
        if self._blind:
            return ()
        before, estimate = self._reading, (self.detector.unknowns, self.detector.spread)
        detections = self.detector.update(state, effort)
        self._reading = q, qd
        if before is None:
            self._begun = time
            return detections
        tick = self.detector.tick
        self._past.append((time, estimate, tick, before[1], qd))
        while self._past[0][0] < time - MEMORY:
            self._past.popleft()
        repeats = (q == before[0]) & (qd == 0.0) & (not self.detector.noise.count)
        settled = time > self._begun + SETTLED  # before, the arm is not known
        for j in np.flatnonzero(repeats & (self._repeats == 0)).tolist():
            self._passes[j] = not settled or _passes(j, estimate[0], *self._past[-1][2:])
        self._repeats = np.where(repeats, self._repeats + 1, 0)
        assumed = self._noise * np.exp(-0.5 * (time - self._begun) / ADAPT)  # what is left of it
        noise = self._past[-min(len(self._past), REPEATS + 2)][2].noise  # before it stopped
        noisy = noise > 2.0 * (QUIET[1] + assumed)
        for j in np.flatnonzero(self._repeats == REPEATS).tolist():
            if noisy or not self._passes[j]:
                self._blind = True
                began = time - REPEATS * (time - self._past[-2][0])
                named = [n for since, n in self._named if since > began and n != JOINTS[j]]
                back = (Detection(n, "healthy", time, time - began) for n in named)
                return (*back, Detection(JOINTS[j], "stuck", time, time - began))
        detections = self._reviewed(detections, time)
        self._named += [(time, each.joint) for each in detections]
        return detections

    def open_explanations(self) -> dict[str, tuple[str, ...]]:
        """Return, by joint, what cannot be distinguished; see `Detector.open_explanations`."""
        found = {} if self._blind else self.detector.open_explanations()
        partly = [JOINTS[j] for j, case in self._cases.items() if case.verdict]
        return {joint: kinds for joint, kinds in found.items() if joint not in partly}

    def _reviewed(self, detections: tuple[Detection, ...], time: float) -> tuple[Detection, ...]:
        for detection in detections:
            joint = JOINTS.index(detection.joint)
            if joint in self._cases and detection.kind != "healthy":
                self._cases[joint].named = detection.kind
            if detection.kind != "healthy" and joint not in self._cases:
                began = time - detection.delay
                known = [k for t, k, *_ in self._past if t <= began - BEFORE] or [self._past[0][1]]
                case = _Case(joint, float(self._hidden[joint]), known[-1], began)
                for row in list(self._past)[:-1]:
                    if row[0] > began:
                        case.take(row[0], *row[2:])
                case.named = detection.kind
                self._cases[joint] = case
        more = list[Detection]()
        for joint, case in self._cases.items():
            case.take(time, *self._past[-1][2:])
            before = case.verdict
            if (kind := case.judge()) and kind != before:
                more.append(Detection(JOINTS[joint], kind, time, time - case.began, *case.sizes))
                if kind in PARTIAL:
                    self.detector.leave(joint, *case.known)
        judged = {JOINTS[joint] for joint, case in self._cases.items() if case.verdict}
        return (*(detection for detection in detections if detection.joint not in judged), *more)


class _Case:
    """Compare what a joint lacks with what failures would make of it.

    Args:
        joint: index.
        hidden: standard deviation of the effort that is not known [N m].
        known: of the arm, before it failed, and its covariance (m,), (m, m).
        began: when it failed, as estimated [s].

    Attributes:
        named: by the detector.
        verdict: what was found instead.
        sizes: effort that is missing [N m], and what the failure measures.
    """

    def __init__(self, joint: int, hidden: float, known: tuple[Array, Array], began: float) -> None:
        self._joint, self._hidden, self.known, self.began = joint, hidden, known, began
        self._steady = np.arange(len(known[0])) >= N  # unknowns that do not wander
        self._rows, self._blocks = list[tuple[float, ...]](), deque[Array](maxlen=MOST)
        self._last = self._since = began
        self._due = False
        self.named: Verdict = "healthy"
        self.verdict: Verdict | None = None
        self.sizes = 0.0, 0.0

    def take(self, time: float, tick: Tick, before: Array, after: Array) -> None:
        """Take a tick from rates to rates (7,) [rad/s]."""
        j, period, self._last = self._joint, time - self._last, time
        if tick.touched:
            self._rows.clear()
            self._since = time
            return
        mass = np.linalg.inv(tick.free)[j]  # over the period
        lacks = mass @ (after - tick.keep @ before) - tick.known[j] - tick.motor[j]
        unknowns, spread = self.known
        lacks -= tick.effects[j] @ unknowns
        effects = np.where(self._steady, tick.effects[j], 0.0)
        unsure = float(effects @ spread @ effects)
        jitter = float(np.linalg.norm(mass)) * period * tick.noise * 2.0**0.5 / BLOCK
        rate = 0.5 * float(before[j] + after[j])
        self._rows.append((float(lacks), float(tick.motor[j]), rate, jitter, tick.noise, unsure))
        if time - self._since >= BLOCK - 1e-9:
            self._blocks.append(np.mean(self._rows, axis=0))
            self._rows.clear()
            self._since, self._due = time, True

    def judge(self) -> Verdict | None:
        """Return what is found instead of the name; None as long as nothing speaks against it."""
        if not self._due or len(self._blocks) < FEWEST or self.verdict in PARTIAL:
            return self.verdict
        self._due = False
        lacks, effort, rate, jitter, noise, unsure = np.array(self._blocks).T
        weight = 1.0 / (self._hidden**2 + jitter**2)
        shared = self._hidden**2 + float(unsure.mean())  # of what is wrong alike in all blocks

        def misfit(errors: Array) -> float:
            common = float(weight @ errors)
            return float(weight @ errors**2) - common**2 / (float(weight.sum()) + 1.0 / shared)

        if self.named == "loose" and weight @ effort**2 < CLEAR:
            return self.verdict  # where nothing is asked of it, one that is weak would be no other
        sign = np.sign(rate) * (np.abs(rate) > SLOW + SIGMAS * noise * PERIODS**-0.5)
        turns = sign != 0.0
        gain = -float(weight * lacks @ effort) / max(float(weight * effort @ effort), 1e-12)
        most = float(np.abs(lacks).max())  # of a brake that has not slipped
        if turns.any():
            most = max(-float(weight * lacks @ sign) / float(weight @ turns), 0.0)
        rest = np.where(turns, lacks + most * sign, np.maximum(np.abs(lacks) - most, 0.0))
        residuals: dict[Verdict, float] = {
            "healthy": misfit(lacks),
            "loose": misfit(lacks + effort),
            "frozen": np.inf if turns[1:].any() else 0.0,  # it may have turned before it failed
            "weak": misfit(lacks + gain * effort),
            "slipping": misfit(rest),
        }
        partial = PARTLY[0] < 1.0 - gain < PARTLY[1]
        rival = min(residuals["slipping"], residuals["weak"] if partial else np.inf)
        best, second = sorted(residuals, key=lambda kind: residuals[kind])[:2]
        size = 1.0 - gain if best == "weak" else most
        fits = residuals[best] <= FITS * len(lacks) and residuals[second] - residuals[best] > CLEAR
        fits = fits and (best == "slipping" or partial)
        if fits and best in PARTIAL:
            self.verdict, self.sizes = best, (float(lacks[-1]), size)
        elif residuals.get(self.named, 0.0) > rival + CLEAR:
            self.verdict, self.sizes = "unexplained", (float(lacks[-1]), 0.0)
        return self.verdict


PARTIAL = ("weak", "slipping")


def _passes(joint: int, known: Array, tick: Tick, before: Array, after: Array) -> bool:
    """Return whether the other joints show that an impulse has stopped one, in a tick."""
    expected = tick.keep @ before + tick.free @ (tick.known + tick.motor + tick.effects @ known)
    shape = np.delete(tick.free[:, joint] / tick.free[joint, joint], joint)
    jump = np.delete(after - expected, joint)
    wanted = -float(expected[joint]) * float(shape @ shape)
    return abs(wanted) < 10.0 * QUIET[1] or float(shape @ jump) / wanted > PASSED
