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

FLOOR, MOST, FEW, CAP and SLOW may be tuned. A further term of the equations belongs to `LogBody`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.logs.along import Along
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.response import DENSE, MANY, NODES, PROBE, ROUGH, Response
from roboaccord_files.logs.smooth import Smooth

# Share of the effect of the efforts; so inexact the equations are taken to be at best. A twentieth
# of problem.BOUND, the smallest cause.
FLOOR = 1e-4
# Samples that are compared at most, and for a first look. Time grows with them, and precision with
# the root: from 1200 to 3000 by 1.6.
MOST, FEW = 3000, 1200
# Positions of all joints that are compared at most: for more the work grows faster than what they
# show, as each of n joints adds hypotheses, too. That of three joints in MOST samples.
ROWS = 9000
# A joint has a speed limit if its rate is within CAP of its TOP quantile in a share CAPPED of the
# samples. A sine is within 1 % of its peak for 9 % of the time, less than half of CAPPED; the last
# 1 % may be outliers.
TOP, CAP, CAPPED = 0.99, 0.01, 0.2
# Of a joint's rms rate; below it dry friction may turn over, and is left unknown, of a sine for 5 %
# of the time.
SLOW = 0.1
# Times the noise, and rad or m; a joint with a smaller range rests. White noise of a million
# samples has a range of 10; encoders of 22 bits count 1.5e-6 rad.
RESTS, STILL = 12.0, 1e-6
# Relative; unknown efforts with a smaller singular value have no effect. Round-off of a basis is
# some 1e-13.
THIN = 1e-9


