"""Predict the positions within windows of a log, for a robot with assumed errors.

A window is a short run of samples. Its positions follow from the efforts by the equations of the
robot's file, and the residuals are recorded less predicted positions. This module computes them for
given sizes of hypotheses (a hypothesis is a possible error: a mass, a delay, ...), and their
slopes: the derivatives by each size, which are the columns of the regression.

Hypotheses are of three kinds: of the robot (`LogBody.varied`), of the samples (RECORDED in the
core), and the others, which are cases of `residuals` and `slopes` here. The integration scheme of
the log's simulator is fitted with every hypothesis (scheme.py).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Self

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes import hypotheses as known
from roboaccord.crosscheck.causes.fit import Prior, Problem
from roboaccord.crosscheck.causes.hypotheses import FACTOR, Hypothesis, Sizes
from roboaccord.crosscheck.causes.samples import RECORDED
from roboaccord.engines.deviations import EVERY, OF_LINKS, PRODUCTS

from roboaccord_files.logs.body import DRY, OFFSET, LogBody
from roboaccord_files.logs.efforts import TORQUE, Reading
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.scheme import BESIDE, BLOWS, PART, SCHEME, SMOOTH
from roboaccord_files.logs.store import Store
from roboaccord_files.logs.tried import DELAY
from roboaccord_files.logs.windows import Windows

CLOCK = Hypothesis("clock")
SCALES, DRIVES = ("gear", FACTOR), (known.FILTER, known.MOTOR, known.LIMIT)
OF_EFFORTS = (*SCALES, *DRIVES)  # they change efforts alone: by a factor, or over time
LINEAR = (*OF_LINKS, PRODUCTS, known.PAYLOAD, "damping", "armature", DRY, OFFSET, known.SPRING)
"""Parameters in which efforts are linear, but for others of the same link."""
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
        return {**BESIDE, **self.reading.factors(self.log.driven)}

    @cached_property
    def body(self) -> LogBody:
        """The robot that the efforts move: without gravity, say, if the controller carries it."""
        return self.reading.uncompensated(self.windows.body)

    def by_file(self) -> Self:
        """Return the problem where the controller adds what the file's robot needs.

        That acts as the recorded efforts do: late, through the gear, and held over a step.
        """
        log, bodies = self.log, (self.windows.body, self.body)
        q, qd, _ = self.windows.smooth.at(np.arange(len(log.q)), log.time[:, None])[:, :, 0]
        whole, less = (body.efforts(q, 0.0 * q, 0.0 * q) + body.friction(qd) for body in bodies)
        log = replace(log, effort=log.effort + whole - less)
        reading = replace(self.reading, gravity=False, friction=False)
        return replace(self, log=log, reading=reading, stored=Store())

    @property
    def independent(self) -> int:
        """Number of residuals of the kept windows."""
        return int(self.kept.sum() * self.windows.samples.shape[1] * self.windows.joints)

    def residuals(self, sizes: Sizes) -> Array:
        """Return recorded less predicted positions, over their noise (b, (k + 1) n).

        Args:
            sizes: of the hypotheses and of the scheme; others are 0.
        """
        nonzero = {hypothesis: size for hypothesis, size in sizes.items() if size}
        # Recorded positions less those without efforts, of the robot with its errors; less what
        # the efforts do.
        residuals = self.windows.needing(self.body.varied(self._of_body(nonzero)))
        residuals = residuals - self._driven(nonzero, self._factors(nonzero))
        # A clock that is fast by f counts 1 + f seconds a second: accelerations act over times that
        # are shorter than the stamps say, and positions are less by its square.
        if fast := nonzero.get(CLOCK, 0.0):
            with np.errstate(divide="ignore", invalid="ignore"):  # a clock that stands fits nothing
                more = (residuals - self.windows.smoothing_error) / (1.0 + fast) ** 2
            residuals = self.windows.smoothing_error + more
        for hypothesis, size in nonzero.items():
            if hypothesis.quantity == SCHEME and hypothesis not in (PART, SMOOTH, BLOWS):
                residuals = residuals + size * self._late(hypothesis.axis, nonzero)
            elif hypothesis.quantity == known.BACKLASH:
                residuals = residuals + size * self._slack(hypothesis.where)
        return np.asarray(residuals[self.kept])

    def _driven(self, at: Sizes, factors: Array, by: Hypothesis | None = None) -> Array:
        """Return the positions in windows due to the efforts (w, (k + 1) n, ...).

        Args:
            at: sizes of the scheme, of a delay and of DRIVES.
            factors: of the efforts of each joint (n, ...).
            by: of DRIVES; if it is given, the derivatives by its size.
        """
        shift, part = self._shift(at), at.get(PART, 0.0)
        shares = {
            (PART, shift): 1.0 - part, (PART, shift + 1): part,
            (SMOOTH, shift): at.get(SMOOTH, 0.0), (BLOWS, shift): at.get(BLOWS, 0.0),
        }  # fmt: skip
        acting = {how: share for how, share in shares.items() if share}
        moved = [self._acted(*how, at, by) @ (share * factors) for how, share in acting.items()]
        return np.asarray(sum(moved))

    def _acted(self, how: Hypothesis, shift: int, at: Sizes, by: Hypothesis | None = None) -> Array:
        """Return the positions in windows due to the efforts of each joint (w, (k + 1) n, n).

        Args:
            how: PART if efforts are held over each step; SMOOTH or BLOWS for what they add to it.
            shift: whole samples by which the efforts act late.
            at, by: as of `_driven`.
        """
        drives = {one: size for one, size in at.items() if size and one.quantity in DRIVES}

        def make() -> Array:
            efforts, before = self._rewritten(drives), np.zeros_like(self.log.effort)
            positions = np.zeros((*self.windows.smoothing_error.shape, len(self.log.joints)))
            if by:
                more = self._rewritten({**drives, by: drives.get(by, 0.0) + by.probe})
                efforts = (more - efforts) / by.probe
            elif drives:  # most joints have the recorded efforts
                before, positions = self.log.effort, self._acted(how, shift, {}).copy()
            changed = (efforts != before).any(axis=0)
            of_joints = efforts[..., None] * np.eye(len(changed))[:, changed]
            act = {PART: self.windows.by_held_efforts, SMOOTH: self.windows.by_smooth_efforts}
            if changed.any():
                moved = act.get(how, self.windows.by_impulses)(shift, of_joints)
                if how != PART:
                    held = (self._acted(PART, shift + i, at, by)[..., changed] for i in (0, 1))
                    moved = moved - 0.5 * sum(held)
                positions[..., changed] = moved
            return positions

        return self.stored.of((how, shift, *drives.items(), by), make)

    def _late(self, which: int, at: Sizes) -> Array:
        """Return the residuals if q, qd or friction are a sample late (w, (k + 1) n)."""
        damping = {one: size for one, size in at.items() if one.quantity == "damping"}
        return self.windows.late(which, self.windows.body.varied(damping).damping)

    def _slack(self, joint: str) -> Array:
        """Return the residuals due to 1 rad of backlash of a joint (w, (k + 1) n).

        The motor, whose encoder is recorded, leads the joint by half of it in the direction of its
        effort.
        """
        leads = np.zeros(self.log.q.shape)
        column = self.log.joints.index(joint)
        effort = self.log.effort[:, column]
        leads[:, column] = 0.5 * np.tanh(effort / max(TURNS * float(effort.std()), 1e-300))
        return -self.windows.in_windows(leads)

    @staticmethod
    def _of_body(sizes: Sizes) -> Sizes:
        """Return the sizes that change the robot itself, and not its efforts or samples."""
        not_of_body = (DELAY.quantity, SCHEME, known.BACKLASH, *OF_EFFORTS)
        return {one: size for one, size in sizes.items() if one.quantity not in not_of_body}

    @staticmethod
    def _shift(sizes: Sizes) -> int:
        """Return the whole samples by which efforts act late; a delay of 1 is none (tried.py)."""
        return round(sizes.get(DELAY, 0.0)) - 1

    def efforts(self, sizes: Sizes) -> Array:
        """Return the efforts that act (k, n, 1), with factors, filters and limits applied."""
        return np.asarray(self._factors(sizes) * self._rewritten(sizes))[..., None]

    def _factors(self, sizes: Sizes) -> Array:
        """Return the factors of the efforts (n,), of which gears and currents have some."""
        factors = np.ones(len(self.log.joints))
        for one, size in sizes.items():
            if one.quantity in SCALES:
                affected = np.array([one.where in (joint, EVERY) for joint in self.log.joints])
                factors[affected] *= size if one.quantity == FACTOR else 1.0 + size
        return factors

    def _rewritten(self, sizes: Sizes) -> Array:
        """Return the recorded efforts (k, n) with filters, lags and limits applied."""
        drives = {one: size for one, size in sizes.items() if one.quantity in DRIVES}

        def make() -> Array:
            log = self.log
            for one, size in drives.items():
                log = RECORDED[one.quantity](log, size, one.where)
            return np.asarray(log.effort)

        return self.stored.of(("efforts", *drives.items()), make)

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> dict[Hypothesis, Array]:
        """Return the derivatives of the residuals by the sizes of hypotheses (b, (k + 1) n).

        Args:
            ones: the hypotheses; a delay has no derivative, since whole samples are tried.
            at: sizes at which to differentiate. Those of the robot count only if a hypothesis whose
                effect is far from linear (NONLINEAR) is among them.
        """
        bent = {one: size for one, size in at.items() if size and one.quantity in known.NONLINEAR}
        of_scheme = (DELAY, *BESIDE)
        plain = {
            hypothesis: size
            for hypothesis, size in at.items()
            if hypothesis in of_scheme or hypothesis.quantity in OF_EFFORTS
        }
        base = dict(at) if bent else plain
        factors, shift = self._factors(base), self._shift(base)
        columns_of, scales = dict[Hypothesis, Array](), dict[Hypothesis, Array]()
        of_robot = list[Hypothesis]()
        for one in ones:
            # By a small change of the size, where the effect is not known as a formula.
            more = {**base, one: base.get(one, 0.0) + one.probe}
            if one == PART:
                now, later = (self._acted(PART, shift + i, base) for i in (0, 1))
                columns_of[one] = (now - later) @ factors
            elif one in (SMOOTH, BLOWS):
                columns_of[one] = -self._acted(one, shift, base) @ factors
            elif one.quantity == SCHEME:
                columns_of[one] = self._late(one.axis, at)
            elif one.quantity in SCALES:
                scales[one] = (factors - self._factors(more)) / one.probe
            elif one.quantity in DRIVES:
                columns_of[one] = self._driven(base, -factors, one)
            elif one.quantity == known.BACKLASH:
                columns_of[one] = self._slack(one.where)
            elif one != DELAY:
                of_robot.append(one)
        columns_of |= self._of_robot(of_robot, base)
        if scales:
            driven = self._driven(base, np.stack([*scales.values()], axis=-1))
            columns_of |= dict(zip(scales, np.moveaxis(driven, -1, 0)))
        # A fast clock also shortens the time for which all has acted: see `residuals`.
        if CLOCK in columns_of:
            needed = self.windows.needed(self.body.varied(self._of_body(base)))
            moved = self.windows.moved_by(needed[..., None])[..., 0]
            fast = 1.0 + base.get(CLOCK, 0.0)
            over = 2.0 / fast * (moved - self._driven(base, factors))
            columns_of[CLOCK] = (columns_of[CLOCK] - over) / fast**2
        return {one: slope[self.kept] for one, slope in columns_of.items() if slope.any()}

    def _of_robot(self, ones: Sequence[Hypothesis], base: Sizes) -> dict[Hypothesis, Array]:
        """Return the derivatives (w, (k + 1) n) by parameters of the robot, by small changes."""
        # Errors of other places do not matter where efforts are linear in both.
        sizes = {
            one: {
                h: size for h, size in self._of_body(base).items()
                if h.where == one.where or not {h.quantity, one.quantity} <= {*LINEAR}
            }
            for one in ones
        }  # fmt: skip
        keys = {one: (self.reading, *at.items(), one) for one, at in sizes.items()}
        new, slopes = dict[Hypothesis, Array](), list[Array]()
        if missing := [one for one, key in keys.items() if key not in self.stored]:
            for one, at in ((one, sizes[one]) for one in missing):
                body = self.body.varied(at)
                make = partial(self.windows.needed, body, kept=True)
                needed = self.stored.of((self.reading, *at.items()), make)
                more = self.body.varied({**at, one: at.get(one, 0.0) + one.probe})
                slopes.append((self.windows.needed(more) - needed) / one.probe)
            made = self.windows.moved_by(np.stack(slopes, axis=-1))
            new = dict(zip(missing, np.ascontiguousarray(np.moveaxis(made, -1, 0))))
        # Those that are there come first, before any makes room for a new one.
        order = sorted(ones, key=lambda one: one in new)
        return {one: self.stored.of(keys[one], partial(new.__getitem__, one)) for one in order}

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
