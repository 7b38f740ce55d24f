"""Predict the positions within windows of a log, for a robot with assumed errors.

A window is a short run of samples. Its positions follow from the efforts by the equations of the
robot's file (windows.py), and the residuals are recorded less predicted positions. This module
computes them for given sizes of hypotheses (a hypothesis is a possible error: a mass, a delay,
...), and their slopes: the derivatives by each size, which are the columns of the regression
(`Problem` of the core, which problem.py completes). Residuals are

    recorded positions - those of the robot without efforts - what the efforts do to them
    + what a delay of the motion or a backlash does to them.

Hypotheses are of three kinds, by the term in which they are: those of the robot itself and its
clock change the efforts that its motion needs (`LogBody.varied`); those of the efforts are the
factors SCALED_BY and, of EFFORT_QUANTITIES, what filters or delays them (acting.py); those of the
motion, its delays and a backlash, add to the positions (`_is_of_motion`). The integration scheme of
the log's simulator has some of the latter two, and is fitted with every hypothesis (scheme.py).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Self

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes import hypotheses as quantities
from roboaccord.crosscheck.causes.fit import Prior, Problem
from roboaccord.crosscheck.causes.hypotheses import NONLINEAR, Hypothesis, Sizes
from roboaccord.engines.deviations import OF_LINKS, PRODUCTS

from roboaccord_files.logs.acting import REWRITTEN_BY, SCALED_BY, ActingEfforts, Slopes, enlarged
from roboaccord_files.logs.body import DRY, OFFSET, LogBody
from roboaccord_files.logs.efforts import TORQUE, Reading
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.scheme import LATE_FRICTION, LATE_Q, LATE_QD, SCHEME, SCHEME_PRIORS
from roboaccord_files.logs.store import Store
from roboaccord_files.logs.tried import DELAY
from roboaccord_files.logs.windows import Windows

CLOCK = Hypothesis("clock")
DELAYS_OF_MOTION = (LATE_Q, LATE_QD, LATE_FRICTION)
# Quantities of the efforts, beside their factors and a delay of whole samples. That of SCHEME is
# also that of DELAYS_OF_MOTION.
EFFORT_QUANTITIES = (SCHEME, *REWRITTEN_BY)
# Quantities whose errors change the efforts or the samples, and not the robot itself.
BESIDE_ROBOT = (*EFFORT_QUANTITIES, *SCALED_BY, DELAY.quantity, quantities.BACKLASH)
# Quantities of the robot in which the efforts are linear, also in two of them at once, unless both
# are of the same link or joint.
LINEAR = {*OF_LINKS, PRODUCTS, "payload", "spring", "damping", "armature", DRY, OFFSET}
# Share of an effort's standard deviation; a gear crosses its backlash while the effort is smaller:
# of normally distributed efforts 4 % of the time, so a crossing is nearly a step.
CROSSING = 0.05
MIN_CROSSING = 1e-300  # N m or N; so that a constant effort is not divided by 0


@dataclass(frozen=True)
class PredictedWindows(Problem, ABC):
    """The windows of a log and their prediction (Problem, whose blocks are the windows).

    Arrays (w, (k + 1) n) are of all w windows of k steps, k + 1 samples, for n joints, and arrays
    (b, (k + 1) n) of the b windows that are compared; both in units of the noise (`Windows.scale`).

    Args:
        windows: the windows of the log.
        kept: mask of those that are compared (w,).
        log: the samples, with the efforts that act.
        reading: what these efforts mean.
        stored: arrays that depend on windows and log alone, by what they were computed from.
    """

    windows: Windows
    kept: Array
    log: Log
    reading: Reading = TORQUE
    stored: Store = field(default_factory=Store, repr=False, compare=False)

    @classmethod
    def of(cls, windows: Windows, dry: Iterable[str], reading: Reading = TORQUE) -> Self:
        """Return the problem of all windows.

        Args:
            windows: of a log.
            dry: joints with dry friction, whose efforts are left unknown where they turn back.
            reading: what the efforts mean.
        """
        windows = windows.with_unknown_friction(dry)
        return cls(windows, np.ones(len(windows.samples), bool), windows.log, reading)

    @cached_property
    def nuisance(self) -> Mapping[Hypothesis, Prior]:
        """What is fitted with any hypothesis: the scheme, and factors of efforts, with priors.

        How dry friction is smoothed is only fitted where there is any.
        """
        here = {h: p for h, p in SCHEME_PRIORS.items() if h.quantity != DRY or self.body.dry.any()}
        return {**here, **self.reading.factors(self.log.driven)}

    @cached_property
    def body(self) -> LogBody:
        """The robot that the efforts move: without gravity, say, if the controller carries it."""
        return self.reading.uncompensated(self.windows.body)

    @property
    def acting(self) -> ActingEfforts:
        """The efforts that act, and what they do to the positions."""
        return ActingEfforts(self.windows, self.log, self.stored)

    def compensated_by_file(self) -> Self:
        """Return the problem where the controller adds what the file's robot needs.

        That acts as the recorded efforts do: late, through the gear, and held over a step.
        """
        log = self.log
        q, qd, _ = self.windows.smooth.at(np.arange(len(log.q)), log.time[:, None])[:, :, 0]
        full = self.windows.body.efforts(q, 0.0 * q, 0.0 * q) + self.windows.body.friction(qd)
        compensated = self.body.efforts(q, 0.0 * q, 0.0 * q) + self.body.friction(qd)
        log = replace(log, effort=log.effort + full - compensated)
        reading = replace(self.reading, gravity=False, friction=False)
        return replace(self, log=log, reading=reading, stored=Store())

    @property
    def independent(self) -> int:
        """Number of residuals of the kept windows."""
        return int(self.kept.sum() * self.windows.samples.shape[1] * self.windows.joints)

    def efforts(self, sizes: Sizes) -> Array:
        """Return the efforts that act (samples, n), with factors, filters and limits applied."""
        return np.asarray(self.acting.factors(sizes) * self.acting.rewritten(sizes))

    def residuals(self, sizes: Sizes) -> Array:
        """Return recorded less predicted positions, over their noise (b, (k + 1) n).

        Args:
            sizes: of the hypotheses and of the scheme; others are 0.
        """
        nonzero = {hypothesis: size for hypothesis, size in sizes.items() if size}
        # Recorded positions less those without efforts, of the robot with its errors; less what
        # the efforts do.
        residuals = self.windows.needing(self.body.varied(_of_robot(nonzero)))
        residuals = residuals - self.acting.positions(nonzero, self.acting.factors(nonzero))
        if CLOCK in nonzero:
            residuals = self._by_clock(residuals, nonzero[CLOCK])
        for hypothesis, size in nonzero.items():
            if _is_of_motion(hypothesis):
                residuals = residuals + size * self._by_motion(hypothesis, nonzero)
        return np.asarray(residuals[self.kept])

    def slopes(self, hypotheses: Sequence[Hypothesis], at: Sizes) -> Slopes:
        """Return the derivatives of the residuals by the sizes of hypotheses (b, (k + 1) n).

        Args:
            hypotheses: by which; those that change nothing, and whole delays, are missing in the
                result.
            at: sizes at which to differentiate. Those of the robot count only if a hypothesis whose
                effect is far from linear (NONLINEAR) is among them.
        """
        sizes = dict(at)
        if not any(size and hypothesis.quantity in NONLINEAR for hypothesis, size in at.items()):
            sizes = {h: size for h, size in at.items() if h.quantity in BESIDE_ROBOT}
        slopes = Slopes()
        for hypothesis in hypotheses:
            if _is_of_motion(hypothesis):
                slopes[hypothesis] = self._by_motion(hypothesis, at)
            elif hypothesis.quantity in EFFORT_QUANTITIES:
                slopes[hypothesis] = self.acting.residual_slope(hypothesis, sizes)
        of_robot = [h for h in hypotheses if h.quantity not in BESIDE_ROBOT]
        slopes |= self._robot_slopes(of_robot, sizes)
        if factors := [h for h in hypotheses if h.quantity in SCALED_BY]:
            slopes |= self.acting.factor_slopes(factors, sizes)
        if CLOCK in slopes:
            slopes[CLOCK] = self._clock_slope(slopes[CLOCK], sizes)
        return {h: slope[self.kept] for h, slope in slopes.items() if slope.any()}

    def _by_clock(self, residuals: Array, clock: float) -> Array:
        """Return residuals (w, (k + 1) n) by a clock that is fast by a share f (`clock`).

        It counts 1 + f seconds a second, so accelerations act over times that are shorter than the
        stamps say. What they move is less by the square: residuals are r = s + m / (1 + f)^2, with
        the smoothing error s, which is in the samples, and what accelerations move, m.
        """
        error = self.windows.smoothing_error
        with np.errstate(divide="ignore", invalid="ignore"):  # a clock that stands fits nothing
            return np.asarray(error + (residuals - error) / (1.0 + clock) ** 2)

    def _clock_slope(self, by_needed: Array, sizes: Sizes) -> Array:
        """Return the derivative of `_by_clock` by f: (dm/df - 2 m / (1 + f)) / (1 + f)^2.

        Args:
            by_needed: dm/df, by the efforts that the motion needs (w, (k + 1) n).
            sizes: at which the derivative is taken.
        """
        needed = self.windows.needed(self.body.varied(_of_robot(sizes)))
        moved = self.windows.moved_by(needed[..., None])[..., 0]
        moved = moved - self.acting.positions(sizes, self.acting.factors(sizes))
        rate = 1.0 + sizes.get(CLOCK, 0.0)
        return np.asarray((by_needed - 2.0 / rate * moved) / rate**2)

    def _robot_slopes(self, hypotheses: Sequence[Hypothesis], sizes: Sizes) -> Slopes:
        """Return the derivatives (w, (k + 1) n) by parameters of the robot, from the store."""
        keys = {h: (self.reading, *_relevant(sizes, h).items(), h) for h in hypotheses}
        slopes = {h: self.stored[key] for h, key in keys.items() if key in self.stored}
        missing = [h for h in hypotheses if h not in slopes]
        if missing:
            by_size = [self._needed_slope(h, _relevant(sizes, h)) for h in missing]
            moved = self.windows.moved_by(np.stack(by_size, axis=-1))
            for h, slope in zip(missing, np.ascontiguousarray(np.moveaxis(moved, -1, 0))):
                slopes[h] = self.stored[keys[h]] = slope
        return slopes

    def _needed_slope(self, hypothesis: Hypothesis, sizes: Sizes) -> Array:
        """Return the derivative of the efforts that the motion needs (w (2 k + 1), n)."""
        compute = partial(self.windows.needed, self.body.varied(sizes), kept=True)
        needed = self.stored.computed((self.reading, *sizes.items()), compute)
        needed_with = self.windows.needed(self.body.varied(enlarged(sizes, hypothesis)))
        return np.asarray((needed_with - needed) / hypothesis.probe)

    def _by_motion(self, hypothesis: Hypothesis, sizes: Sizes) -> Array:
        """Return the residuals due to the size 1 of a hypothesis of the motion (w, (k + 1) n).

        They are linear in the size. A delay of friction depends on the damping among `sizes`. With
        a backlash of 1 rad the motor, whose encoder is recorded, leads the joint by half of it in
        the direction of its effort.
        """
        if hypothesis.quantity != quantities.BACKLASH:
            damping = {h: size for h, size in sizes.items() if h.quantity == "damping"}
            return self.windows.late(hypothesis.axis, self.windows.body.varied(damping).damping)
        leads = np.zeros(self.log.q.shape)
        column = self.log.joints.index(hypothesis.where)
        effort = self.log.effort[:, column]
        crossing = max(CROSSING * float(effort.std()), MIN_CROSSING)
        leads[:, column] = 0.5 * np.tanh(effort / crossing)
        return -self.windows.in_windows(leads)

    def subset(self, blocks: slice) -> Self:
        """Return the problem of a slice of the kept windows."""
        kept = np.zeros_like(self.kept)
        kept[np.flatnonzero(self.kept)[blocks]] = True
        return replace(self, kept=kept)

    def share(self, residuals: Array) -> Array:
        """Return rms residuals as a share of the effect of the efforts (n,), 0 of resting joints.

        Args:
            residuals: (b, (k + 1) n).
        """
        windows = self.windows
        rms = np.sqrt((residuals.reshape(-1, len(windows.scale)) ** 2).mean(axis=0))
        return np.where(windows.is_resting, 0.0, rms * windows.scale / windows.effort_effect)


def _is_of_motion(hypothesis: Hypothesis) -> bool:
    """Return whether a hypothesis is a delay of the motion or friction, or a backlash."""
    return hypothesis in DELAYS_OF_MOTION or hypothesis.quantity == quantities.BACKLASH


def _of_robot(sizes: Sizes) -> Sizes:
    """Return the sizes of errors of the robot itself."""
    return {h: size for h, size in sizes.items() if h.quantity not in BESIDE_ROBOT}


def _relevant(sizes: Sizes, hypothesis: Hypothesis) -> Sizes:
    """Return the sizes of the robot's errors on which the derivative by one of them depends.

    Errors of other links and joints do not matter where efforts are linear in both.
    """
    return {
        h: size
        for h, size in _of_robot(sizes).items()
        if h.where == hypothesis.where or not {h.quantity, hypothesis.quantity} <= LINEAR
    }
