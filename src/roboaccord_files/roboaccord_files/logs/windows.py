"""Windows of a log, and how errors of a model show in them.

FLOOR, MOST, FEW, CAP and SLOW may be tuned: speed, and what is left open. The equations are fixed
by what follows; a term that a robot needs belongs to `LogBody`.

Along a smooth motion q_s through the log's positions the equations of the robot's file leave

    e = tau - ID(q_s, qd_s, qdd_s),

and the motion that they predict differs from q_s by delta, which is small:

    M delta'' + C delta' + K delta = e,

where M, C and K are the derivatives of ID by qdd, qd and q. This is integrated over windows of k
samples on the stamps as they are. The initial state of each window is unknown, and projected out.
So noise of the positions is never differentiated, and q_s need not be exact: to first order what
is left is the recorded position less the predicted one. A parameter's error adds -dID/dp to e; its
column of the regression is what that makes of delta. The equations are evaluated at a few nodes of
a window, and interpolated; friction is not. Where a joint with dry friction turns back, what it
takes is unknown, and projected out likewise.
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

FLOOR = 1e-4  # of what the efforts do: errors below are not looked into
MOST, FEW = 3000, 1200  # samples that are looked at, and for a first look
TOP, CAP, CAPPED = 0.99, 0.01, 0.2  # a joint is at its largest rate in so many samples
SLOW = 0.1  # of a joint's rate
RESTS, STILL = 12.0, 1e-6  # times the noise, and rad or m: less is no motion
THIN = 1e-9  # of the largest unknown effort's effect: none


class Windows(Response):
    """The windows of a log under a robot's equations.

    Args:
        log: what was read; n joints.
        body: of the robot's file.
        size: k, the steps of a window; w windows of k + 1 samples.
        smooth: motion through the log.
        most: samples that are looked at.

    Attributes:
        rounding: what rounding of efforts does in windows, over what the efforts do (n,).
    """

    def __init__(
        self,
        log: Log,
        body: LogBody,
        size: int,
        smooth: Smooth | None = None,
        most: int = MOST,
    ) -> None:
        self.log, self.size, self.efforts = log, size, log.effort[..., None]
        self._pushed, self._bent = dict[int, Array](), dict[int, tuple[Array, Array]]()
        self.smooth = smooth or Smooth.of(log)
        starts = np.concatenate([np.arange(s.start, s.stop - size, size) for s in log.segments])
        self._nodes = max(
            NODES + int(DENSE * size * log.period), int(ROUGH * size / self.smooth.every)
        )
        if size * ROUGH > MANY * self.smooth.every:
            self._nodes, most = 2 * size + 1, most // 2
        few = max(most // size, 1)
        if len(starts) > few:
            starts = starts[np.linspace(0, len(starts) - 1, few).astype(int)]
        self.samples = starts[:, None] + np.arange(size + 1)
        time = log.time[self.samples]
        self._steps = np.diff(time, axis=1)
        whole = np.empty((len(starts), 2 * size + 1))
        whole[:, ::2], whole[:, 1::2] = time, 0.5 * (time[:, 1:] + time[:, :-1])
        found = self.smooth.at(starts, whole)
        self.q, self.qd, self.qdd = found.reshape(3, -1, log.q.shape[1])
        self._place_nodes(whole, found)
        self.body = body
        self.noise = self.smooth.noise
        self.rests = np.ptp(log.q, axis=0) <= np.maximum(RESTS * self.noise, STILL)
        self.held = np.tile(self.rests, (len(starts), 1))
        for s in log.swings:  # about a pivot, on which unknown forces act
            self.held[(starts >= s.start) & (starts < s.stop), :3] = True
        self._linearise()
        q, qd, qdd = self.nodes
        self._along = [Along.of(body, self.nodes)]
        self.scale = np.ones(log.q.shape[1])
        self._basis: Array | None = None
        self._basis = np.linalg.qr(self._propagate(start=np.eye(2 * self.joints)))[0]
        own = self._spread(body.efforts(q, qd, qdd)) + body.friction(self.qd)
        inertial = self._spread(replace(body, gravity=np.zeros(3)).efforts(q, 0 * qd, qdd))
        sizes = self._propagate(self._fine(np.stack([inertial, own - inertial], axis=-1)))
        self.reach = np.sqrt(
            (sizes**2).sum(axis=-1).reshape(len(starts), -1, self.joints).mean((0, 1))
        )
        self.reach = np.maximum(self.reach, 1e-3 * self.reach.max())
        self.scale = np.hypot(self.noise, FLOOR * self.reach)
        self._basis = None
        self._basis = np.linalg.qr(self._propagate(start=np.eye(2 * self.joints)))[0]
        self.apart, self.rounding = self._left_of_log(), np.zeros(self.joints)

    @property
    def share(self) -> Array:
        """Noise of the positions, over what the efforts do in a window (n,)."""
        return np.where(self.rests, 0.0, self.noise / self.reach)

    @property
    def heard(self) -> Array:
        """Noise that residuals are measured by, that of efforts too, likewise (n,)."""
        return np.where(self.rests, 0.0, self.scale / self.reach)

    def capped(self) -> Iterator[tuple[str, float, float, Array]]:
        """Yield joints that move at no more than a rate: it, in how much of the log, which windows.

        The rate is in rad/s or m/s, the part of the samples from 0 to 1, windows are (w,).
        """
        rates = np.abs(self.qd).reshape(len(self.samples), -1, self.joints)
        for joint in self.log.driven:
            j = self.log.joints.index(joint)
            most = float(np.quantile(rates[..., j], TOP))
            near = rates[..., j] > (1.0 - CAP) * most
            if most > 0.0 and near.mean() > CAPPED and not near.any(axis=1).all():
                rate = float(np.median(rates[..., j][near]))
                yield joint, rate, float(near.mean()), np.asarray(near.any(axis=1))

    def freed(self, joints: Iterable[str]) -> Windows:
        """Return the windows with the efforts of joints unknown where they turn back or rest.

        Of a window's effort that is unknown a constant for each direction and a slope are projected
        out.
        """
        at = [self.log.joints.index(joint) for joint in joints]
        rates = np.abs(self.qd)
        slow = rates < SLOW * np.sqrt((rates**2).mean(axis=0))
        if not slow[:, at].any():
            return self
        windows, along = copy.copy(self), np.linspace(-1.0, 1.0, 2 * self.size + 1)
        unknown = np.zeros((len(rates), self.joints, 3 * len(at)))
        for i, j in enumerate(at):
            ahead = self.qd[:, j] > 0.0
            parts = (ahead, ~ahead, np.tile(along, len(self.samples)))
            unknown[:, j, 3 * i : 3 * i + 3] = (slow[:, j] * np.array(parts)).T
        u, s, _ = np.linalg.svd(self.made_by(unknown), full_matrices=False)
        u = u * (s > THIN * s.max(initial=1e-300))[:, None]
        windows._basis = np.concatenate([self._basis, u], axis=-1)
        return windows._anew()

    def _left_of_log(self) -> Array:
        smooth = self.q.reshape(len(self.samples), -1, self.joints)[:, ::2]
        return self._left((self.log.q[self.samples] - smooth)[..., None])[..., 0]

    def rescaled(self, more: Array, steps: Array) -> Windows:
        """Return the windows with more noise, that of efforts.

        Args:
            more: what it does to positions (n,) [rad or m].
            steps: of which joints it is that of rounding (n,), which nothing averages out.
        """
        windows = copy.copy(self)
        windows.rounding = np.where(steps, more / self.reach, 0.0)
        windows.scale, windows._basis = np.hypot(self.scale, more), None
        windows._basis = np.linalg.qr(windows._propagate(start=np.eye(2 * self.joints)))[0]
        return windows._anew()

    def _anew(self) -> Windows:
        """Return the windows without what was computed for another basis or scale."""
        self._pushed, self._bent = {}, {}
        for name in ("_needed", "_measured", "scheme"):
            self.__dict__.pop(name, None)
        self.apart = self._left_of_log()
        return self

    def left_of(self, positions: Array) -> Array:
        """Return what positions of samples (k, n) are in windows (w, (k + 1) n)."""
        return self._left(positions[self.samples][..., None])[..., 0]

    def made_by(self, efforts: Array) -> Array:
        """Return the columns (w, (k + 1) n, c) of efforts (w (2 k + 1), n, c)."""
        return self._propagate(self._fine(efforts))

    def applied(self, shift: int, efforts: Array) -> Array:
        """Return efforts of samples (k, n, c), so many samples later, by step (w, k, n, c)."""
        acting = np.empty((*self._steps.shape, *efforts.shape[1:]))
        for s in self.log.segments:
            inside = (self.samples[:, 0] >= s.start) & (self.samples[:, 0] < s.stop)
            at = np.clip(self.samples[inside, :-1] - shift, s.start, s.stop - 1)
            acting[inside] = efforts[at]
        return acting

    def driven(self, efforts: Array) -> Array:
        """Return the columns (w, (k + 1) n, c) of efforts (w, k, n, c) that are held over steps."""
        return self._propagate(self._held(efforts))

    def needed(self, body: LogBody, kept: bool = False) -> Array:
        """Return the efforts (w (2 k + 1), n) that the motion needs of a body.

        Args:
            body: the robot.
            kept: whether others that are asked for will be like it.
        """
        like = max(self._along, key=lambda each: len(each.same_frames(body)))
        along = Along.of(body, self.nodes, like)
        if kept:
            self._along = [self._along[0], along]
        q, fast = self.nodes[0], 1.0 + body.clock
        qdd = fast**2 * self.nodes[2]
        found = along.efforts(qdd) + body.armature * qdd - body.offset + body.pull(q)
        return np.asarray(self._spread(found) + body.friction(fast * self.qd))

    @cached_property
    def _needed(self) -> Array:
        return self.needed(self.body)

    @cached_property
    def _measured(self) -> Array:
        return self.apart + self.made_by(self._needed[..., None])[..., 0]

    def needing(self, body: LogBody) -> Array:
        """Return recorded positions less those of a body under no effort (w, (k + 1) n)."""
        if body is self.body:
            return self._measured
        more = self.needed(body, kept=True) - self._needed
        return self._measured + self.made_by(more[..., None])[..., 0]

    def pushed(self, shift: int, efforts: Array) -> Array:
        """Return what efforts of samples (k, n, c), so many samples later, do (w, (k + 1) n, c)."""
        unchanged = efforts is self.efforts
        if unchanged and shift in self._pushed:
            return self._pushed[shift]
        found = self.driven(self.applied(shift, efforts))
        return self._pushed.setdefault(shift, found) if unchanged else found

    def bent(self, shift: int, efforts: Array) -> tuple[Array, Array]:
        """Return what efforts do more that are not held, as of `pushed`.

        They change smoothly between samples; or they are blows at their samples, as in
        semi-implicit steps.
        """
        unchanged = efforts is self.efforts
        if unchanged and (known := self._bent.get(shift)) is not None:
            return known
        end, start, before, after = (self.applied(shift + i, efforts) for i in (0, 1, 2, -1))
        mean = 0.5 * (start + end)
        middle = mean + (2.0 * mean - before - after) / 16.0
        n, (w, k) = self.joints, self._steps.shape
        inverse = self._inverse.reshape(w, -1, n, n)
        at = [inverse[:, i : 2 * k + i : 2] for i in range(3)]
        forces = [m @ (x - mean) for m, x in zip(at, (start, middle, end))]
        smooth = self._propagate(np.stack(forces))
        blows = self._propagate(np.stack([m @ -mean for m in at]), blows=at[0] @ start)
        return self._bent.setdefault(shift, (smooth, blows)) if unchanged else (smooth, blows)

    @cached_property
    def scheme(self) -> Array:
        """Columns of the scheme (w, (k + 1) n, 3): by q, qd and friction late by a period."""
        body, h = self.body, self.log.period
        q, qd, qdd = self.nodes
        plain = body.efforts(q, qd, qdd)
        late = [
            body.efforts(q - PROBE * h * qd, qd, qdd),
            body.efforts(q, qd - PROBE * h * qdd, qdd),
        ]
        columns = [self._spread((each - plain) / PROBE) for each in late]
        columns.append(-h * body.damping * self.qdd)
        return self.made_by(np.stack(columns, axis=-1))
