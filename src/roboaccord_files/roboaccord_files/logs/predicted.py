"""Predict the positions within windows of a log, for a robot with assumed errors.

A window is a short run of samples. Its positions follow from the efforts by the equations of the
robot's file, and the residuals are recorded less predicted positions. This module computes them for
given sizes of hypotheses (a hypothesis is a possible error: a mass, a delay, ...), and their
slopes: the derivatives by each size, which are the columns of the regression.

Hypotheses are of three kinds: of the robot (`LogBody.varied`), of the samples (RECORDED in the
core), and the others, which are cases of `residuals` and `slopes` here.

A simulator's time step and integration scheme are unknown, and are fitted with every hypothesis. To
first order a scheme evaluates q, qd and friction at times that are late by a, b and c: forward
Euler's steps of h have a = h and b = c = h/2, semi-implicit ones a = 0 and b = c = h/2 [Hairer,
Lubich and Wanner 2006, IX], and those of a higher order a = b = c = 0. Also fitted is when an
effort acts: after its stamp, before it, or between. Priors of these may be tuned.
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

# Mean, standard deviation, lowest and highest value of each number of the scheme [samples]. All
# schemes above are within 1.5 standard deviations, and the bounds leave a tenth of a sample, of
# SMOOTH and BLOWS a fifth, for noise.
PRIORS = [(0.0, 0.7, -1.1, 1.1), *[(0.0, 0.5, -1.1, 1.1)] * 2, (0.5, 0.7, -0.6, 1.6)]
PRIORS += [(0.0, 0.7, -0.2, 1.2)] * 2
SCHEME = "scheme"
BESIDE = {Hypothesis(SCHEME, "", i): Prior(*prior) for i, prior in enumerate(PRIORS)}
"""The numbers of the scheme, fitted with every hypothesis, with their priors.

