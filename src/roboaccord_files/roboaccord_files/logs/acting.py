"""Compute the efforts that act in a log, and what they do to the positions within its windows.

The recorded efforts may have errors: factors such as that of a gear (SCALED_BY), or a filter, the
lag of a motor or a limit, which change them over time (REWRITTEN_BY). They may also act late, and
in another way than held from sample to sample (scheme.py). The sizes of these errors are given as
hypotheses of roboaccord.crosscheck.causes.

Positions are linear in the efforts, so those by a factor of 1 are computed once for each joint, and
stored. predicted.py adds what else moves the robot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.hypotheses import FACTOR, FILTER, LIMIT, MOTOR, Hypothesis, Sizes
from roboaccord.crosscheck.causes.samples import RECORDED
from roboaccord.engines.deviations import EVERY

from roboaccord_files.logs.log import Log
from roboaccord_files.logs.scheme import IMPULSES, LATE_EFFORT, SMOOTH_EFFORT
from roboaccord_files.logs.store import Store
from roboaccord_files.logs.tried import DELAY
from roboaccord_files.logs.windows import Windows

Slopes = dict[Hypothesis, Array]
SCALED_BY, REWRITTEN_BY = ("gear", FACTOR), (FILTER, MOTOR, LIMIT)
# Quantities of errors that change the recorded efforts alone.
OF_EFFORTS = (*SCALED_BY, *REWRITTEN_BY)
# How efforts act: a method of Windows with a number of samples by which they are late.
Way = Callable[[int, Array], Array]


@dataclass(frozen=True)
class ActingEfforts:
    """The efforts of a log with n joints, and what they do in its w windows of k steps each.

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

    def positions(self, sizes: Sizes, factors: Array, changed: Hypothesis | None = None) -> Array:
        """Return the positions in windows due to the efforts (w, (k + 1) n, ...).

        Args:
            sizes: of the errors of efforts, of a delay and of the scheme.
            factors: of the efforts of each joint (n, ...).
            changed: an error of REWRITTEN_BY; if given, the derivatives by its size.
        """
        windows, samples = self.windows, whole_delay(sizes)
        fraction = sizes.get(LATE_EFFORT, 0.0)
        # Ways in which efforts act, with the samples by which they are late, and their share.
        ways = [
            (windows.by_held_efforts, samples, 1.0 - fraction),
            (windows.by_held_efforts, samples + 1, fraction),
            (windows.by_smooth_efforts, samples, sizes.get(SMOOTH_EFFORT, 0.0)),
            (windows.by_impulses, samples, sizes.get(IMPULSES, 0.0)),
        ]
        moved = [
            self._by_joint(way, late, sizes, changed) @ (share * factors)
            for way, late, share in ways
            if share
        ]
        return np.asarray(sum(moved))

    def residual_slope(self, one: Hypothesis, sizes: Sizes) -> Array:
        """Return the derivative of the residuals by a size (w, (k + 1) n): less that of positions.

        Args:
            one: LATE_EFFORT, SMOOTH_EFFORT, IMPULSES or an error of REWRITTEN_BY.
            sizes: at which the derivative is taken.
        """
        factors, samples, windows = self.factors(sizes), whole_delay(sizes), self.windows
        if one == LATE_EFFORT:
            earlier = self._by_joint(windows.by_held_efforts, samples, sizes)
            later = self._by_joint(windows.by_held_efforts, samples + 1, sizes)
            return np.asarray((earlier - later) @ factors)
        if one in (SMOOTH_EFFORT, IMPULSES):
            way = windows.by_smooth_efforts if one == SMOOTH_EFFORT else windows.by_impulses
            return np.asarray(-self._by_joint(way, samples, sizes) @ factors)
        return self.positions(sizes, -factors, one)

    def factor_slopes(self, scales: Sequence[Hypothesis], sizes: Sizes) -> Slopes:
        """Return the derivatives of the residuals by errors of SCALED_BY (w, (k + 1) n)."""
        factors = self.factors(sizes)
        changes = []
        for one in scales:
            larger = {**sizes, one: sizes.get(one, 0.0) + one.probe}
            changes.append((factors - self.factors(larger)) / one.probe)
        slopes = self.positions(sizes, np.stack(changes, axis=-1))
        return {one: slopes[..., i] for i, one in enumerate(scales)}

    def _by_joint(
        self, way: Way, late: int, sizes: Sizes, changed: Hypothesis | None = None
    ) -> Array:
        """Return the positions in windows due to the efforts of each joint (w, (k + 1) n, n).

        Args:
            way: how they act; unless they are held over each step, what that adds to it.
            late: whole samples by which the efforts act late.
            sizes, changed: as of `positions`.
        """
        errors = {h: size for h, size in sizes.items() if size and h.quantity in REWRITTEN_BY}
        held = self.windows.by_held_efforts

        def compute() -> Array:
            """Compute the positions of those joints whose efforts are not those stored before."""
            efforts, before = self.rewritten(errors), np.zeros_like(self.log.effort)
            positions = np.zeros((*self.windows.smoothing_error.shape, len(self.log.joints)))
            if changed:
                larger = {**errors, changed: errors.get(changed, 0.0) + changed.probe}
                efforts = (self.rewritten(larger) - efforts) / changed.probe
            elif errors:  # most joints have the recorded efforts
                before, positions = self.log.effort, self._by_joint(way, late, {}).copy()
            differs = (efforts != before).any(axis=0)
            if differs.any():
                of_joints = efforts[..., None] * np.eye(len(differs))[:, differs]
                positions[..., differs] = way(late, of_joints)
                if way != held:
                    first = self._by_joint(held, late, errors, changed)[..., differs]
                    second = self._by_joint(held, late + 1, errors, changed)[..., differs]
                    positions[..., differs] -= 0.5 * (first + second)
            return positions

        return self.stored.computed((way, late, *errors.items(), changed), compute)


def whole_delay(sizes: Sizes) -> int:
    """Return the whole samples by which efforts act late; a delay of 1 is none (tried.py)."""
    return round(sizes.get(DELAY, 0.0)) - 1
