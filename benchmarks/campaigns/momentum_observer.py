"""Detection by an observer of the generalised momentum, with an adaptive threshold: a baseline.

Its residual is the effort that the model lacks, low-pass filtered [De Luca, Mattone 2005; Haddadin
et al. 2017]. The threshold is what errors of the model may make of it in the present motion, as
known before, and noise. Nothing is learnt of the arm.
"""

from __future__ import annotations

import numpy as np
from packbot.controllers.diagnosis import Detection, Verdict
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array, RobotState, clip_efforts
from roboaccord.scenario import Setup
from roboaccord_studies.packbot.detection.balance import Balance, Belief
from roboaccord_studies.packbot.detection.bank import BLIND_TIME
from roboaccord_studies.packbot.detection.detector import REST_RATE, SIGMAS
from roboaccord_studies.packbot.detection.filters import N
from roboaccord_studies.packbot.detection.noise import Noise
from roboaccord_studies.packbot.detection.touching import Touching
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty

LAG = 0.1  # s of the observer: ten ticks, as observers of this kind have
# Of the standard deviation of the residual, the threshold: exceeded by chance in 6 of 100,000;
# detector_roc.py has others.
FACTOR = 4.0
PATIENCE = 0.1  # s for which it must be passed, one LAG


class MomentumObserver:
    """Watch the arm, state by state; see `detector.Detector`, which has the same face."""

    def __init__(self, setup: Setup, threshold: float = FACTOR) -> None:
        u = Uncertainty()
        self._limits, self._factor = setup.effort_limits, threshold
        self._balance = Balance(setup, 0.0, u)
        self._noise = Noise((float(np.hypot(u.angle_noise, 0.3 * u.quantisation)), u.rate_noise))
        self._touching = Touching(setup, u.angle_noise, u.encoder_offset, u.length)
        self.reset()

    def reset(self) -> None:
        """Forget all, as at the start of a run."""
        for part in (self._balance, self._noise, self._touching):
            part.reset()
        self._time: float | None = None
        self._residual, self._effort, self._variance = np.zeros((3, N))
        self._over, self._still = np.zeros((2, N))
        self._reported = set[int]()

    def update(self, state: RobotState, effort: Array) -> tuple[Detection, ...]:
        """Take what was measured, and the effort that was commanded up to then."""
        time, q, qd = state.time, state.q, state.qd
        if self._time is None:
            self._time = self._begun = time
            self._touching.update(time, q, qd)
            self._noise.update(q, qd, 0.0)
            self._balance.angles = q
            self._last = qd
            return ()
        period, self._time = time - self._time, time
        noise = self._noise.update(q, qd, period)
        impulses, stops = self._touching.update(time, q, qd)
        size = N + len(self._balance.unknowns.prior)
        mean, spread = np.zeros(size), np.zeros((size, size))
        mean[:N] = self._last
        tau = clip_efforts(effort, self._limits)
        belief = Belief(mean, spread, np.zeros(N, dtype=np.bool_))
        tick = self._balance.tick(q, belief, tau, period, float(noise[0]))
        mass = np.linalg.inv(tick.free)  # over the period
        lacking = mass @ (qd - tick.keep @ self._last) - tick.modelled - tick.motor
        self._last = qd
        part = period / LAG
        self._residual += part * (lacking - self._residual)
        self._effort += part * (tick.motor - self._effort)
        expected = (tick.effects * self._balance.unknowns.prior) ** 2
        self._variance += part * (expected.sum(axis=1) - self._variance)
        jitter = noise[1] * period / LAG * np.linalg.norm(mass, axis=1)
        limit = self._factor * np.sqrt(self._variance + tick.white + jitter**2)
        at_rest = np.abs(qd) < SIGMAS * noise[1] + REST_RATE
        self._still = np.where(at_rest, self._still + period, 0.0)
        touched = impulses.any() or stops.any()
        over = (np.abs(self._residual) > limit) & (not touched)
        self._over = np.where(over, self._over + period, 0.0)
        if touched:
            self._residual[:] = 0.0
        due = np.flatnonzero(self._over >= PATIENCE)
        if time < self._begun + BLIND_TIME or not len(due):
            return ()
        joint = int(due[(np.abs(self._residual) / limit)[due].argmax()])
        if joint in self._reported:
            return ()
        self._reported.add(joint)
        loose = bool(abs(self._residual[joint] + self._effort[joint]) < limit[joint])
        frozen = bool(self._still[joint] >= PATIENCE)
        kind: Verdict = "undetermined"
        if loose is not frozen:
            kind = "loose" if loose else "frozen"
        delay = float(self._over[joint])
        return (Detection(JOINTS[joint], kind, time, delay, float(self._residual[joint])),)