The first three are a, b and c [samples]. PART is the fraction of a sample by which efforts act
late; whole samples are a delay, which is a cause. SMOOTH and BLOWS say how efforts act between
samples: both are 0 if they are held from sample to sample, SMOOTH is 1 if they change smoothly, and
BLOWS is 1 if they act as impulses at the samples.
"""
*_, PART, SMOOTH, BLOWS = BESIDE
CLOCK = Hypothesis("clock")
OF_EFFORTS = ("gear", FACTOR, known.FILTER, known.MOTOR, known.LIMIT)  # they change efforts alone
# Share of an effort's standard deviation; a gear crosses its backlash while the effort is smaller:
# of normally distributed efforts 4 % of the time, so a crossing is nearly a step.
TURNS = 0.05


@dataclass(frozen=True)
class PredictedWindows(Problem, ABC):
    """The windows of a log and their prediction (Problem, whose blocks are the windows).

    Args:
        windows: the w windows of the log, each of k steps; the robot has n joints.
        kept: mask of the windows that are compared (w,); b of them.
        log: the samples, with the efforts that act.
        reading: what these efforts mean.
    """

    windows: Windows
    kept: Array
    log: Log
    reading: Reading = TORQUE

    @classmethod
    def of(cls, windows: Windows, dry: Iterable[str], reading: Reading = TORQUE) -> Self:
        """Return the problem of all windows.

        Args:
            windows: of a log.
            dry: joints with dry friction, whose efforts are left unknown where they turn back.
            reading: what the efforts mean.
        """
        freed = windows.freed(dry)
        return cls(freed, np.ones(len(freed.samples), bool), windows.log, reading)

    @cached_property
    def _beside(self) -> Mapping[Hypothesis, Prior]:
        return {**BESIDE, **self.reading.factors(self.log.driven)}

    @property
    def beside(self) -> Mapping[Hypothesis, Prior]:
        """What is fitted with any hypothesis: the scheme, and factors of efforts, with priors."""
        return self._beside

    @cached_property
    def body(self) -> LogBody:
        """The robot that the efforts move: without gravity, say, if the controller carries it."""
        of_file = self.windows.body
        return of_file if self.reading.of_file else self.reading.rest(of_file)

    @cached_property
    def _added(self) -> Array:
        """Positions due to what a controller adds by the file's parameters (w, (k + 1) n)."""
        of_file, windows = self.windows.body, self.windows
        if not self.reading.of_file:
            return np.zeros(windows.apart.shape)
        return windows.needing(of_file) - windows.needing(self.reading.rest(of_file))

    @property
    def independent(self) -> int:
        """Number of residuals of the kept windows."""
        return int(self.kept.sum() * self.windows.samples.shape[1] * self.windows.joints)

    def residuals(self, sizes: Sizes) -> Array:
        """Return recorded less predicted positions, over their noise (b, (k + 1) n).

        Args:
            sizes: of the hypotheses and of the scheme; others are 0.
        """
        nonzero, shift = (
            {hypothesis: size for hypothesis, size in sizes.items() if size},
            self._shift(sizes),
        )
        # Recorded positions less those without efforts, of the robot with its errors; less what
        # the efforts and the controller do.
        changed = self._of_body(nonzero)
        residuals = self.windows.needing(self.body.varied(changed) if changed else self.body)
        residuals = (
            residuals - self._driven(shift, self.efforts(nonzero), nonzero)[..., 0] - self._added
        )
        # A clock that is fast by f counts 1 + f seconds a second: accelerations act over times that
        # are shorter than the stamps say, and positions are less by its square.
        if fast := nonzero.get(CLOCK, 0.0):
            residuals = self.windows.apart + (residuals - self.windows.apart) / (1.0 + fast) ** 2
        for hypothesis, size in nonzero.items():
            if hypothesis.quantity == SCHEME and hypothesis not in (PART, SMOOTH, BLOWS):
                residuals = residuals + size * self.windows.scheme[..., hypothesis.axis]
            elif hypothesis.quantity == known.BACKLASH:
                residuals = residuals + size * self._slack(hypothesis.where)
        return np.asarray(residuals[self.kept])

    def _driven(self, shift: int, efforts: Array, at: Sizes) -> Array:
        """Return the positions due to efforts (k, n, c) in windows (w, (k + 1) n, c).

        Args:
            shift: whole samples by which the efforts act late.
            efforts: of all samples.
            at: sizes of PART, SMOOTH and BLOWS.
        """
        part, sizes = at.get(PART, 0.0), [at.get(shape, 0.0) for shape in (SMOOTH, BLOWS)]
        moved = self.windows.pushed(shift, efforts)
        if part:
            moved = (1.0 - part) * moved + part * self.windows.pushed(shift + 1, efforts)
        if any(sizes):
            moved = moved + sum(
                size * column for size, column in zip(sizes, self.windows.bent(shift, efforts))
            )
        return moved

    def _slack(self, joint: str) -> Array:
        """Return the residuals due to 1 rad of backlash of a joint (w, (k + 1) n).

        The motor, whose encoder is recorded, leads the joint by half of it in the direction of its
        effort.
        """
        leads = np.zeros(self.log.q.shape)
        column = self.log.joints.index(joint)
        effort = self.log.effort[:, column]
        leads[:, column] = 0.5 * np.tanh(effort / max(TURNS * float(effort.std()), 1e-300))
        return -self.windows.left_of(leads)

    @staticmethod
    def _of_body(sizes: Sizes) -> Sizes:
        """Return the sizes that change the robot itself, and not its efforts or samples."""
        not_of_body = (DELAY.quantity, SCHEME, known.BACKLASH, *OF_EFFORTS)
        return {
            hypothesis: size
            for hypothesis, size in sizes.items()
            if hypothesis.quantity not in not_of_body
        }

    @staticmethod
    def _shift(sizes: Sizes) -> int:
        """Return the whole samples by which efforts act late; a delay of 1 is none (tried.py)."""
        return round(sizes.get(DELAY, 0.0)) - 1

    def efforts(self, sizes: Sizes) -> Array:
        """Return the efforts that act (k, n, 1), with factors, filters and limits applied."""
        log = self.log
        for hypothesis, size in sizes.items():
            if hypothesis.quantity in ("gear", FACTOR):
                affected = np.array([hypothesis.where in (joint, EVERY) for joint in log.joints])
                factor = size if hypothesis.quantity == FACTOR else 1.0 + size
                log = replace(log, effort=log.effort * np.where(affected, factor, 1.0))
            elif hypothesis.quantity in OF_EFFORTS:
                log = RECORDED[hypothesis.quantity](log, size, hypothesis.where)
        return self.windows.efforts if log is self.windows.log else log.effort[..., None]

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> dict[Hypothesis, Array]:
        """Return the derivatives of the residuals by the sizes of hypotheses (b, (k + 1) n).

        Args:
            ones: the hypotheses; a delay has no derivative, since whole samples are tried.
            at: sizes at which to differentiate. Those of the robot count only if a hypothesis whose
                effect is far from linear (BENT) is among them.
        """
        nonlinear = {
            hypothesis: size
            for hypothesis, size in at.items()
            if size and hypothesis.quantity in known.BENT
        }
        of_scheme = (DELAY, *BESIDE)
        plain = {
            hypothesis: size
            for hypothesis, size in at.items()
            if hypothesis in of_scheme or hypothesis.quantity in OF_EFFORTS
        }
        base = dict(at) if nonlinear else plain
        efforts, effort_slopes = self.efforts(base), dict[Hypothesis, Array]()
        shift, columns_of = self._shift(base), dict[Hypothesis, Array]()
        # The efforts that the motion needs of the robot, and their derivatives by its parameters.
        of_body = self._of_body(base)
        body = self.body.varied(of_body) if of_body else self.body
        needed, of_robot, needed_slopes = (
            self.windows.needed(body, kept=True),
            list[Hypothesis](),
            list[Array](),
        )
        for one in ones:
            # By a small change of the size, where the effect is not known as a formula.
            more = {**base, one: base.get(one, 0.0) + one.probe}
            if one == PART:
                later = self._driven(shift + 1, efforts, {})
                columns_of[one] = (self._driven(shift, efforts, {}) - later)[..., 0]
            elif one in (SMOOTH, BLOWS):
                columns_of[one] = -self.windows.bent(shift, efforts)[one == BLOWS][..., 0]
            elif one.quantity == SCHEME:
                columns_of[one] = np.asarray(self.windows.scheme[..., one.axis])
            elif one.quantity in OF_EFFORTS:
                effort_slopes[one] = (self.efforts(more) - efforts) / one.probe
            elif one.quantity == known.BACKLASH:
                columns_of[one] = self._slack(one.where)
            elif one != DELAY:
                of_robot.append(one)
                needed_more = self.windows.needed(self.body.varied(self._of_body(more)))
                needed_slopes.append((needed_more - needed) / one.probe)
        # Changed efforts and changed needs move the positions; all of a kind are solved at once.
        if effort_slopes:
            acting = self._driven(shift, np.concatenate([*effort_slopes.values()], axis=-1), base)
            columns_of |= dict(zip(effort_slopes, -np.moveaxis(acting, -1, 0)))
        if of_robot:
            columns = np.moveaxis(self.windows.made_by(np.stack(needed_slopes, axis=-1)), -1, 0)
            columns_of |= dict(zip(of_robot, columns))
        # A fast clock also shortens the time for which all has acted: see `residuals`.
        if CLOCK in columns_of:
            moved = self.windows.made_by(needed[..., None])[..., 0]
            fast = 1.0 + base.get(CLOCK, 0.0)
            over = 2.0 / fast * (moved - self._driven(shift, efforts, base)[..., 0])
            columns_of[CLOCK] = (columns_of[CLOCK] - over) / fast**2
        return {one: slope[self.kept] for one, slope in columns_of.items() if slope.any()}

    def part(self, which: slice) -> Self:
        """Return the problem of a slice of the kept windows."""
        kept = np.zeros_like(self.kept)
        kept[np.flatnonzero(self.kept)[which]] = True
        return replace(self, kept=kept)

    def share(self, left: Array) -> Array:
        """Return rms residuals as a share of the effect of the efforts (n,).

        Args:
            left: residuals (b, (k + 1) n).
        """
        windows = self.windows
        rms = np.sqrt((left.reshape(-1, len(windows.scale)) ** 2).mean(axis=0))
        return np.asarray(rms * windows.scale / windows.reach)
