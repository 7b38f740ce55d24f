"""Which causes of a log are tried, and which of them explain its windows.

What is tried is listed in tried.py, and what it does is in predicted.py.
The bounds may be tuned, and each states in what it is measured; docs/own_log.md gives the rates of
detection and of false alarms that `make own-logs` measured with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes import hypotheses as known
from roboaccord.crosscheck.causes.explain import LEFT, SIGNIFICANT
from roboaccord.crosscheck.causes.fit import Fit, fitted
from roboaccord.crosscheck.causes.hypotheses import Group, Hypothesis
from roboaccord.crosscheck.causes.search import LIKELY

from roboaccord_files.logs.predicted import PART, PredictedWindows
from roboaccord_files.logs.smooth import Smooth
from roboaccord_files.logs.tried import DELAY, groups_of, likely, starts_of
from roboaccord_files.logs.windows import FLOOR, Windows

BOUND = 2e-3  # of what efforts do in a window: what an error explains at least
NEARLY = 0.3  # of the residuals, and of the bound: a cause that leaves less may be that small
NOISY = 0.05  # of what efforts do in a window: most that noise may be
AUDIBLE = 0.2  # of the noise: what an error explains at least
UNKNOWN = 5.0 * BOUND  # of what efforts do in a window: residuals without a name
MISTAKEN = 0.2  # of what efforts do in a window: residuals of wrong columns
LEFT_BY_TWO = 1e-2  # of the squared residuals, by several causes
POSITIVE, ROUND = ("armature", "damping", known.SPRING, known.BACKLASH), 1e-3  # of a joint; a part
BEGUN = 4  # hypotheses that begin at one of some sizes
FEWER = 4.0  # times the least cost: what a fit leaves by regression that is left out
SLIDING = {
    "N m s/rad": "N s/m", "N m": "N", "kg m^2": "kg", "rad": "m", "N m/rad": "N/m", "rad/s": "m/s",
}  # fmt: skip


@dataclass(frozen=True)
class LogProblem(PredictedWindows):
    """The windows of a log as a problem of the regressor: a block is a window."""

    def groups(self) -> list[Group]:
        """Return the hypotheses, in the order of names."""
        return groups_of(self.log, self.windows.body.tree, self.reading.scaled)

    def starts(self) -> Iterator[tuple[Group, Sequence[float]]]:
        """Yield a delay by whole samples, a payload, and what drives may do."""
        return starts_of(self.log, self.windows.body.tree, self.slopes)

    def variants(self) -> Iterator[tuple[Cause, Self]]:
        """Yield speed limits, and signs and orders where residuals are those of wrong columns."""
        windows = self.windows
        for joint, speed, _, capped in windows.capped():
            yield (
                Cause(known.SPEED_LIMIT, joint, speed, None, Hypothesis(known.SPEED_LIMIT).unit),
                replace(self, kept=np.logical_and(self.kept, np.logical_not(capped))),
            )
        if self.share(fitted(self).left).max() > MISTAKEN:
            acting = self.efforts(fitted(self).sizes)[..., 0]
            for cause, own, change in likely(windows, self.body, acting):
                log = replace(self.log, **{each: getattr(self.log, each) @ change for each in own})
                if "q" in own:
                    smooth = Smooth.of(log, (windows.smooth.every,))
                    windows = Windows(log, self.windows.body, self.windows.size, smooth)
                yield cause, replace(self, windows=windows, log=log)

    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        """Return whether a fit leaves little, less if by several causes, or no more than noise."""
        one = len(fit.places) == 1
        share = self.share(fit.left).max()
        if fit.variant:
            return bool(fit.cost <= LIKELY * fit.left.size or share < times * UNKNOWN)
        least = (LEFT if one else LEFT_BY_TWO) * plain.cost
        most = np.hypot(NOISY if one else UNKNOWN, LIKELY * self.windows.heard.max())
        return bool(fit.cost <= times * max(least, LIKELY * fit.left.size) and share < times * most)

    def adds(self, before: Fit, fit: Fit) -> bool:
        """Return whether a fit leaves so much less than another that schemes do not explain it."""
        if fit.left.shape != before.left.shape:  # of other windows
            return fit.cost / fit.left.size < NEARLY**2 * before.cost / before.left.size
        count = max(len(fit.ones) - len(before.ones), 1)
        if before.cost - fit.cost < SIGNIFICANT**2 * fit.unit * count:
            return False
        explained = self.share(before.left - fit.left)
        nearly_all = fit.cost < NEARLY**2 * before.cost
        least = NEARLY * BOUND if nearly_all else BOUND
        least = max(least, AUDIBLE * float(self.windows.heard.max()))
        return bool((explained > np.maximum(least, self.windows.rounding)).any())

    @property
    def most_begun(self) -> int:
        """How many hypotheses that begin at one of some sizes are fitted."""
        return BEGUN

    def least(self, one: Hypothesis) -> float:
        """Return what a size is more than: what the file has cannot become less than 0."""
        joint = next(
            (each for each in self.windows.body.tree.moving if each.name == one.where), None
        )
        if joint is None or one.quantity not in POSITIVE:
            return -np.inf
        has = {"armature": joint.armature, "damping": joint.damping, known.SPRING: joint.spring[0]}
        return -(1.0 + ROUND) * has.get(one.quantity, 0.0)

    def searches(self, plain: Fit) -> bool:
        """Return whether anything but noise is left."""
        return plain.cost > plain.left.size

    def worth(self, left: float, least: float, plain: float) -> bool:
        """Return whether a fit may matter: residuals are nearly linear in sizes."""
        return left < FEWER * min(least, max(LEFT * plain, self.independent))

    def cause(self, fit: Fit, one: Hypothesis) -> Cause:
        """Return what is off by a component of a fit; a delay from the stamp of an effort."""
        windows = self.windows
        if one == DELAY:
            size = self.log.period * (self._shift(fit.sizes) + fit.sizes[PART])
            half = self.log.period * (0.5 + fit.half_width(PART))  # a scheme moves it so far
            return Cause("delay", "", size, (size - half, size + half), "s")
        cause = super().cause(fit, one)
        if one.quantity == known.PAYLOAD and one.axis:  # from its link's frame
            (link,) = (x for x in windows.body.tree.links if x.name == one.where)
            centre = float(link.centre[one.axis - 1])
            cause = replace(cause, size=fit.sizes[one] + centre)
        slope = self.slopes([one], fit.sizes).get(one)
        wide = FLOOR / self.share(slope).max() if slope is not None else 0.0
        unit = cause.unit
        slides = {joint.name for joint in windows.body.tree.moving if joint.kind == "prismatic"}
        if one.where in slides:
            unit = SLIDING.get(unit, unit)
        half = float(np.hypot(fit.half_width(one), wide))  # what scatters, and what may be off
        axis = "" if one.quantity == "gravity" else cause.axis
        size = cause.size or 0.0
        interval = size - half, size + half
        return replace(cause, interval=interval, unit=unit, axis=axis)
