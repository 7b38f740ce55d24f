"""The windows of a log as a problem of the regressor: what its file leaves, and what may be off.

What is tried is listed in tried.py.
The bounds may be tuned, and each states in what it is measured; docs/own_log.md gives the rates of
detection and of false alarms that `make own-logs` measured with them.

Time step and scheme of the log are unknown. To first order a scheme takes q, qd and friction from
times that are late by a, b and c: forward Euler's steps of h have a = h and b = c = h/2,
semi-implicit ones a = 0 [Hairer, Lubich and Wanner 2006, IX], and those of a higher order 0. All
three are fitted beside each hypothesis, and when efforts act: from their stamp on, up to it, or
between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes import hypotheses as known
from roboaccord.crosscheck.causes.explain import LEFT, LIKELY, SIGNIFICANT
from roboaccord.crosscheck.causes.fit import Fit, Prior, Problem, fitted
from roboaccord.crosscheck.causes.hypotheses import FACTOR, Group, Hypothesis, Sizes
from roboaccord.crosscheck.causes.samples import RECORDED
from roboaccord.engines.deviations import EVERY

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.efforts import TORQUE, Reading
from roboaccord_files.logs.log import Log
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
PRIORS = [(0.0, 0.7, -1.1, 1.1), *[(0.0, 0.5, -1.1, 1.1)] * 2, (0.5, 0.7, -0.6, 1.6)]
PRIORS += [(0.0, 0.7, -0.2, 1.2)] * 2
SCHEME = "scheme"
BESIDE = {Hypothesis(SCHEME, "", i): Prior(*each) for i, each in enumerate(PRIORS)}
"""a, b, c and the part of the delay [samples]: no scheme is later, and more is a delay.