class Windows(Response):
    """The windows of a log, with the robot's equations linearised along them (Response).

    Arrays (w, (k + 1) n) have positions of the w windows in units of `scale`, without what unknown
    initial states and efforts explain.

    Args:
        log: the samples, of n joints.
        body: the robot as its file has it.
        size: k, the steps of a window, which has k + 1 samples.
        smooth: motion through the log; computed if None.
        most: samples that are compared at most; of more windows some are left out.

    Attributes:
        all: whether no window is left out.
        samples: numbers of the samples of each window (w, k + 1).
        noise: standard deviation of the recorded positions (n,) [rad or m].
        reach: effect of the efforts on the positions in a window, rms (n,) [rad or m].
        scale: noise that residuals are divided by (n,) [rad or m].
        apart: recorded less smooth positions (w, (k + 1) n).
        rounding: effect of rounding of the efforts, as a share of `reach` (n,).
    """

    def __init__(
        self,
        log: Log,
        body: LogBody,
        size: int,
        smooth: Smooth | None = None,
        most: int = MOST,
    ) -> None:
        self.log, self.size = log, size
        self.smooth = smooth or Smooth.of(log)
        # First samples of the windows; evenly chosen ones where there are too many.
        starts = np.concatenate(
            [np.arange(stretch.start, stretch.stop - size, size) for stretch in log.segments]
        )
        self._nodes = max(
            NODES + int(DENSE * size * log.period), int(ROUGH * size / self.smooth.every)
        )
        if size * ROUGH > MANY * self.smooth.every:
            self._nodes, most = 2 * size + 1, most // 2
        count = max(min(most, ROWS // log.q.shape[1]) // size, 1)
        self.all = len(starts) <= count
        if not self.all:
            starts = starts[np.linspace(0, len(starts) - 1, count).astype(int)]
        self.samples = starts[:, None] + np.arange(size + 1)
        # Times of samples and, between them, the middles of steps; the motion there.
        time = log.time[self.samples]
        self._steps = np.diff(time, axis=1)
        times = np.empty((len(starts), 2 * size + 1))
        times[:, ::2], times[:, 1::2] = time, 0.5 * (time[:, 1:] + time[:, :-1])
        motion = self.smooth.at(starts, times)
        self.q, self.qd, self.qdd = motion.reshape(3, -1, log.q.shape[1])
        self._place_nodes(times, motion)
        self.body = body
        self.noise = self.smooth.noise
        self.rests = np.ptp(log.q, axis=0) <= np.maximum(RESTS * self.noise, STILL)
        # Joints that unknown forces hold: resting ones, and the slides of a base on a pivot.
        self.held = np.tile(self.rests, (len(starts), 1))
        for swing in log.swings:
            self.held[(starts >= swing.start) & (starts < swing.stop), :3] = True
        self._linearise()
        q, qd, qdd = self.nodes
        self._along = [Along.of(body, self.nodes)]
        # The effect of the efforts, with scale 1: of those against inertia, and of all others.
        self.scale = np.ones(log.q.shape[1])
        self._basis: Array | None = None
        self._basis = self._by_start()
        needed = self._spread(body.efforts(q, qd, qdd)) + body.friction(self.qd)
        inertial = self._spread(replace(body, gravity=np.zeros(3)).efforts(q, 0 * qd, qdd))
        sizes = self.made_by(np.stack([inertial, needed - inertial], axis=-1))
        self.reach = np.sqrt(
            (sizes**2).sum(axis=-1).reshape(len(starts), -1, self.joints).mean((0, 1))
        )
        self.reach = np.maximum(self.reach, 1e-3 * self.reach.max())
        # The scale of the residuals, with the basis of unknown initial states in that scale.
        self.scale = np.hypot(self.noise, FLOOR * self.reach)
        self._basis = None
        self._basis = self._by_start()
        self.apart, self.rounding = self._left_of_log(), np.zeros(self.joints)

    @property
    def share(self) -> Array:
        """Noise of the positions as a share of the effect of the efforts (n,)."""
        return np.where(self.rests, 0.0, self.noise / self.reach)

    @property
    def heard(self) -> Array:
        """Scale of the residuals, with the noise of efforts, as such a share (n,)."""
        return np.where(self.rests, 0.0, self.scale / self.reach)

    def capped(self) -> Iterator[tuple[str, float, float, Array]]:
        """Yield the joints that seem to have a speed limit.

        Each with the limit [rad/s or m/s], the share of the samples at it, and a mask of the
        windows in which it is reached (w,).
        """
        rates = np.abs(self.qd).reshape(len(self.samples), -1, self.joints)
        for joint in self.log.driven:
            j = self.log.joints.index(joint)
            highest = float(np.quantile(rates[..., j], TOP))
            near = rates[..., j] > (1.0 - CAP) * highest
            if highest > 0.0 and near.mean() > CAPPED and not near.any(axis=1).all():
                rate = float(np.median(rates[..., j][near]))
                yield joint, rate, float(near.mean()), np.asarray(near.any(axis=1))

    def freed(self, joints: Iterable[str]) -> Windows:
        """Return the windows with the efforts of some joints unknown where they turn back or rest.

        The unknown effort in a window is a constant for each direction of motion and a slope in
        time; what these three could explain is projected out of the residuals.
        """
        at = [self.log.joints.index(joint) for joint in joints]
        rates = np.abs(self.qd)
        slow = rates < SLOW * np.sqrt((rates**2).mean(axis=0))
        if not slow[:, at].any():
            return self
        windows, ramp = copy.copy(self), np.linspace(-1.0, 1.0, 2 * self.size + 1)
        unknown = np.zeros((len(rates), self.joints, 3 * len(at)))
        for i, j in enumerate(at):
            forward = self.qd[:, j] > 0.0
            shapes = (forward, ~forward, np.tile(ramp, len(self.samples)))
            unknown[:, j, 3 * i : 3 * i + 3] = (slow[:, j] * np.array(shapes)).T
        # An orthonormal basis of their effects joins that of the initial states.
        u, s, _ = np.linalg.svd(self.made_by(unknown), full_matrices=False)
        u = u * (s > THIN * s.max(initial=1e-300))[:, None]
        windows._basis = np.concatenate([self._basis, u], axis=-1)
        return windows._anew()

    def _left_of_log(self) -> Array:
        """Return recorded less smooth positions (w, (k + 1) n)."""
        smooth = self.q.reshape(len(self.samples), -1, self.joints)[:, ::2]
        return self._left((self.log.q[self.samples] - smooth)[..., None])[..., 0]

    def rescaled(self, more: Array, steps: Array) -> Windows:
        """Return the windows with the noise of efforts added to the scale.

        Args:
            more: effect of that noise on positions (n,) [rad or m].
            steps: mask of joints whose noise is rounding (n,), which windows do not average out.
        """
        windows = copy.copy(self)
        windows.rounding = np.where(steps, more / self.reach, 0.0)
        windows.scale, windows._basis = np.hypot(self.scale, more), None
        windows._basis = windows._by_start()
        return windows._anew()

    def _anew(self) -> Windows:
        """Return these windows, without kept results that depend on basis or scale."""
        for name in ("_needed", "_measured", "scheme"):
            self.__dict__.pop(name, None)
        self.apart = self._left_of_log()
        return self

    def left_of(self, positions: Array) -> Array:
        """Return positions of all samples of the log (samples, n) in windows (w, (k + 1) n)."""
        return self._left(positions[self.samples][..., None])[..., 0]

    def made_by(self, efforts: Array) -> Array:
        """Return the positions (w, (k + 1) n, c) due to efforts (w (2 k + 1), n, c)."""
        efforts = efforts.reshape(len(self.samples), -1, *efforts.shape[1:])
        return self._moved(self._fine, self._at_fine, efforts)

    def applied(self, shift: int, efforts: Array) -> Array:
        """Return the efforts that act in each step (w, k, n, c).

        Args:
            shift: samples by which they act late.
            efforts: of all samples of the log (samples, n, c).
        """
        acting = np.empty((*self._steps.shape, *efforts.shape[1:]))
        for stretch in self.log.segments:
            inside = (self.samples[:, 0] >= stretch.start) & (self.samples[:, 0] < stretch.stop)
            at = np.clip(self.samples[inside, :-1] - shift, stretch.start, stretch.stop - 1)
            acting[inside] = efforts[at]
        return acting

    def needed(self, body: LogBody, kept: bool = False) -> Array:
        """Return the efforts (w (2 k + 1), n) that the motion needs of a robot.

        Args:
            body: the robot.
            kept: whether to keep its results, because the next robots will be similar.
        """
        like = max(self._along, key=lambda along: len(along.same_frames(body)))
        along = Along.of(body, self.nodes, like)
        if kept:
            self._along = [self._along[0], along]
        q, fast = self.nodes[0], 1.0 + body.clock
        qdd = fast**2 * self.nodes[2]
        smooth_efforts = along.efforts(qdd) + body.armature * qdd - body.offset + body.pull(q)
        return np.asarray(self._spread(smooth_efforts) + body.friction(fast * self.qd))

    @cached_property
    def _needed(self) -> Array:
        """Efforts that the motion needs of the file's robot."""
        return self.needed(self.body)

    @cached_property
    def _measured(self) -> Array:
        """Recorded positions less those of the file's robot without efforts (w, (k + 1) n)."""
        return self.apart + self.made_by(self._needed[..., None])[..., 0]

    def needing(self, body: LogBody) -> Array:
        """Return recorded positions less those of a robot without efforts (w, (k + 1) n)."""
        if body is self.body:
            return self._measured
        more = self.needed(body, kept=True) - self._needed
        return self._measured + self.made_by(more[..., None])[..., 0]

    def pushed(self, shift: int, efforts: Array) -> Array:
        """Return the positions (w, (k + 1) n, c) due to efforts that are held over each step.

        Args:
            shift: samples by which the efforts act late.
            efforts: of all samples of the log (samples, n, c).
        """
        return self._moved(self._held, self._at_steps, self.applied(shift, efforts))

    def bent(self, shift: int, efforts: Array) -> Array:
        """Return the positions due to efforts that change smoothly between samples.

        The value in the middle of a step is interpolated by a cubic. Arguments and shapes are those
        of `pushed`.
        """
        end, start, before, after = (self.applied(shift + i, efforts) for i in (0, 1, 2, -1))
        fine = np.empty((len(end), 2 * self.size + 1, *end.shape[2:]))
        fine[:, 0], fine[:, 2::2] = start[:, 0], end
        fine[:, 1::2] = (9.0 * (start + end) - before - after) / 16.0
        return self._moved(self._fine, self._at_fine, fine)

    def blown(self, shift: int, efforts: Array) -> Array:
        """Return the positions due to efforts that are impulses at the samples.

        Semi-implicit steps act so. Arguments and shapes are those of `pushed`.
        """
        return self._moved(self._blown, self._at_steps, self.applied(shift + 1, efforts))

    @cached_property
    def scheme(self) -> Array:
        """Effect on positions if q, qd or friction are late by a period (w, (k + 1) n, 3)."""
        body, h = self.body, self.log.period
        q, qd, qdd = self.nodes
        plain = body.efforts(q, qd, qdd)
        late = [
            body.efforts(q - PROBE * h * qd, qd, qdd),
            body.efforts(q, qd - PROBE * h * qdd, qdd),
        ]
        columns = [self._spread((delayed - plain) / PROBE) for delayed in late]
        columns.append(-h * body.damping * self.qdd)
        return self.made_by(np.stack(columns, axis=-1))
