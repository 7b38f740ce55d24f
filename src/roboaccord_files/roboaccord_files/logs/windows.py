"""Windows of a log, and how errors of a model show in them.

FLOOR, MOST, NODES, DENSE and SLOW may be tuned: speed, and what is left open. The equations are
fixed by what follows; a term that a robot needs belongs to `LogBody`.

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
from roboaccord.description.inverse import add_efforts, inverse_dynamics, link_motions
from roboaccord.description.tree import rotors_of

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.smooth import Smooth

FLOOR = 1e-4  # of what the efforts do: errors below are not looked into
MOST, FEW = 3000, 1200  # samples that are looked at, and for a first look
PROBE = 1e-5  # of derivatives
NODES, DENSE = 5, 60.0  # of a window at least, and more by its length [1/s]
TOP, CAP, CAPPED = 0.99, 0.01, 0.2  # a joint is at its largest rate in so many samples
ROUGH, MANY = 3.0, 12  # nodes a knot; where a window needs more, they are at all samples
SLOW = 0.1  # of a joint's rate
RESTS, STILL = 12.0, 1e-6  # times the noise, and rad or m: less is no motion
HOLD = 1e9  # kg m^2: a joint that rests is held by what is not known
THIN = 1e-9  # of the largest unknown effort's effect: none


class Windows:
    """Hold the windows of a log under a robot's equations.

    Args:
        log: what was read; n joints.
        body: of the robot's file.
        size: k, the steps of a window; w windows of k + 1 samples.
        smooth: motion through the log.
        most: samples that are looked at.
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
        self._linearise()
        q, qd, qdd = self.nodes
        self._moved = link_motions(body.tree, body.joints, body.gravity, q - body.zero, qd, qdd)
        self._plain = rotors_of(body.tree, body.joints) * qdd
        add_efforts(self._plain, body.tree.links, self._moved)
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
        self.apart = self._left_of_log()

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return len(self.log.joints)

    @property
    def share(self) -> Array:
        """Noise of the positions, over what the efforts do in a window (n,)."""
        return np.where(self.rests, 0.0, self.noise / self.reach)

    @property
    def heard(self) -> Array:
        """Noise that residuals are measured by, that of efforts too, likewise (n,)."""
        return np.where(self.rests, 0.0, self.scale / self.reach)

    def _place_nodes(self, times: Array, motion: Array) -> None:
        """Take a few times of each window, nearer to each other at its ends [Chebyshev]."""
        last = times.shape[1] - 1
        many = min(self._nodes, last + 1)
        at = np.unique(np.round(0.5 * last * (1.0 - np.cos(np.linspace(0.0, np.pi, many)))))
        self._at = at.astype(int)
        own = times[:, self._at]
        between = own[:, :, None] - own[:, None, :] + np.eye(len(at))
        weights = 1.0 / (between / self.log.period).prod(axis=2)
        apart = (times[:, :, None] - own[:, None, :]) / self.log.period
        hit = apart == 0.0
        terms = weights[:, None] / np.where(hit, 1.0, apart)
        terms = np.where(hit.any(axis=2, keepdims=True), hit, terms)
        self._interpolation = terms / terms.sum(axis=2, keepdims=True)
        self.nodes = motion[:, :, self._at].reshape(3, -1, motion.shape[-1])

    def _spread(self, values: Array) -> Array:
        """Return values at the nodes (w m, ...) at all times of the windows (w (2 k + 1), ...)."""
        w, f, m = self._interpolation.shape
        found = self._interpolation @ values.reshape(w, m, -1)
        return np.asarray(found.reshape(w * f, *values.shape[1:]))

    def _linearise(self) -> None:
        """Take the derivatives of the equations along the motion."""
        body, n = self.body, self.joints
        q, qd, qdd = self.nodes
        still = np.zeros_like(q)
        light = replace(body, gravity=np.zeros(3), offset=np.zeros(n), zero=np.zeros(n))
        unit = np.eye(n)
        at = q - body.zero
        slack = light.pull(at)
        mass = [light.efforts(at, still, still + unit[j]) - slack for j in range(n)]
        self._inverse = np.linalg.inv(self._spread(np.stack(mass, axis=-1)) + self._held_still())
        w, k = self._steps.shape
        middle = np.arange(len(self.q)).reshape(w, -1)[:, 1::2].ravel()
        plain = body.efforts(q, qd, qdd)
        by_q = [body.efforts(q + PROBE * unit[j], qd, qdd) - plain for j in range(n)]
        by_qd = [body.efforts(q, qd + PROBE * unit[j], qdd) - plain for j in range(n)]
        at_q, at_qd = (self._spread(np.stack(x, axis=-1))[middle] / PROBE for x in (by_q, by_qd))
        change = np.zeros((w, k, 2 * n, 2 * n))  # of the state, at the middle of each step
        change[..., :n, n:] = unit
        for part, by in (
            (np.s_[..., n:, :n], at_q),
            (np.s_[..., n:, n:], at_qd + np.diag(body.damping)),
        ):
            change[part] = -(self._inverse[middle] @ by).reshape(w, k, n, n)
        half = 0.5 * self._steps[..., None, None] * change
        self._solve = np.linalg.inv(np.eye(2 * n) - half)
        self._step = self._solve @ (np.eye(2 * n) + half)

    def _held_still(self) -> Array:
        """Return the inertia (n, n) of what holds joints that rest in all the log."""
        return np.diag(np.where(self.rests, HOLD, 0.0))

    def _fine(self, efforts: Array) -> Array:
        """Return efforts (w (2 k + 1), n, c), which lack in the motion, as of `_propagate`."""
        w, k = self._steps.shape
        found = (self._inverse @ efforts).reshape(w, 2 * k + 1, self.joints, -1)
        return np.stack([found[:, :-1:2], found[:, 1::2], found[:, 2::2]])

    def _held(self, efforts: Array) -> Array:
        """Return efforts (w, k, n, c), which are held over a step, as of `_propagate`."""
        w, k = self._steps.shape
        inverse = self._inverse.reshape(w, -1, self.joints, self.joints)
        return np.stack([inverse[:, i : 2 * k + i : 2] @ efforts for i in range(3)])

    def _propagate(
        self,
        forces: Array | None = None,
        start: Array | None = None,
        blows: Array | None = None,
    ) -> Array:
        """Return what accelerations make of the positions of windows (w, (k + 1) n, c), projected.

        Args:
            forces: accelerations at start, middle and end of each step (3, w, k, n, c).
            start: initial states (2 n, c); 0 where None.
            blows: accelerations that act at the start of each step alone (w, k, n, c).
        """
        w, k = self._steps.shape
        n, h = self.joints, self._steps[..., None, None]
        columns = start.shape[-1] if start is not None else forces.shape[-1]  # type: ignore[union-attr]
        state = np.zeros((w, 2 * n, columns)) + (0.0 if start is None else start)
        added = np.zeros((w, k, 2 * n, columns))
        if forces is not None:
            first, middle, last = forces
            added[..., :n, :] = h**2 * (first - last) / 12.0
            added[..., n:, :] = h * (first + 4.0 * middle + last) / 6.0
            added = self._solve @ added
        if blows is not None:
            added = added + (self._step[..., n:] * h) @ blows
        found = np.empty((w, k + 1, n, columns))
        found[:, 0] = state[:, :n]
        for i in range(k):
            state = self._step[:, i] @ state + added[:, i]
            found[:, i + 1] = state[:, :n]
        return self._left(found)

    def _left(self, positions: Array) -> Array:
        """Return positions (w, k + 1, n, c) over their scale, less what initial states explain."""
        w, c = len(positions), positions.shape[-1]
        rows = (positions / self.scale[:, None]).reshape(w, -1, c)
        if self._basis is not None:
            rows = rows - self._basis @ (self._basis.swapaxes(1, 2) @ rows)
        return np.asarray(rows)

    def capped(self) -> Iterator[tuple[str, float, Array]]:
        """Yield joints that move at no more than a rate [rad/s], and the windows of that (w,)."""
        rates = np.abs(self.qd).reshape(len(self.samples), -1, self.joints)
        for j, joint in enumerate(self.log.joints):
            most = float(np.quantile(rates[..., j], TOP))
            near = rates[..., j] > (1.0 - CAP) * most
            if most > 0.0 and near.mean() > CAPPED and not near.any(axis=1).all():
                yield joint, float(np.median(rates[..., j][near])), np.asarray(near.any(axis=1))

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
        found, along = copy.copy(self), np.linspace(-1.0, 1.0, 2 * self.size + 1)
        unknown = np.zeros((len(rates), self.joints, 3 * len(at)))
        for i, j in enumerate(at):
            ahead = self.qd[:, j] > 0.0
            parts = (ahead, ~ahead, np.tile(along, len(self.samples)))
            unknown[:, j, 3 * i : 3 * i + 3] = (slow[:, j] * np.array(parts)).T
        u, s, _ = np.linalg.svd(self.made_by(unknown), full_matrices=False)
        u = u * (s > THIN * s.max(initial=1e-300))[:, None]
        found._basis = np.concatenate([self._basis, u], axis=-1)
        return found._anew()

    def _left_of_log(self) -> Array:
        smooth = self.q.reshape(len(self.samples), -1, self.joints)[:, ::2]
        return self._left((self.log.q[self.samples] - smooth)[..., None])[..., 0]

    def rescaled(self, more: Array) -> Windows:
        """Return the windows with more noise of positions (n,) [rad or m]."""
        found = copy.copy(self)
        found.scale, found._basis = np.hypot(self.scale, more), None
        found._basis = np.linalg.qr(found._propagate(start=np.eye(2 * self.joints)))[0]
        return found._anew()

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
        found = np.empty((*self._steps.shape, *efforts.shape[1:]))
        for s in self.log.segments:
            inside = (self.samples[:, 0] >= s.start) & (self.samples[:, 0] < s.stop)
            at = np.clip(self.samples[inside, :-1] - shift, s.start, s.stop - 1)
            found[inside] = efforts[at]
        return found

    def driven(self, efforts: Array) -> Array:
        """Return the columns (w, (k + 1) n, c) of efforts (w, k, n, c) that are held over steps."""
        return self._propagate(self._held(efforts))

    def needed(self, body: LogBody) -> Array:
        """Return the efforts (w (2 k + 1), n) that the motion needs of a body.

        Motions of links are computed again only where joints, gravity, zeros or clock are others.
        """
        own, found = self.body, self._plain.copy()
        q, fast = self.nodes[0], 1.0 + body.clock
        qd, qdd = fast * self.nodes[1], fast**2 * self.nodes[2]
        same = [(each.tree.joints, each.gravity, each.zero, each.clock) for each in (body, own)]
        if not all(a is b for a, b in zip(*same)):
            found = inverse_dynamics(body.tree, body.joints, body.gravity, q - body.zero, qd, qdd)
        else:
            pairs = [(a, b) for a, b in zip(body.tree.links, own.tree.links) if a is not b]
            add_efforts(found, [a for a, _ in pairs], self._moved)
            add_efforts(less := np.zeros_like(found), [b for _, b in pairs], self._moved)
            found -= less
        found = found + body.armature * qdd - body.offset + body.pull(q)
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
        more = self.needed(body) - self._needed
        return self._measured + self.made_by(more[..., None])[..., 0]

    def pushed(self, shift: int, efforts: Array) -> Array:
        """Return what efforts of samples (k, n, c), so many samples later, do (w, (k + 1) n, c)."""
        own = efforts is self.efforts
        if own and shift in self._pushed:
            return self._pushed[shift]
        found = self.driven(self.applied(shift, efforts))
        return self._pushed.setdefault(shift, found) if own else found

    def bent(self, shift: int, efforts: Array) -> tuple[Array, Array]:
        """Return what efforts do more that are not held, as of `pushed`.

        They change smoothly between samples; or they are blows at their samples, as in
        semi-implicit steps.
        """
        own = efforts is self.efforts
        if own and (known := self._bent.get(shift)) is not None:
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
        return self._bent.setdefault(shift, (smooth, blows)) if own else (smooth, blows)

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
