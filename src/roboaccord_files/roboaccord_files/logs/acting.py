"""Compute the efforts that act in a log, and what they do to the positions within its windows.

The recorded efforts may have errors, whose sizes are given as hypotheses (a hypothesis names a
quantity that may be wrong, and where; roboaccord.crosscheck.causes):

- a factor such as that of a gear (SCALED_BY), by which the efforts of a joint are multiplied;
- a filter, the lag of a motor or a limit, which change them over time (REWRITTEN_BY);
- a delay: they act late, by whole samples (DELAY) and a fraction of one (LATE_EFFORT);
- the interpolation: efforts act between samples as if they were held from sample to sample, or
  partly as if they changed smoothly (SMOOTH_EFFORT) or as impulses at samples (IMPULSES).

Positions are linear in the efforts, so those by a factor of 1 are computed once for each joint, and
stored. predicted.py adds what else moves the robot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.hypotheses import FACTOR, FILTER, LIMIT, MOTOR, Hypothesis, Sizes
from roboaccord.crosscheck.causes.samples import RECORDED
from roboaccord.engines.deviations import EVERY

from roboaccord_files.logs.log import Log
from roboaccord_files.logs.scheme import IMPULSES, LATE_EFFORT, SCHEME, SMOOTH_EFFORT
from roboaccord_files.logs.store import Store
from roboaccord_files.logs.tried import DELAY
from roboaccord_files.logs.windows import Windows

Slopes = dict[Hypothesis, Array]  # derivatives by the size of each hypothesis
SCALED_BY, REWRITTEN_BY = ("gear", FACTOR), (FILTER, MOTOR, LIMIT)
# A method of Windows that returns the positions (w, (k + 1) n, c) due to efforts (samples, n, c)
# that act late by a number of samples: `by_held_efforts`, `by_smooth_efforts` or `by_impulses`.
Interpolation = Callable[[int, Array], Array]


@dataclass(frozen=True)
class ActingEfforts:
    """The efforts of a log with n joints, and what they do in its w windows of k steps each.

    In all methods `sizes` are those of the errors above, by hypothesis; others have no effect.

    Args:
        windows: of the log.
        log: the samples, with the efforts as they were recorded.
        stored: arrays that were computed before, by all that they depend on.
    """

    windows: Windows
    log: Log
    stored: Store

    def factors(self, sizes: Sizes) -> Array:
        """Return the factors of the efforts (n,), of which gears and currents have some."""
        factors = np.ones(len(self.log.joints))
        for error, size in sizes.items():
            if error.quantity in SCALED_BY:
                affected = np.array([error.where in (joint, EVERY) for joint in self.log.joints])
                factors[affected] *= size if error.quantity == FACTOR else 1.0 + size
        return factors

    def rewritten(self, sizes: Sizes) -> Array:
        """Return the recorded efforts (samples, n) with filters, lags and limits applied."""
        log = self.log
        for error, size in sizes.items():
            if error.quantity in REWRITTEN_BY:
                log = RECORDED[error.quantity](log, size, error.where)
        return np.asarray(log.effort)

    def positions(self, sizes: Sizes, factors: Array, slope_by: Hypothesis | None = None) -> Array:
        """Return the positions in windows due to the efforts (w, (k + 1) n, ...).

        Args:
            sizes: of the errors.
            factors: of the efforts of each joint (n, ...).
            slope_by: an error of REWRITTEN_BY; if given, the derivatives by its size.
        """
        positions = [
            self._by_joint(*part, sizes, slope_by) @ (share * factors)
            for part, share in self._shares(sizes).items()
            if share
        ]
        return np.asarray(sum(positions))

    def residual_slope(self, hypothesis: Hypothesis, sizes: Sizes) -> Array:
        """Return the derivative of the residuals by a size (w, (k + 1) n): less that of positions.

        Args:
            hypothesis: LATE_EFFORT, SMOOTH_EFFORT, one of IMPULSES or an error of REWRITTEN_BY.
            sizes: at which the derivative is taken.
        """
        factors = self.factors(sizes)
        if hypothesis.quantity != SCHEME:
            return self.positions(sizes, -factors, hypothesis)
        # Positions are linear in the sizes of a scheme.
        zero = {h: size for h, size in sizes.items() if h.quantity != SCHEME}
        return self.positions(zero, factors) - self.positions({**zero, hypothesis: 1.0}, factors)

    def _shares(self, sizes: Sizes) -> dict[tuple[Interpolation, int], float]:
        """Return the shares of the efforts that act in each way, and late by some whole samples.

        Smooth efforts and impulses replace held ones that act at the same time on average: they
        are another shape in time, but no other delay, which is left to LATE_EFFORT.
        """
        windows, delay, late = self.windows, whole_delay(sizes), sizes.get(LATE_EFFORT, 0.0)
        shares = dict[tuple[Interpolation, int], float]()
        shares[windows.by_smooth_efforts, delay] = sizes.get(SMOOTH_EFFORT, 0.0)
        for samples, impulses in enumerate(IMPULSES, -1):  # after the stamps
            share = shares[windows.by_impulses, delay + samples] = sizes.get(impulses, 0.0)
            late -= samples * share
        replaced = sum(shares.values())
        late -= 0.5 * replaced
        shares[windows.by_held_efforts, delay] = 1.0 - replaced - late
        shares[windows.by_held_efforts, delay + 1] = late
        return shares

    def factor_slopes(self, hypotheses: Sequence[Hypothesis], sizes: Sizes) -> Slopes:
        """Return the derivatives of the residuals by errors of SCALED_BY (w, (k + 1) n)."""
        factors = self.factors(sizes)
        by_size = []
        for hypothesis in hypotheses:
            larger = self.factors(enlarged(sizes, hypothesis))
            by_size.append((factors - larger) / hypothesis.probe)
        slopes = self.positions(sizes, np.stack(by_size, axis=-1))
        return {hypothesis: slopes[..., i] for i, hypothesis in enumerate(hypotheses)}

    def _by_joint(
        self, interpolation: Interpolation, delay: int, sizes: Sizes, slope_by: Hypothesis | None
    ) -> Array:
        """Return the positions due to the efforts of each joint (w, (k + 1) n, n), from the store.

        Args:
            interpolation: how the efforts act between samples.
            delay: whole samples by which they act late.
            sizes, slope_by: as of `positions`.
        """
        errors = {h: size for h, size in sizes.items() if size and h.quantity in REWRITTEN_BY}
        compute = partial(self._computed_by_joint, interpolation, delay, errors, slope_by)
        return self.stored.computed((interpolation, delay, *errors.items(), slope_by), compute)

    def _computed_by_joint(
        self, interpolation: Interpolation, delay: int, errors: Sizes, slope_by: Hypothesis | None
    ) -> Array:
        """Return what `_by_joint` stores; `errors` are those of REWRITTEN_BY that are not 0.

        Most errors are of one joint. So only joints whose efforts they change are computed; for the
        others the positions by the recorded efforts are taken, or 0 as the derivative.
        """
        efforts, unchanged = self.rewritten(errors), np.zeros_like(self.log.effort)
        positions = np.zeros((*self.windows.smoothing_error.shape, len(self.log.joints)))
        if slope_by:
            larger = self.rewritten(enlarged(errors, slope_by))
            efforts = (larger - efforts) / slope_by.probe
        elif errors:
            unchanged = self.log.effort
            positions = self._by_joint(interpolation, delay, {}, None).copy()
        differs = (efforts != unchanged).any(axis=0)
        if differs.any():
            of_joints = efforts[..., None] * np.eye(len(differs))[:, differs]
            positions[..., differs] = interpolation(delay, of_joints)
        return positions


def enlarged(sizes: Sizes, hypothesis: Hypothesis) -> Sizes:
    """Return sizes of which one is larger by its probe, the step of a difference quotient."""
    return {**sizes, hypothesis: sizes.get(hypothesis, 0.0) + hypothesis.probe}


def whole_delay(sizes: Sizes) -> int:
    """Return the whole samples by which efforts act late.

    0 is a held effort that acts from its stamp on, and -1 one that acts in the step before it.
    DELAY is larger by 1 (tried.py), so that without it efforts act up to their stamp, or, by
    LATE_EFFORT, later.
    """
    return round(sizes.get(DELAY, 0.0)) - 1
