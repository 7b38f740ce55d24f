"""What the equations of a robot's file predict for the windows of a log, under hypotheses.

A hypothesis that is neither of the robot (`LogBody.varied`) nor of samples (RECORDED in the core)
is a case of `residuals` and of `slopes` here. Priors of the scheme may be tuned.

Time step and scheme of the log are unknown. To first order a scheme takes q, qd and friction from
times that are late by a, b and c: forward Euler's steps of h have a = h and b = c = h/2,
semi-implicit ones a = 0 [Hairer, Lubich and Wanner 2006, IX], and those of a higher order 0. All
three are fitted beside each hypothesis, and when efforts act: from their stamp on, up to it, or
between.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes import hypotheses as known
from roboaccord.crosscheck.causes.fit import Prior, Problem
from roboaccord.crosscheck.causes.hypotheses import FACTOR, Hypothesis, Sizes
from roboaccord.crosscheck.causes.samples import RECORDED
from roboaccord.engines.deviations import EVERY

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.efforts import TORQUE, Reading
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.tried import DELAY
from roboaccord_files.logs.windows import Windows

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


@dataclass(frozen=True)
class PredictedWindows(Problem, ABC):
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
        nonzero, shift = {one: size for one, size in sizes.items() if size}, self._shift(sizes)
        changed = self._of_body(nonzero)
        rest = self.windows.needing(self.body.varied(changed) if changed else self.body)
        rest = rest - self._driven(shift, self.efforts(nonzero), nonzero)[..., 0] - self._added
        if fast := nonzero.get(CLOCK, 0.0):  # stamps are longer by that than what has passed
            rest = self.windows.apart + (rest - self.windows.apart) / (1.0 + fast) ** 2
        for one, size in nonzero.items():
            if one.quantity == SCHEME and one not in (PART, SMOOTH, BLOWS):
                rest = rest + size * self.windows.scheme[..., one.axis]
            elif one.quantity == known.BACKLASH:
                rest = rest + size * self._slack(one.where)
        return np.asarray(rest[self.kept])

    def _driven(self, shift: int, efforts: Array, at: Sizes) -> Array:
        """Return what efforts do that act later by so many samples, and by a part of one."""
        part, sizes = at.get(PART, 0.0), [at.get(one, 0.0) for one in (SMOOTH, BLOWS)]
        moved = self.windows.pushed(shift, efforts)
        if part:
            moved = (1.0 - part) * moved + part * self.windows.pushed(shift + 1, efforts)
        if any(sizes):
            moved = moved + sum(s * x for s, x in zip(sizes, self.windows.bent(shift, efforts)))
        return moved

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
        shift, columns_of = self._shift(base), dict[Hypothesis, Array]()
        of_body = self._of_body(base)
        own = self.body.varied(of_body) if of_body else self.body
        needed, asked, probed = (
            self.windows.needed(own, kept=True),
            list[Hypothesis](),
            list[Array](),
        )
        for one in ones:
            more = {**base, one: base.get(one, 0.0) + one.probe}
            if one == PART:
                later = self._driven(shift + 1, efforts, {})
                columns_of[one] = (self._driven(shift, efforts, {}) - later)[..., 0]
            elif one in (SMOOTH, BLOWS):
                columns_of[one] = -self.windows.bent(shift, efforts)[one == BLOWS][..., 0]
            elif one.quantity == SCHEME:
                columns_of[one] = np.asarray(self.windows.scheme[..., one.axis])
            elif one.quantity in OF_EFFORTS:
                changed[one] = (self.efforts(more) - efforts) / one.probe
            elif one.quantity == known.BACKLASH:
                columns_of[one] = self._slack(one.where)
            elif one != DELAY:
                asked.append(one)
                other = self.windows.needed(self.body.varied(self._of_body(more)))
                probed.append((other - needed) / one.probe)
        if changed:
            acting = self._driven(shift, np.concatenate([*changed.values()], axis=-1), base)
            columns_of |= dict(zip(changed, -np.moveaxis(acting, -1, 0)))
        if asked:
            columns = np.moveaxis(self.windows.made_by(np.stack(probed, axis=-1)), -1, 0)
            columns_of |= dict(zip(asked, columns))
        if CLOCK in columns_of:  # and what has acted takes a shorter time
            moved = self.windows.made_by(needed[..., None])[..., 0]
            fast = 1.0 + base.get(CLOCK, 0.0)
            over = 2.0 / fast * (moved - self._driven(shift, efforts, base)[..., 0])
            columns_of[CLOCK] = (columns_of[CLOCK] - over) / fast**2
        return {one: slope[self.kept] for one, slope in columns_of.items() if slope.any()}

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
