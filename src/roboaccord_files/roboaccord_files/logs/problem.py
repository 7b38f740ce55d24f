"""Decide which causes of a log are tried, and when one explains enough to be named.

`LogProblem` is what the regression of the cross-check (roboaccord.crosscheck.causes) needs to know
of a log: the hypotheses (listed in tried.py), their effect on the residuals (predicted.py), and
here the bounds by which a cause is accepted.

Shares are rms values relative to the effect of the efforts on the positions in a window. The bounds
may be tuned; docs/own_log.md gives the rates of detection and of false alarms that `make own-logs`
measured with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes import hypotheses as quantities
from roboaccord.crosscheck.causes.explain import SIGNIFICANT, UNEXPLAINED
from roboaccord.crosscheck.causes.fit import Fit, fitted
from roboaccord.crosscheck.causes.hypotheses import Group, Hypothesis
from roboaccord.crosscheck.causes.search import NOISE_RATIO
from roboaccord.crosscheck.extrapolation import rms

from roboaccord_files.logs.acting import whole_delay
from roboaccord_files.logs.noise import noise_of
from roboaccord_files.logs.predicted import PredictedWindows
from roboaccord_files.logs.scheme import LATE_EFFORT
from roboaccord_files.logs.smooth import Smooth
from roboaccord_files.logs.store import Store
from roboaccord_files.logs.tried import DELAY, groups_of, likely_mistakes, starts_of, undone
from roboaccord_files.logs.windows import MODEL_ERROR, REST_NOISE, Windows

# Share; a cause must explain residuals of at least this size. Schemes' own errors are as large.
MIN_EXPLAINED = 2e-3
# Ratio; a cause that leaves less than this of the residuals may be smaller: NEARLY times
# MIN_EXPLAINED. Its square is about UNEXPLAINED, the share of squares that any cause may leave.
NEARLY = 0.3
# Share; with more noise a log is not judged. The mean of 20 windows (lengths.MIN_WINDOWS) has 1 %
# of noise then, as FAILING.
MAX_NOISE = 0.05
# Ratio; a cause must explain at least this much of the noise. In 600 samples that is SIGNIFICANT,
# five standard errors.
MIN_NOISE_SHARE = 0.2
# Share; larger residuals that no cause explains fail the check: five times what a cause must
# explain, a fifth of MAX_NOISE.
FAILING = 5.0 * MIN_EXPLAINED
# Share; with larger residuals columns may be exchanged or have the wrong sign. A reversed sign or
# exchanged columns leave 100 % and more, other errors a tenth (efforts.LARGE_RESIDUALS).
MISTAKEN_COLUMNS = 0.2
# Ratio of squared residuals; several causes together may leave no more: a tenth of UNEXPLAINED, for
# more causes fit more by chance.
LEFT_BY_SEVERAL = 1e-2
# Ratio of rms efforts: a brake takes at least so much of those that act and those that are needed.
# A servo that holds a link leaves as much as the link's mass is off, which is less.
BRAKE_SHARE = 0.5
# Quantities that cannot be negative, and the relative round-off that is allowed: sizes are printed
# to four digits.
NOT_NEGATIVE, SIZE_ROUND_OFF = ("armature", "damping", quantities.SPRING, quantities.BACKLASH), 1e-3
# Ratio of what a third cause explains to what the second does; more is not expected, and the search
# ends. The best single one and the best pair are found first, so that most ratios are below 1.
THIRD_GAIN = 3.0
MAX_STARTS = 4  # hypotheses with several starting sizes that are fitted
# Ratio of costs; a fit that a linear estimate puts above this is not computed. The linear estimate
# is off by a factor of two for large errors.
MAX_ESTIMATE = 4.0
# Units of a sliding joint, by those of a turning one.
SLIDING = {
    "N m s/rad": "N s/m", "N m": "N", "kg m^2": "kg", "rad": "m", "N m/rad": "N/m", "rad/s": "m/s",
}  # fmt: skip


@dataclass(frozen=True)
class LogProblem(PredictedWindows):
    """The windows of a log as a problem of the cross-check's regression; a block is a window."""

    most_begun: ClassVar[int] = MAX_STARTS

    def groups(self) -> list[Group]:
        """Return the hypotheses that are tried; those of a group are fitted together."""
        return groups_of(self.log, self.windows.body.tree, self.reading.scaled)

    def starts(self) -> Iterator[tuple[Group, Sequence[float]]]:
        """Yield hypotheses whose fit needs a starting size, with sizes: delay, payload, drives."""
        return starts_of(self.log, self.windows.body.tree, self.slopes)

    def variants(self) -> Iterator[tuple[Cause, Self]]:
        """Yield causes that change the samples or the choice of windows, with the changed problem.

        These are speed limits and brakes, whose windows are left out, and wrong signs, orders or
        gears of columns, which are tried only if the residuals are large.
        """
        windows = self.windows
        for joint, speed, _, capped in windows.capped():
            yield Cause(quantities.SPEED_LIMIT, joint, speed, unit="rad/s"), self._without(capped)
        for cause, held in self.brakes():
            if not held.all():
                yield cause, self._without(held)
        if self.share(fitted(self).residuals).max() > MISTAKEN_COLUMNS:
            acting = self.efforts(fitted(self).sizes)
            for cause, fields, change in likely_mistakes(windows, self.body, acting):
                changed = {name: undone(name, getattr(self.log, name), change) for name in fields}
                log = replace(self.log, **changed)
                if "q" in fields:
                    smooth = Smooth.of(log, (windows.smooth.spacing,))
                    windows = Windows(log, self.windows.body, self.windows.size, smooth)
                yield cause, replace(self, windows=windows, log=log, stored=Store())

    def with_known_efforts(self) -> Self:
        """Return the problem without the windows that efforts of before a stretch may move."""
        early = [part.start + np.arange(self.log.latest) for part in self.log.segments]
        return self._without(np.isin(self.windows.samples[:, 0], early))

    def _without(self, left_out: Array | NDArray[np.bool_]) -> Self:
        """Return the problem without the windows of a mask (w,)."""
        return replace(self, kept=np.logical_and(self.kept, np.logical_not(left_out)))

    def brakes(self) -> Iterator[tuple[Cause, NDArray[np.bool_]]]:
        """Yield brakes with the time for which they hold [s], and in which windows they do (w,).

        A brake holds a joint that rests although the effort that acts is not the one that this
        needs. Joints that rest in all the log have a brake each; those that rest at times have one
        together, as where an arm is parked.
        """
        log, windows, at_rest = self.log, self.windows, self.windows.at_rest()
        is_held = np.asarray(at_rest[windows.samples].any(axis=1), bool)
        efforts = self.efforts(fitted(self).sizes)
        least = REST_NOISE * noise_of(log, efforts)
        # Efforts that act and are needed in each step (w, k, n).
        acting = windows.applied(0, efforts[..., None])[..., 0]
        needed = windows.needed(self.body).reshape(len(acting), -1, windows.joints)[:, 1::2]
        at_times = list[int]()
        for j in range(windows.joints - len(log.driven), windows.joints):
            held = is_held[:, j]
            pair = np.stack([acting[held, :, j], needed[held, :, j]])
            if held.all():  # the zero of its efforts is unknown
                pair -= pair.mean(axis=(1, 2), keepdims=True)
            if rms(pair[0] - pair[1]) <= max(BRAKE_SHARE * rms(pair), least[j]):
                continue
            if not held.all():
                at_times.append(j)
            elif not self.reading.scaled:  # else the factor of its efforts is unknown, too
                duration = float(np.ptp(log.time))
                yield Cause(quantities.BRAKE, log.joints[j], duration, unit="s"), held
        if at_times:
            duration = log.period * float(at_rest[:, at_times].any(axis=1).sum())
            where = ", ".join(log.joints[j] for j in at_times)
            held = np.asarray(is_held[:, at_times].any(axis=1))
            yield Cause(quantities.BRAKE, where, duration, unit="s"), held

    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        """Return whether a fit leaves little enough to explain the log.

        It must leave little of the squared residuals, or no more than noise; several causes must
        leave less than a single one.

        Args:
            plain: the fit without a cause.
            fit: the fit with causes.
            times: factor of the bounds.
        """
        single = len(fit.parameters) == 1
        share = self.share(fit.residuals).max()
        if fit.variant:
            return bool(fit.cost <= NOISE_RATIO * fit.residuals.size or share < times * FAILING)
        cost_bound = (UNEXPLAINED if single else LEFT_BY_SEVERAL) * plain.cost
        noise = NOISE_RATIO * self.windows.scale_share.max()
        share_bound = np.hypot(MAX_NOISE if single else FAILING, noise)
        cost_bound = max(cost_bound, NOISE_RATIO * fit.residuals.size)
        return bool(fit.cost <= times * cost_bound and share < times * share_bound)

    def adds(self, before: Fit, fit: Fit) -> bool:
        """Return whether a fit with more causes is better than one before by enough to count.

        The gain must be significant, and larger than MIN_EXPLAINED, than part of the noise and than
        the rounding of the efforts, so that neither noise nor an inexact scheme is taken for a
        cause.
        """
        # Of different windows, mean squares are compared.
        if fit.residuals.shape != before.residuals.shape:
            return fit.cost / fit.residuals.size < NEARLY**2 * before.cost / before.residuals.size
        count = max(len(fit.components) - len(before.components), 1)
        if before.cost - fit.cost < SIGNIFICANT**2 * fit.unit * count:
            return False
        explained = self.share(before.residuals - fit.residuals)
        nearly_all = fit.cost < NEARLY**2 * before.cost
        bound = NEARLY * MIN_EXPLAINED if nearly_all else MIN_EXPLAINED
        bound = max(bound, MIN_NOISE_SHARE * float(self.windows.scale_share.max()))
        return bool((explained > np.maximum(bound, self.windows.rounding)).any())

    def promises(self, plain: Fit, before: Fit, fit: Fit) -> bool:
        """Return whether a third cause may explain what two leave.

        It explains less than the second, as long as their effects are not alike.
        """
        if len(fit.parameters) < 2 or fit.residuals.shape != before.residuals.shape:
            return True
        allowed = max(LEFT_BY_SEVERAL * plain.cost, NOISE_RATIO * fit.residuals.size)
        return bool(fit.cost < allowed + THIRD_GAIN * (before.cost - fit.cost))

    def least(self, one: Hypothesis) -> float:
        """Return the smallest size that a hypothesis may have.

        Quantities that cannot be negative may fall by what the file has of them, and no more.
        """
        for joint in self.windows.body.tree.moving:
            if joint.name == one.where and one.quantity in NOT_NEGATIVE:
                in_file = {"armature": joint.armature, "damping": joint.damping}
                in_file[quantities.SPRING] = joint.spring[0]
                return -(1.0 + SIZE_ROUND_OFF) * in_file.get(one.quantity, 0.0)
        return -np.inf

    def searches(self, plain: Fit) -> bool:
        """Return whether a fit without a cause leaves more than noise, so that causes are tried."""
        return plain.cost > plain.residuals.size

    def worth(self, left: float, least: float, plain: float) -> bool:
        """Return whether a fit is worth computing, by the cost that a linear estimate gives it.

        Args:
            left: estimated cost of the fit.
            least: smallest estimated cost of all.
            plain: cost without a cause.
        """
        return left < MAX_ESTIMATE * min(least, max(UNEXPLAINED * plain, self.independent))

    def cause(self, fit: Fit, one: Hypothesis) -> Cause:
        """Return the cause that a component of a fit stands for, with size and interval in SI.

        The interval includes what scatters, and MODEL_ERROR, by which the equations may be inexact.
        """
        windows = self.windows
        # A delay is counted from the stamp of an effort; the scheme can shift it by half a sample.
        if one == DELAY:
            size = self.log.period * (whole_delay(fit.sizes) + fit.sizes[LATE_EFFORT])
            half = self.log.period * (0.5 + fit.half_width(LATE_EFFORT))
            return Cause("delay", "", size, (size - half, size + half), "s")
        cause = super().cause(fit, one)
        # The position of a payload is fitted from its link's centre, and stated from its frame.
        if one.quantity == quantities.PAYLOAD and one.axis:
            (link,) = (link for link in windows.body.tree.links if link.name == one.where)
            centre = float(link.centre[one.axis - 1])
            cause = replace(cause, size=fit.sizes[one] + centre)
        slope = self.slopes([one], fit.sizes).get(one)
        inexact = MODEL_ERROR / self.share(slope).max() if slope is not None else 0.0
        slides = {joint.name for joint in windows.body.tree.moving if joint.kind == "prismatic"}
        unit = SLIDING.get(cause.unit, cause.unit) if one.where in slides else cause.unit
        half = float(np.hypot(fit.half_width(one), inexact))
        axis = "" if one.quantity == "gravity" else cause.axis
        size = cause.size or 0.0
        interval = size - half, size + half
        return replace(cause, interval=interval, unit=unit, axis=axis)
