"""Predict the positions within windows of a log, for a robot with assumed errors.

A window is a short run of samples. Its positions follow from the efforts by the equations of the
robot's file, and the residuals are recorded less predicted positions. This module computes them for
given sizes of hypotheses (a hypothesis is a possible error: a mass, a delay, ...), and their
slopes: the derivatives by each size, which are the columns of the regression (`Problem` of the
core).

Hypotheses are of three kinds: of the robot (`LogBody.varied`), of the efforts (acting.py), and the
others, which are cases of `residuals` and `slopes` here. The integration scheme of the log's
simulator is fitted with every hypothesis (scheme.py).
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

from roboaccord_files.logs.acting import OF_EFFORTS, SCALED_BY, ActingEfforts, Slopes
from roboaccord_files.logs.body import DRY, OFFSET, LogBody
from roboaccord_files.logs.efforts import TORQUE, Reading
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.scheme import LATE_FRICTION, LATE_Q, LATE_QD, SCHEME, SCHEME_PRIORS
from roboaccord_files.logs.store import Store
from roboaccord_files.logs.tried import DELAY
from roboaccord_files.logs.windows import Windows

CLOCK = Hypothesis("clock")
DELAYS_OF_MOTION = (LATE_Q, LATE_QD, LATE_FRICTION)
# Quantities whose errors change the efforts or the samples, and not the robot itself.
BESIDE_ROBOT = (DELAY.quantity, SCHEME, quantities.BACKLASH, *OF_EFFORTS)
# Parameters in which efforts are linear, but for others of the same link.
LINEAR = {*OF_LINKS, PRODUCTS, "payload", "spring", "damping", "armature", DRY, OFFSET}
# Share of an effort's standard deviation; a gear crosses its backlash while the effort is smaller:
# of normally distributed efforts 4 % of the time, so a crossing is nearly a step.
CROSSING = 0.05


@dataclass(frozen=True)
class PredictedWindows(Problem, ABC):
    """The windows of a log and their prediction (Problem, whose blocks are the windows).

    Args:
        windows: the w windows of the log, each of k steps; the robot has n joints.
        kept: mask of the windows that are compared (w,); b of them.
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
        freed = windows.freed(dry)
        return cls(freed, np.ones(len(freed.samples), bool), windows.log, reading)

    @cached_property
    def nuisance(self) -> Mapping[Hypothesis, Prior]:
        """What is fitted with any hypothesis: the scheme, and factors of efforts, with priors."""
        return {**SCHEME_PRIORS, **self.reading.factors(self.log.driven)}

    @cached_property
    def body(self) -> LogBody:
        """The robot that the efforts move: without gravity, say, if the controller carries it."""
        return self.reading.uncompensated(self.windows.body)

    @property
    def acting(self) -> ActingEfforts:
        """The efforts that act, and what they do to the positions."""
        return ActingEfforts(self.windows, self.log, self.stored)

    def by_file(self) -> Self:
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
        # A clock that is fast by f counts 1 + f seconds a second: accelerations act over times that
        # are shorter than the stamps say, and positions are less by its square.
        if CLOCK in nonzero:
            with np.errstate(divide="ignore", invalid="ignore"):  # a clock that stands fits nothing
                moved = (residuals - self.windows.smoothing_error) / (1.0 + nonzero[CLOCK]) ** 2
            residuals = self.windows.smoothing_error + moved
        for hypothesis, size in nonzero.items():
            if hypothesis in DELAYS_OF_MOTION:
                residuals = residuals + size * self._by_delay(hypothesis, nonzero)
            elif hypothesis.quantity == quantities.BACKLASH:
                residuals = residuals + size * self._by_backlash(hypothesis.where)
        return np.asarray(residuals[self.kept])

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> Slopes:
        """Return the derivatives of the residuals by the sizes of hypotheses (b, (k + 1) n).

        Args:
            ones: the hypotheses; a delay has no derivative, since whole samples are tried.
            at: sizes at which to differentiate. Those of the robot count only if a hypothesis whose
                effect is far from linear (NONLINEAR) is among them.
        """
        sizes = dict(at)
        if not any(size and hypothesis.quantity in NONLINEAR for hypothesis, size in at.items()):
            kept = (DELAY.quantity, SCHEME, *OF_EFFORTS)
            sizes = {one: size for one, size in at.items() if one.quantity in kept}
        slopes = Slopes()
        for one in ones:
            if one in DELAYS_OF_MOTION:
                slopes[one] = self._by_delay(one, at)
            elif one.quantity == quantities.BACKLASH:
                slopes[one] = self._by_backlash(one.where)
            elif one.quantity in (SCHEME, *OF_EFFORTS) and one.quantity not in SCALED_BY:
                slopes[one] = self.acting.residual_slope(one, sizes)
        of_robot = [one for one in ones if one.quantity not in BESIDE_ROBOT]
        slopes |= self._slopes_of_robot(of_robot, sizes)
        if scales := [one for one in ones if one.quantity in SCALED_BY]:
            slopes |= self.acting.factor_slopes(scales, sizes)
        # A fast clock also shortens the time for which all has acted: see `residuals`.
        if CLOCK in slopes:
            needed = self.windows.needed(self.body.varied(_of_robot(sizes)))
            moved = self.windows.moved_by(needed[..., None])[..., 0]
            driven = self.acting.positions(sizes, self.acting.factors(sizes))
            rate = 1.0 + sizes.get(CLOCK, 0.0)
            slopes[CLOCK] = (slopes[CLOCK] - 2.0 / rate * (moved - driven)) / rate**2
        return {one: slope[self.kept] for one, slope in slopes.items() if slope.any()}

    def _slopes_of_robot(self, hypotheses: Sequence[Hypothesis], sizes: Sizes) -> Slopes:
        """Return the derivatives (w, (k + 1) n) by parameters of the robot, by small changes."""
        relevant = {one: _relevant(sizes, one) for one in hypotheses}
        keys = {one: (self.reading, *relevant[one].items(), one) for one in hypotheses}
        slopes = {one: self.stored[key] for one, key in keys.items() if key in self.stored}
        missing = [one for one in hypotheses if one not in slopes]
        if not missing:
            return slopes
        # Derivatives of the efforts that the motion needs (w (2 k + 1), n), and what they do.
        by_size = list[Array]()
        for one in missing:
            present = relevant[one]
            compute = partial(self.windows.needed, self.body.varied(present), kept=True)
            needed = self.stored.computed((self.reading, *present.items()), compute)
            larger = {**present, one: present.get(one, 0.0) + one.probe}
            needed_with = self.windows.needed(self.body.varied(larger))
            by_size.append((needed_with - needed) / one.probe)
        moved = self.windows.moved_by(np.stack(by_size, axis=-1))
        for one, slope in zip(missing, np.ascontiguousarray(np.moveaxis(moved, -1, 0))):
            slopes[one] = self.stored[keys[one]] = slope
        return slopes

    def _by_delay(self, delay: Hypothesis, sizes: Sizes) -> Array:
        """Return the residuals if q, qd or friction are a sample late (w, (k + 1) n)."""
        damping = {one: size for one, size in sizes.items() if one.quantity == "damping"}
        return self.windows.late(delay.axis, self.windows.body.varied(damping).damping)

    def _by_backlash(self, joint: str) -> Array:
        """Return the residuals due to 1 rad of backlash of a joint (w, (k + 1) n).

        The motor, whose encoder is recorded, leads the joint by half of it in the direction of its
        effort.
        """
        leads = np.zeros(self.log.q.shape)
        column = self.log.joints.index(joint)
        effort = self.log.effort[:, column]
        leads[:, column] = 0.5 * np.tanh(effort / max(CROSSING * float(effort.std()), 1e-300))
        return -self.windows.in_windows(leads)

    def subset(self, blocks: slice) -> Self:
        """Return the problem of a slice of the kept windows."""
        kept = np.zeros_like(self.kept)
        kept[np.flatnonzero(self.kept)[blocks]] = True
        return replace(self, kept=kept)

    def share(self, left: Array) -> Array:
        """Return rms residuals as a share of the effect of the efforts (n,), 0 of resting joints.

        Args:
            left: residuals (b, (k + 1) n).
        """
        windows = self.windows
        rms = np.sqrt((left.reshape(-1, len(windows.scale)) ** 2).mean(axis=0))
        return np.where(windows.is_resting, 0.0, rms * windows.scale / windows.effort_effect)


def _of_robot(sizes: Sizes) -> Sizes:
    """Return the sizes of errors of the robot itself."""
    return {one: size for one, size in sizes.items() if one.quantity not in BESIDE_ROBOT}


def _relevant(sizes: Sizes, one: Hypothesis) -> Sizes:
    """Return the sizes of the robot's errors on which the derivative by one of them depends.

    Errors of other links and joints do not matter where efforts are linear in both.
    """
    return {
        other: size
        for other, size in _of_robot(sizes).items()
        if other.where == one.where or not {other.quantity, one.quantity} <= LINEAR
    }