The last two are 0 where efforts are held from sample to sample, 1 where they change smoothly, or
where they are blows.
"""
*_, PART, SMOOTH, BLOWS = BESIDE
CLOCK = Hypothesis("clock")
OF_EFFORTS = ("gear", FACTOR, known.FILTER, known.MOTOR, known.LIMIT)
TURNS = 0.05  # of an effort: below, a gear with backlash turns over
SLIDING = {
    "N m s/rad": "N s/m", "N m": "N", "kg m^2": "kg", "rad": "m", "N m/rad": "N/m", "rad/s": "m/s",
}  # fmt: skip


@dataclass(frozen=True)
class LogProblem(Problem):
    """Predict windows of a log by the equations of its file (Problem): a block is a window.

    Args:
        windows: of the log, w of them.
        kept: which are looked at (w,).
        log: its efforts are those that act.
        reading: what its efforts are.
    """

    windows: Windows
    kept: Array
    log: Log
    reading: Reading = TORQUE

    @classmethod
    def of(cls, windows: Windows, dry: Iterable[str], reading: Reading = TORQUE) -> Self:
        """Return the problem; what dry friction takes where joints turn back is unknown."""
        own = windows.freed(dry)
        return cls(own, np.ones(len(own.samples), bool), windows.log, reading)

    @cached_property
    def _beside(self) -> Mapping[Hypothesis, Prior]:
        return {**BESIDE, **self.reading.factors(self.log.driven)}

    @property
    def beside(self) -> Mapping[Hypothesis, Prior]:
        """What is fitted beside any hypothesis: the scheme, and factors of efforts."""
        return self._beside

    @cached_property
    def body(self) -> LogBody:
        """The robot that the efforts move."""
        own = self.windows.body
        return own if self.reading.of_file else self.reading.rest(own)

    @cached_property
    def _added(self) -> Array:
        """What a controller by the file adds to the efforts (w, (k + 1) n)."""
        own, windows = self.windows.body, self.windows
        if not self.reading.of_file:
            return np.zeros(windows.apart.shape)
        return windows.needing(own) - windows.needing(self.reading.rest(own))

    @property
    def independent(self) -> int:
        """Number of residuals."""
        return int(self.kept.sum() * self.windows.samples.shape[1] * self.windows.joints)

    def residuals(self, sizes: Sizes) -> Array:
        """Return recorded positions less predicted ones, over noise (b, (k + 1) n)."""
        own, shift = {one: size for one, size in sizes.items() if size}, self._shift(sizes)
        changed = self._of_body(own)
        found = self.windows.needing(self.body.varied(changed) if changed else self.body)
        found = found - self._driven(shift, self.efforts(own), own)[..., 0] - self._added
        if fast := own.get(CLOCK, 0.0):  # stamps are longer by that than what has passed
            found = self.windows.apart + (found - self.windows.apart) / (1.0 + fast) ** 2
        for one, size in own.items():
            if one.quantity == SCHEME and one not in (PART, SMOOTH, BLOWS):
                found = found + size * self.windows.scheme[..., one.axis]
            elif one.quantity == known.BACKLASH:
                found = found + size * self._slack(one.where)
        return np.asarray(found[self.kept])

    def _driven(self, shift: int, efforts: Array, at: Sizes) -> Array:
        """Return what efforts do that act later by so many samples, and by a part of one."""
        part, sizes = at.get(PART, 0.0), [at.get(one, 0.0) for one in (SMOOTH, BLOWS)]
        found = self.windows.pushed(shift, efforts)
        if part:
            found = (1.0 - part) * found + part * self.windows.pushed(shift + 1, efforts)
        if any(sizes):
            found = found + sum(s * x for s, x in zip(sizes, self.windows.bent(shift, efforts)))
        return found

    def _slack(self, joint: str) -> Array:
        """Return what backlash of 1 rad does: the motor leads by half, to where its effort is."""
        leads = np.zeros(self.log.q.shape)
        column = self.log.joints.index(joint)
        effort = self.log.effort[:, column]
        leads[:, column] = 0.5 * np.tanh(effort / max(TURNS * float(effort.std()), 1e-300))
        return -self.windows.left_of(leads)

    @staticmethod
    def _of_body(sizes: Sizes) -> Sizes:
        apart = (DELAY.quantity, SCHEME, known.BACKLASH, *OF_EFFORTS)
        return {one: size for one, size in sizes.items() if one.quantity not in apart}

    @staticmethod
    def _shift(sizes: Sizes) -> int:
        return round(sizes.get(DELAY, 0.0)) - 1

    def efforts(self, sizes: Sizes) -> Array:
        """Return the efforts that act (k, n, 1)."""
        log = self.log
        for one, size in sizes.items():
            if one.quantity in ("gear", FACTOR):
                own = np.array([one.where in (joint, EVERY) for joint in log.joints])
                factor = size if one.quantity == FACTOR else 1.0 + size
                log = replace(log, effort=log.effort * np.where(own, factor, 1.0))
            elif one.quantity in OF_EFFORTS:
                log = RECORDED[one.quantity](log, size, one.where)
        return self.windows.efforts if log is self.windows.log else log.effort[..., None]

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> dict[Hypothesis, Array]:
        """Return how residuals change with sizes; none of a delay, which is tried by samples."""
        bent = {one: size for one, size in at.items() if size and one.quantity in known.BENT}
        beside = (DELAY, *BESIDE)
        plain = {o: s for o, s in at.items() if o in beside or o.quantity in OF_EFFORTS}
        base = dict(at) if bent else plain
        efforts, changed = self.efforts(base), dict[Hypothesis, Array]()
        shift, found = self._shift(base), dict[Hypothesis, Array]()
        of_body = self._of_body(base)
        own = self.body.varied(of_body) if of_body else self.body
        needed, asked, probed = self.windows.needed(own, kept=True), list[Hypothesis](), list[Array]()
        for one in ones:
            more = {**base, one: base.get(one, 0.0) + one.probe}
            if one == PART:
                later = self._driven(shift + 1, efforts, {})
                found[one] = (self._driven(shift, efforts, {}) - later)[..., 0]
            elif one in (SMOOTH, BLOWS):
                found[one] = -self.windows.bent(shift, efforts)[one == BLOWS][..., 0]
            elif one.quantity == SCHEME:
                found[one] = np.asarray(self.windows.scheme[..., one.axis])
            elif one.quantity in OF_EFFORTS:
                changed[one] = (self.efforts(more) - efforts) / one.probe
            elif one.quantity == known.BACKLASH:
                found[one] = self._slack(one.where)
            elif one != DELAY:
                asked.append(one)
                other = self.windows.needed(self.body.varied(self._of_body(more)))
                probed.append((other - needed) / one.probe)
        if changed:
            acting = self._driven(shift, np.concatenate([*changed.values()], axis=-1), base)
            found |= dict(zip(changed, -np.moveaxis(acting, -1, 0)))
        if asked:
            columns = np.moveaxis(self.windows.made_by(np.stack(probed, axis=-1)), -1, 0)
            found |= dict(zip(asked, columns))
        if CLOCK in found:  # and what has acted takes a shorter time
            moved = self.windows.made_by(needed[..., None])[..., 0]
            fast = 1.0 + base.get(CLOCK, 0.0)
            over = 2.0 / fast * (moved - self._driven(shift, efforts, base)[..., 0])
            found[CLOCK] = (found[CLOCK] - over) / fast**2
        return {one: slope[self.kept] for one, slope in found.items() if slope.any()}

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

    def part(self, which: slice) -> Self:
        """Return some of the windows."""
        kept = np.zeros_like(self.kept)
        kept[np.flatnonzero(self.kept)[which]] = True
        return replace(self, kept=kept)

    def share(self, left: Array) -> Array:
        """Return rms residuals over what the efforts do (n,)."""
        windows = self.windows
        rms = np.sqrt((left.reshape(-1, len(windows.scale)) ** 2).mean(axis=0))
        return np.asarray(rms * windows.scale / windows.reach)

    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        """Return whether a fit leaves little, less if by several causes, or no more than noise."""
        one = len(fit.places) == 1
        left = self.share(fit.left).max()
        if fit.variant:
            return bool(fit.cost <= LIKELY * fit.left.size or left < times * UNKNOWN)
        least = (LEFT if one else LEFT_BY_TWO) * plain.cost
        most = np.hypot(NOISY if one else UNKNOWN, LIKELY * self.windows.heard.max())
        return bool(fit.cost <= times * max(least, LIKELY * fit.left.size) and left < times * most)

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
        found = super().cause(fit, one)
        if one.quantity == known.PAYLOAD and one.axis:  # from its link's frame
            (link,) = (x for x in windows.body.tree.links if x.name == one.where)
            centre = float(link.centre[one.axis - 1])
            found = replace(found, size=fit.sizes[one] + centre)
        slope = self.slopes([one], fit.sizes).get(one)
        wide = FLOOR / self.share(slope).max() if slope is not None else 0.0
        unit = found.unit
        slides = {joint.name for joint in windows.body.tree.moving if joint.kind == "prismatic"}
        if one.where in slides:
            unit = SLIDING.get(unit, unit)
        half = float(np.hypot(fit.half_width(one), wide))  # what scatters, and what may be off
        axis = "" if one.quantity == "gravity" else found.axis
        size = found.size or 0.0
        interval = size - half, size + half
        return replace(found, interval=interval, unit=unit, axis=axis)
