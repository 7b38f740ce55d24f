"""Partial failures of a joint, distinguished from whole ones by the effort that it lacks.

The lacking effort is that of the motion, less all that the arm as it was known before the failure
explains. In means over `BLOCK` it is compared with what each failure would make of it: with the
commanded effort u and the rate q',

    loose: -u,    weak: -(1 - f) u,    slipping: -c sign(q'), at most c at rest,    frozen: q' = 0,

f, the fraction that is left of the drive, and c, the friction of a brake, by least squares. An
error that all means share, because the arm is not known exactly, counts once.

The constants may be tuned; most were chosen on the arms of docs/packbot_failures.md's table, which
benchmarks/campaigns/partial_faults.py makes anew. A failure of another law is another misfit in
`PartialCase.judge`. Whole failures must stay named as by the detector alone (test_diagnosis).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from packbot.controllers.diagnosis import Verdict
from roboaccord.contract import Array

from roboaccord_studies.packbot.detection.balance import Tick
from roboaccord_studies.packbot.detection.detector import SIGMAS, SLOW
from roboaccord_studies.packbot.detection.filters import N

PARTIAL = ("weak", "slipping")  # verdicts
BLOCK = 0.1  # s of a mean
PERIODS = 10.0  # control periods in a mean, of 10 ms each
FEWEST, MOST = 3, 25  # number of means that are compared
CLEAR = 25.0  # chi^2 by which one failure beats all others
FITS = 4.0  # chi^2 that it may leave of each mean
PARTLY = (0.15, 0.95)  # fractions of an effort that a weak drive gives, at least and at most
ROUND_OFF = 1e-9  # s: of times
NO_EFFORT = 1e-12  # chi^2 of commanded efforts, at least: against division by 0


class Sample(NamedTuple):
    """What a joint lacked in a tick, or a mean of that over several.

    Args:
        lacks: effort that is missing [N m].
        effort: that was commanded [N m].
        rate: [rad/s].
        jitter: standard deviation of a mean of `lacks` by the noise of rates [N m].
        noise: standard deviation of the rates [rad/s].
        unsure: variance of `lacks` by what is not known of the arm [(N m)^2].
    """

    lacks: float
    effort: float
    rate: float
    jitter: float
    noise: float
    unsure: float


class PartialCase:
    """A joint that was named, and the failures that would explain what it lacks.

    Args:
        joint: index.
        hidden: standard deviation of the effort that is not known [N m].
        known: unknowns of the arm before it failed, and their covariance (m,), (m, m).
        began: when it failed, as estimated [s].

    Attributes:
        named: kind that the detector has named.
        verdict: what is found instead, or None.
        sizes: effort that is missing [N m]; and f, or c [N m], of a partial failure.
    """

    def __init__(self, joint: int, hidden: float, known: tuple[Array, Array], began: float) -> None:
        self._joint, self._hidden, self.known, self.began = joint, hidden, known, began
        self._samples = list[Sample]()  # since the last mean
        self._blocks = deque[Array](maxlen=MOST)  # means, each as a `Sample`
        self._time = self._block_start = began  # [s]
        self._due = False  # whether there is a mean that was not judged yet
        self.named: Verdict = "healthy"
        self.verdict: Verdict | None = None
        self.sizes = 0.0, 0.0

    def take(self, time: float, tick: Tick, before: Array, after: Array) -> None:
        """Take a tick that ends at a time [s], from rates to rates (7,) [rad/s]."""
        j, period, self._time = self._joint, time - self._time, time
        if tick.touched:
            self._samples.clear()
            self._block_start = time
            return
        unknowns, spread = self.known
        mass = np.linalg.inv(tick.free)[j]  # row of the mass matrix over the period
        lacks = mass @ (after - tick.keep @ before) - tick.modelled[j] - tick.motor[j]
        lacks -= tick.effects[j] @ unknowns
        steady = tick.effects[j].copy()
        steady[:N] = 0.0  # wandering efforts do not last
        jitter = float(np.linalg.norm(mass)) * period * tick.noise * 2.0**0.5 / BLOCK
        rate, unsure = 0.5 * float(before[j] + after[j]), float(steady @ spread @ steady)
        sample = Sample(float(lacks), float(tick.motor[j]), rate, jitter, tick.noise, unsure)
        self._samples.append(sample)
        if time - self._block_start >= BLOCK - ROUND_OFF:
            self._blocks.append(np.mean(self._samples, axis=0))
            self._samples.clear()
            self._block_start, self._due = time, True

    def judge(self) -> Verdict | None:
        """Return what is found instead of the name; None as long as nothing speaks against it."""
        if not self._due or len(self._blocks) < FEWEST or self.verdict in PARTIAL:
            return self.verdict
        self._due = False
        lacks, effort, rate, jitter, noise, unsure = np.array(self._blocks).T
        weight = 1.0 / (self._hidden**2 + jitter**2)
        if self.named == "loose" and weight @ effort**2 < CLEAR:
            return self.verdict  # without a command a weak joint cannot be told from a loose one
        sign = np.sign(rate) * (np.abs(rate) > SLOW + SIGMAS * noise * PERIODS**-0.5)
        missing = -float(weight * lacks @ effort) / max(float(weight * effort @ effort), NO_EFFORT)
        friction, slipping = _slipping(lacks, sign, weight)
        shared = self._hidden**2 + float(unsure.mean())

        def misfit(errors: Array) -> float:
            common = float(weight @ errors)
            return float(weight @ errors**2) - common**2 / (float(weight.sum()) + 1.0 / shared)

        misfits: dict[Verdict, float] = {
            "healthy": misfit(lacks),
            "loose": misfit(lacks + effort),
            # In the first mean it may have turned before it failed.
            "frozen": np.inf if sign[1:].any() else 0.0,
            "weak": misfit(lacks + missing * effort),
            "slipping": misfit(slipping),
        }
        self._conclude(misfits, float(lacks[-1]), 1.0 - missing, friction)
        return self.verdict

    def _conclude(
        self, misfits: dict[Verdict, float], lacks: float, fraction: float, friction: float
    ) -> None:
        """Set the verdict by the misfits [chi^2] of the failures.

        Args:
            misfits: by verdict.
            lacks: effort that was missing last [N m].
            fraction: f, of the drive.
            friction: c, of the brake [N m].
        """
        partly = PARTLY[0] < fraction < PARTLY[1]
        best, second = sorted(misfits, key=lambda kind: misfits[kind])[:2]
        fits = misfits[best] <= FITS * len(self._blocks)
        fits = fits and misfits[second] - misfits[best] > CLEAR and (best == "slipping" or partly)
        rival = min(misfits["slipping"], misfits["weak"] if partly else np.inf)
        if fits and best in PARTIAL:
            self.verdict = best
            self.sizes = lacks, fraction if best == "weak" else friction
        elif misfits.get(self.named, 0.0) > rival + CLEAR:
            self.verdict, self.sizes = "unexplained", (lacks, 0.0)


def _slipping(lacks: Array, sign: Array, weight: Array) -> tuple[float, Array]:
    """Return the friction c [N m] of a brake that slips, and what it leaves of the efforts (k,).

    Args:
        lacks: effort that is missing (k,) [N m].
        sign: of the rate, 0 at rest (k,).
        weight: one over the variance of `lacks` (k,) [1/(N m)^2].
    """
    turns = sign != 0.0
    friction = float(np.abs(lacks).max())  # of a brake that has not slipped
    if turns.any():
        friction = max(-float(weight * lacks @ sign) / float(weight @ turns), 0.0)
    at_rest = np.maximum(np.abs(lacks) - friction, 0.0)
    return friction, np.where(turns, lacks + friction * sign, at_rest)
