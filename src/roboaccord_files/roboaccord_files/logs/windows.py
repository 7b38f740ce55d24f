"""Divide a log into windows, and predict the positions in each by the robot's equations.

A window is a run of k steps between samples. A smooth motion q_s through the recorded positions
needs the efforts ID(q_s, qd_s, qdd_s), by the inverse dynamics ID of the robot's file. The recorded
efforts tau differ from them by

    e = tau - ID(q_s, qd_s, qdd_s),

so the motion that tau causes by these equations differs from q_s by delta, which is small:

    M delta'' + C delta' + K delta = e,

where M, C and K are the derivatives of ID by qdd, qd and q. This is integrated over each window, at
the stamps as they were recorded (response.py). The residuals are the recorded positions less
q_s + delta. The initial state of each window is unknown: what it could explain is projected out of
the residuals.

Noise of the positions is so never differentiated, and q_s need not be exact. An error of a
parameter p changes e by -dID/dp, and its column of the regression is the delta of that. Where a
joint with dry friction turns back, the effort of friction is unknown, and projected out, too.

MODEL_ERROR, MAX_SAMPLES, FIRST_SAMPLES, PEAK_MARGIN and SLOW_SHARE may be tuned. A further term of
the equations belongs to `LogBody`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array

from roboaccord_files.logs.along import RobotMotion
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.response import PROBE, Response
from roboaccord_files.logs.smooth import Smooth

# Share of the effect of the efforts; so inexact the equations are taken to be at best. A twentieth
# of problem.MIN_EXPLAINED, the smallest cause.
MODEL_ERROR = 1e-4
# Samples that are compared at most, and for a first look. Time grows with them, and precision with
# the root: from 1200 to 3000 by 1.6.
MAX_SAMPLES, FIRST_SAMPLES = 3000, 1200
# Positions of all joints that are compared at most: for more the work grows faster than what they
# show, as each of n joints adds hypotheses, too. That of three joints in MAX_SAMPLES samples.
MAX_POSITIONS = 9000
# A joint has a speed limit if its rate is within PEAK_MARGIN of its PEAK_QUANTILE quantile in a
# share LIMITED_SHARE of the samples. A sine is within 1 % of its peak for 9 % of the time, less
# than half of LIMITED_SHARE; the last 1 % may be outliers.
PEAK_QUANTILE, PEAK_MARGIN, LIMITED_SHARE = 0.99, 0.01, 0.2
# Of a joint's rms rate; below it dry friction may turn over, and is left unknown, of a sine for 5 %
# of the time.
SLOW_SHARE = 0.1
# Times the noise, and rad or m; a joint with a smaller range rests. White noise of a million
# samples has a range of 10; encoders of 22 bits count 1.5e-6 rad.
REST_NOISE, REST_RANGE = 12.0, 1e-6
# s, and share of a joint's range: a joint that moves by less for so long rests at times. A sine of
# 0.3 Hz is so near its peak for 0.07 s.
REST_TIME, REST_SHARE = 0.25, 1e-3
BRAKING_TIME = 0.1  # s; a brake takes less to stop a joint
# Nodes of a window (nodes.py) at least, and further ones a second of its length: 60 resolve 30 Hz,
# more than the joints of robots reach.
MIN_NODES, NODES_PER_SECOND = 5, 60.0
# Nodes for each knot of the smooth motion; a window that needs more than MAX_NODES has all samples.
# A spline of degree 5 bends up to three times between knots, and the interpolation's weights grow
# as 4^nodes.
NODES_PER_KNOT, MAX_NODES = 3.0, 32
# Relative; unknown efforts with a smaller singular value have no effect. Round-off of a basis is
# some 1e-13.
NEGLIGIBLE_EFFECT = 1e-9


class Windows(Response):
    """The windows of a log, with the robot's equations linearised along them (Response).

    Arrays (w, (k + 1) n) have positions of the w windows in units of `scale`, without what unknown
    initial states and efforts explain. Efforts act on the positions in one of three ways: held over
    each step (`by_held_efforts`), changing smoothly (`by_smooth_efforts`), or as impulses at the
    samples (`by_impulses`).

    Args:
        log: the samples, of n joints.
        body: the robot as its file has it.
        size: k, the steps of a window, which has k + 1 samples.
        smooth: motion through the log.
        most: samples that are compared at most; of more windows some are left out.

    Attributes:
        is_complete: whether no window is left out.
        is_resting: mask of joints that never move in the log (n,).
        samples: numbers of the samples of each window (w, k + 1).
        noise: standard deviation of the recorded positions (n,) [rad or m].
        effort_effect: effect of the efforts on the positions in a window, rms (n,) [rad or m].
        scale: noise that residuals are divided by (n,) [rad or m].
        smoothing_error: recorded less smooth positions (w, (k + 1) n).
        rounding: effect of rounding of the efforts, as a share of `effort_effect` (n,).
    """

    def __init__(
        self, log: Log, body: LogBody, size: int, smooth: Smooth, most: int = MAX_SAMPLES
    ) -> None:
        self.log, self.smooth = log, smooth
        n = log.q.shape[1]
        # Nodes by the length in time and by the knots; at all times where that is too many.
        nodes = int(NODES_PER_KNOT * size / smooth.spacing)
        nodes = max(nodes, MIN_NODES + int(NODES_PER_SECOND * size * log.period))
        if size * NODES_PER_KNOT > MAX_NODES * smooth.spacing:
            nodes = 2 * size + 1
            most //= 2
        count = max(min(most, MAX_POSITIONS // n) // size, 1)
        starts, self.is_complete = _first_samples(log, size, count)
        self.samples = starts[:, None] + np.arange(size + 1)
        # Times of samples and, between them, the middles of steps.
        time = log.time[self.samples]
        times = np.empty((len(starts), 2 * size + 1))
        times[:, ::2], times[:, 1::2] = time, 0.5 * (time[:, 1:] + time[:, :-1])
        # Joints that unknown forces hold: resting ones, and the slides of a base on a pivot.
        self.noise = self.smooth.noise
        self.is_resting = np.ptp(log.q, axis=0) <= np.maximum(REST_NOISE * self.noise, REST_RANGE)
        is_held = np.tile(self.is_resting, (len(starts), 1))
        for swing in log.swings:
            is_held[(starts >= swing.start) & (starts < swing.stop), :3] = True
        super().__init__(body, times, self.smooth.at(starts, times), is_held, nodes)
        self._robot_motions = [RobotMotion.of(body, self.nodes)]
        # The effect of the efforts, with scale 1, and the scale of the residuals.
        self._reset_basis()
        self.effort_effect = self._effect_of_efforts()
        self.scale = np.hypot(self.noise, MODEL_ERROR * self.effort_effect)
        self._reset_basis()
        self.smoothing_error = self._smoothing_error()
        self.rounding = np.zeros(n)

    def _effect_of_efforts(self) -> Array:
        """Return the rms effect of the efforts on the positions in a window (n,) [rad or m].

        That of efforts against inertia, and that of all others, count separately.
        """
        body, (q, qd, qdd) = self.body, self.nodes
        needed = self._nodes.interpolated(body.efforts(q, qd, qdd)) + body.friction(self.qd)
        weightless = replace(body, gravity=np.zeros(3))
        inertial = self._nodes.interpolated(weightless.efforts(q, 0 * qd, qdd))
        moved = self.moved_by(np.stack([inertial, needed - inertial], axis=-1))
        squares = (moved**2).sum(axis=-1).reshape(len(self.samples), -1, self.joints)
        effect = np.sqrt(squares.mean((0, 1)))
        # At least a thousandth of the largest, since noise is divided by it.
        return np.asarray(np.maximum(effect, 1e-3 * effect.max()), float)

    @property
    def share(self) -> Array:
        """Noise of the positions as a share of the effect of the efforts (n,)."""
        return np.where(self.is_resting, 0.0, self.noise / self.effort_effect)

    @property
    def scale_share(self) -> Array:
        """Scale of the residuals as a share of the effect of the efforts (n,).

        Beside the noise of the positions it contains that of the efforts (`rescaled`).
        """
        return np.where(self.is_resting, 0.0, self.scale / self.effort_effect)

    def capped(self) -> Iterator[tuple[str, float, float, Array]]:
        """Yield the joints that seem to have a speed limit.

        Each with the limit [rad/s or m/s], the share of the samples at it, and a mask of the
        windows in which it is reached (w,).
        """
        rates = np.abs(self.qd).reshape(len(self.samples), -1, self.joints)
        for joint in self.log.driven:
            j = self.log.joints.index(joint)
            highest = float(np.quantile(rates[..., j], PEAK_QUANTILE))
            near = rates[..., j] > (1.0 - PEAK_MARGIN) * highest
            if highest > 0.0 and near.mean() > LIMITED_SHARE and not near.any(axis=1).all():
                rate = float(np.median(rates[..., j][near]))
                yield joint, rate, float(near.mean()), np.asarray(near.any(axis=1))

    def at_rest(self) -> NDArray[np.bool_]:
        """Return at which samples of the log joints rest, or are about to (samples, n).

        A joint rests where it moves by no more than REST_SHARE of its range, or by its noise, for
        REST_TIME.
        """
        from scipy.ndimage import maximum_filter1d, minimum_filter1d

        q, period = self.log.q, self.log.period
        lasting = int(REST_TIME / period) + 1  # in samples, as the next
        braking = int(BRAKING_TIME / period) + 1
        ranges = maximum_filter1d(q, lasting, 0) - minimum_filter1d(q, lasting, 0)
        is_still = ranges <= np.maximum(REST_NOISE * self.noise, REST_SHARE * np.ptp(q, axis=0))
        # A range belongs to the middle of its samples; all of them rest, and those around are near.
        rests = maximum_filter1d(is_still, lasting + 2 * braking, 0)
        return np.asarray(rests | self.is_resting)

    def with_unknown_friction(self, joints: Iterable[str]) -> Windows:
        """Return the windows with the efforts of some joints unknown where they turn back or rest.

        The unknown effort in a window is a constant for each direction of motion and a slope in
        time; what these three could explain is projected out of the residuals.
        """
        columns = [self.log.joints.index(joint) for joint in joints]
        rates = np.abs(self.qd)
        is_slow = rates < SLOW_SHARE * np.sqrt((rates**2).mean(axis=0))
        if not is_slow[:, columns].any():
            return self
        windows = copy.copy(self)
        ramp = np.linspace(-1.0, 1.0, 2 * self.size + 1)
        unknown = np.zeros((len(rates), self.joints, 3 * len(columns)))
        for i, j in enumerate(columns):
            forward = self.qd[:, j] > 0.0
            shapes = (forward, ~forward, np.tile(ramp, len(self.samples)))
            unknown[:, j, 3 * i : 3 * i + 3] = (is_slow[:, j] * np.array(shapes)).T
        # An orthonormal basis of their effects joins that of the initial states.
        basis, sizes, _ = np.linalg.svd(self.moved_by(unknown), full_matrices=False)
        basis = basis * (sizes > NEGLIGIBLE_EFFECT * sizes.max(initial=1e-300))[:, None]
        windows._basis = np.concatenate([self._basis, basis], axis=-1)
        return windows._recomputed()

    def _smoothing_error(self) -> Array:
        """Return recorded less smooth positions (w, (k + 1) n)."""
        smooth = self.q.reshape(len(self.samples), -1, self.joints)[:, ::2]
        return self._projected((self.log.q[self.samples] - smooth)[..., None])[..., 0]

    def rescaled(self, effort_noise: Array, is_rounding: Array) -> Windows:
        """Return the windows with the noise of efforts added to the scale.

        Args:
            effort_noise: its effect on positions (n,) [rad or m].
            is_rounding: mask of joints whose noise is rounding, which windows do not average out
                (n,).
        """
        windows = copy.copy(self)
        windows.rounding = np.where(is_rounding, effort_noise / self.effort_effect, 0.0)
        windows.scale = np.hypot(self.scale, effort_noise)
        windows._reset_basis()
        return windows._recomputed()

    def _recomputed(self) -> Windows:
        """Return these windows, without kept results of another basis or scale."""
        # Cached properties keep their values in the instance's __dict__.
        for name in ("_needed", "_measured", "scheme", "_late_friction"):
            self.__dict__.pop(name, None)
        self.smoothing_error = self._smoothing_error()
        return self

    def in_windows(self, positions: Array) -> Array:
        """Return given positions of all samples of the log (samples, n) in windows."""
        return self._projected(positions[self.samples][..., None])[..., 0]

    def moved_by(self, efforts: Array) -> Array:
        """Return the positions (w, (k + 1) n, c) due to smooth efforts (w (2 k + 1), n, c)."""
        at_times = efforts.reshape(len(self.samples), -1, *efforts.shape[1:])
        return self._moved_by(self._blocks.by_smooth, at_times[:, self._blocks.times])

    def applied(self, shift: int, efforts: Array) -> Array:
        """Return the efforts that act in each step (w, k, n, c).

        Args:
            shift: samples by which they act late.
            efforts: of all samples of the log (samples, n, c).
        """
        acting = np.empty((*self._steps.shape, *efforts.shape[1:]))
        for stretch in self.log.segments:
            inside = (self.samples[:, 0] >= stretch.start) & (self.samples[:, 0] < stretch.stop)
            late = self.samples[inside, :-1] - shift
            acting[inside] = efforts[np.clip(late, stretch.start, stretch.stop - 1)]
        return acting

    def needed(self, body: LogBody, kept: bool = False) -> Array:
        """Return the efforts (w (2 k + 1), n) that the motion needs of a robot.

        Args:
            body: the robot.
            kept: whether to keep its results, because the next robots will be similar.
        """
        similar = max(self._robot_motions, key=lambda motion: len(motion.same_frames(body)))
        motion = RobotMotion.of(body, self.nodes, similar)
        if kept:
            self._robot_motions = [self._robot_motions[0], motion]
        q, clock_rate = self.nodes[0], 1.0 + body.clock  # seconds of a fast clock in a true one
        qdd = clock_rate**2 * self.nodes[2]
        smooth_efforts = motion.efforts(qdd) + body.armature * qdd - body.offset + body.pull(q)
        friction = body.friction(clock_rate * self.qd)
        return np.asarray(self._nodes.interpolated(smooth_efforts) + friction)

    @cached_property
    def _needed(self) -> Array:
        """Efforts (w (2 k + 1), n) that the motion needs of the file's robot."""
        return self.needed(self.body)

    @cached_property
    def _measured(self) -> Array:
        """Recorded positions less those of the file's robot without efforts (w, (k + 1) n)."""
        return self.smoothing_error + self.moved_by(self._needed[..., None])[..., 0]

    def needing(self, body: LogBody) -> Array:
        """Return recorded positions less those of a robot without efforts (w, (k + 1) n)."""
        if body is self.body:
            return self._measured
        difference = self.needed(body, kept=True) - self._needed
        return self._measured + self.moved_by(difference[..., None])[..., 0]

    def by_held_efforts(self, shift: int, efforts: Array) -> Array:
        """Return the positions (w, (k + 1) n, c) due to efforts that are held over each step.

        Args:
            shift: samples by which the efforts act late.
            efforts: of all samples of the log (samples, n, c).
        """
        acting = self.applied(shift, efforts)[:, self._blocks.steps]
        return self._moved_by(self._blocks.by_held, acting)

    def by_smooth_efforts(self, shift: int, efforts: Array) -> Array:
        """Return the positions due to efforts that change smoothly between samples.

        The value in the middle of a step is interpolated by a cubic. Arguments and shapes are those
        of `by_held_efforts`.
        """
        # Efforts at the end and the start of each step, and a sample before and after it.
        end, start, before, after = (self.applied(shift + i, efforts) for i in (0, 1, 2, -1))
        at_times = np.empty((len(end), 2 * self.size + 1, *end.shape[2:]))
        at_times[:, 0], at_times[:, 2::2] = start[:, 0], end
        at_times[:, 1::2] = (9.0 * (start + end) - before - after) / 16.0
        return self.moved_by(at_times.reshape(-1, *end.shape[2:]))

    def by_impulses(self, shift: int, efforts: Array) -> Array:
        """Return the positions due to efforts that are impulses at the samples.

        Semi-implicit steps act so. Arguments and shapes are those of `by_held_efforts`.
        """
        acting = self.applied(shift + 1, efforts)[:, self._blocks.steps]
        return self._moved_by(self._blocks.by_impulses, acting)

    def late(self, which: int, damping: Array) -> Array:
        """Return the effect on positions of a delay by a period (w, (k + 1) n).

        Args:
            which: what is late: 0 for q, 1 for qd, 2 for friction.
            damping: viscous friction of the joints (n,) [N m s/rad].
        """
        return np.asarray(self.scheme[..., which] if which < 2 else self._late_friction @ damping)

    @cached_property
    def scheme(self) -> Array:
        """Effect on positions if q or qd are late by a period (w, (k + 1) n, 2)."""
        body, period = self.body, self.log.period
        q, qd, qdd = self.nodes
        unchanged, delay = body.efforts(q, qd, qdd), PROBE * period
        by_q = body.efforts(q - delay * qd, qd, qdd) - unchanged
        by_qd = body.efforts(q, qd - delay * qdd, qdd) - unchanged
        return self.moved_by(self._nodes.interpolated(np.stack([by_q, by_qd], axis=-1) / PROBE))

    @cached_property
    def _late_friction(self) -> Array:
        """Effect on positions if a damping of 1 N m s/rad is late, by joint (w, (k + 1) n, n)."""
        return self.moved_by(-self.log.period * self.qdd[:, :, None] * np.eye(self.joints))


def _first_samples(log: Log, size: int, count: int) -> tuple[NDArray[np.intp], bool]:
    """Return the first samples of windows of `size` steps (w,), and whether these are all.

    Of more than `count` windows evenly chosen ones are taken.
    """
    starts_of = [np.arange(part.start, part.stop - size, size) for part in log.segments]
    starts = np.concatenate(starts_of)
    if len(starts) <= count:
        return starts, True
    return starts[np.linspace(0, len(starts) - 1, count).astype(int)], False
