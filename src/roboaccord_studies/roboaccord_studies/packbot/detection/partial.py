"""Partial failures of a joint: a weak drive or a slipping brake, told from whole failures.

The detector (detector.py) finds failed joints of the Packbot's arm, from measured joint states and
commanded efforts. A joint that it reports may have failed in part only. The residual effort of a
joint is the effort that its motion needs, less all efforts that the arm explains as estimated
before the failure. Means of the residual over `MEAN_TIME` are compared with what each failure would
cause, with the commanded effort u and the rate q':

    loose       -u
    weak        -(1 - f) u, with the fraction f of its effort that the drive still gives
    slipping    -c sign(q') in motion, between -c and c at rest, with the friction c of the brake
    frozen      anything, but q' = 0

f and c are fitted by least squares. Each failure has a misfit, the chi^2 of the errors that remain
(the sum of their squares over their variances). The failure with the smallest misfit is the
verdict, if it fits, and beats all others clearly. An error that all means share, because the arm is
not known exactly, counts once.

The constants may be tuned; most were chosen for the table of docs/packbot_failures.md, which
benchmarks/campaigns/partial_faults.py computes. Whole failures must be reported as by the detector
alone (test_diagnosis).
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from packbot.controllers.diagnosis import Verdict
from roboaccord.contract import Array

from roboaccord_studies.packbot.detection.balance import Tick
from roboaccord_studies.packbot.detection.detector import REST_RATE, SIGMAS
from roboaccord_studies.packbot.detection.filters import N

PARTIAL = ("weak", "slipping")  # verdicts that are partial failures
# s; duration of a mean: ten ticks (control periods), so that the noise of rates is divided by 3
MEAN_TIME = 0.1
TICKS_PER_MEAN = 10.0  # number of ticks in a mean, of 10 ms each
MIN_MEANS = 3  # smallest number of means that are compared: two unknowns, and one to check
MAX_MEANS = 25  # largest number of means that are compared: 2.5 s, the delay that a report may have
LEAD = 25.0  # chi^2; lead that the best failure needs over all others: five standard deviations
MAX_MISFIT = 4.0  # chi^2 per mean; bound up to which a failure fits: twice the noise
# Bounds of the fraction f of a weak drive: outside them it counts as loose, or as healthy. Chosen
# on the arms of the table in docs/packbot_failures.md.
WEAK_FRACTIONS = (0.15, 0.95)
ROUND_OFF = 1e-9  # s; rounding errors of times
# chi^2; lower bound of commanded efforts, against division by 0; any below 1, what noise has.
NO_EFFORT = 1e-12


class Sample(NamedTuple):
    """Residual effort of a joint in a tick (control period), or its mean over several ticks.

    Args:
        residual: residual effort [N m].
        effort: commanded effort [N m].
        rate: mean rate of the joint [rad/s].
        jitter: standard deviation of a mean of `residual` by the noise of rates [N m].
        noise: standard deviation of the noise of rates [rad/s].
        variance: of `residual` by errors of the estimated unknowns of the arm [(N m)^2].
    """

    residual: float
    effort: float
    rate: float
    jitter: float
    noise: float
    variance: float


class PartialCase:
    """Examination of a joint that the detector reported: which failure explains its residual.

    Args:
        joint: index of the joint.
        hidden: standard deviation of efforts that the model leaves out [N m].
        estimate: unknowns of the arm as estimated before the failure (m,), and covariance (m, m).
        began: estimated time of the failure [s].

    Attributes:
        named: kind that the detector reported.
        verdict: failure that is found instead, or None.
        residual: last mean of the residual effort [N m].
        size: f of a weak drive, c [N m] of a slipping brake, 0 without such a verdict.
    """

    def __init__(
        self, joint: int, hidden: float, estimate: tuple[Array, Array], began: float
    ) -> None:
        self._joint, self._hidden = joint, hidden
        self.estimate, self.began = estimate, began
        self._samples = list[Sample]()  # since the last mean
        self._blocks = deque[Array](maxlen=MAX_MEANS)  # means, each as a `Sample`
        self._time = self._block_start = began  # [s]
        self._has_new_mean = False  # whether there is a mean that was not judged yet
        self.named: Verdict = "healthy"
        self.verdict: Verdict | None = None
        self.residual, self.size = 0.0, 0.0

    def add(self, time: float, tick: Tick, before: Array, after: Array) -> None:
        """Add a tick.

        Args:
            time: at its end [s].
            tick: terms of its balance of efforts.
            before, after: measured rates at its ends (7,) [rad/s].
        """
        j, period = self._joint, time - self._time
        self._time = time
        # A contact may explain anything: begin a new mean.
        if tick.touched:
            self._samples.clear()
            self._block_start = time
            return
        # Residual: the balance (balance.py) solved for the effort of this joint.
        unknowns, spread = self.estimate
        mass = np.linalg.inv(tick.free)[j]  # row of the mass matrix over the period
        residual = mass @ (after - tick.keep @ before) - tick.modelled[j] - tick.motor[j]
        residual -= tick.effects[j] @ unknowns
        # Its variances: by the unknowns, and by noise of both rates over the mean.
        steady = tick.effects[j].copy()
        steady[:N] = 0.0  # wandering efforts do not last
        jitter = float(np.linalg.norm(mass)) * period * tick.noise * 2.0**0.5 / MEAN_TIME
        rate = 0.5 * float(before[j] + after[j])
        variance = float(steady @ spread @ steady)
        sample = Sample(float(residual), float(tick.motor[j]), rate, jitter, tick.noise, variance)
        self._samples.append(sample)
        if time - self._block_start >= MEAN_TIME - ROUND_OFF:
            self._blocks.append(np.mean(self._samples, axis=0))
            self._samples.clear()
            self._block_start = time
            self._has_new_mean = True

    def judge(self) -> Verdict | None:
        """Return the failure that is found instead of the reported one; None if there is none."""
        if not self._has_new_mean or len(self._blocks) < MIN_MEANS or self.verdict in PARTIAL:
            return self.verdict
        self._has_new_mean = False
        # Means as columns (k,), in the order of `Sample`.
        residual, effort, rate, jitter, noise, variance = np.array(self._blocks).T
        weight = 1.0 / (self._hidden**2 + jitter**2)
        if self.named == "loose" and weight @ effort**2 < LEAD:
            return self.verdict  # without a command a weak joint cannot be told from a loose one
        # Sign of the rates, 0 at rest: a joint turns if its mean rate is clearly above the noise,
        # with the detector's constants for rest.
        rest_bound = REST_RATE + SIGMAS * noise * TICKS_PER_MEAN**-0.5
        sign = np.sign(rate) * (np.abs(rate) > rest_bound)
        # The fraction 1 - f that a drive misses, and c, by weighted least squares.
        missing = -float(weight * residual @ effort)
        missing /= max(float(weight * effort @ effort), NO_EFFORT)
        friction, errors_of_slipping = _slipping(residual, sign, weight)
        # Variance of an error that all means share.
        shared = self._hidden**2 + float(variance.mean())

        def misfit(errors: Array) -> float:
            """Return chi^2 of errors (k,), less the part by an error that all means share."""
            common = float(weight @ errors)
            return float(weight @ errors**2) - common**2 / (float(weight.sum()) + 1.0 / shared)

        misfits: dict[Verdict, float] = {
            "healthy": misfit(residual),
            "loose": misfit(residual + effort),
            # In the first mean the joint may have turned before it failed.
            "frozen": np.inf if sign[1:].any() else 0.0,
            "weak": misfit(residual + missing * effort),
            "slipping": misfit(errors_of_slipping),
        }
        self._conclude(misfits, float(residual[-1]), 1.0 - missing, friction)
        return self.verdict

    def _conclude(
        self, misfits: dict[Verdict, float], residual: float, fraction: float, friction: float
    ) -> None:
        """Set the verdict and its size.

        Args:
            misfits: chi^2 of each failure.
            residual: last mean of the residual effort [N m].
            fraction: f of a weak drive.
            friction: c of a slipping brake [N m].
        """
        is_weak = WEAK_FRACTIONS[0] < fraction < WEAK_FRACTIONS[1]
        # Sizes of the partial failures that are possible.
        sizes: dict[Verdict, float] = {"slipping": friction}
        if is_weak:
            sizes["weak"] = fraction
        best, second = sorted(misfits, key=misfits.__getitem__)[:2]
        fits = misfits[best] <= MAX_MISFIT * len(self._blocks)
        leads = misfits[second] - misfits[best] > LEAD
        self.residual = residual
        if best in sizes and fits and leads:
            self.verdict, self.size = best, sizes[best]
        # Otherwise nothing is certain if a partial failure at least beats the reported kind.
        elif misfits.get(self.named, 0.0) > min(misfits[kind] for kind in sizes) + LEAD:
            self.verdict, self.size = "unexplained", 0.0


def _slipping(residual: Array, sign: Array, weight: Array) -> tuple[float, Array]:
    """Return the friction c [N m] of a slipping brake, and the errors that remain (k,) [N m].

    Args:
        residual: means of the residual effort (k,) [N m].
        sign: sign of the rates, 0 at rest (k,).
        weight: one over the variance of `residual` (k,) [1/(N m)^2].
    """
    turns = sign != 0.0
    friction = float(np.abs(residual).max())  # bound, if the brake has not slipped
    if turns.any():
        friction = max(-float(weight * residual @ sign) / float(weight @ turns), 0.0)
    at_rest = np.maximum(np.abs(residual) - friction, 0.0)
    return friction, np.where(turns, residual + friction * sign, at_rest)
