"""What efforts that lack in a motion do to the positions of windows, by linearised equations.

NODES, DENSE, ROUGH, MANY, PROBE and HOLD may be tuned: at how many times of a window the equations
are evaluated, and what holds a joint that rests. They are interpolated between, but for friction.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log

PROBE = 1e-5  # of derivatives
HOLD = 1e9  # kg m^2: a joint that rests is held by what is not known
NODES, DENSE = 5, 60.0  # of a window at least, and more by its length [1/s]
ROUGH, MANY = 3.0, 32  # nodes a knot; where a window needs more, they are at all samples


class Response:
    """Linearised equations along the windows of a log.

    Attributes:
        log, body: what was read, and the robot of its file.
        size: k, the steps of a window; w windows.
        q, qd, qdd: motion at samples and between (w (2 k + 1), n).
        nodes: the same at a few of these times (3, w m, n).
        rests: joints that do not move in all the log (n,).
        held: joints that unknown forces hold in a window (w, n), those that rest among them.
        scale: what positions are measured by (n,) [rad or m].
    """

    log: Log
    body: LogBody
    size: int
    q: Array
    qd: Array
    qdd: Array
    nodes: Array
    rests: Array
    held: Array
    scale: Array
    _steps: Array
    _nodes: int
    _basis: Array | None

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return len(self.log.joints)

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
        for block, by in (
            (np.s_[..., n:, :n], at_q),
            (np.s_[..., n:, n:], at_qd + np.diag(body.damping)),
        ):
            change[block] = -(self._inverse[middle] @ by).reshape(w, k, n, n)
        half = 0.5 * self._steps[..., None, None] * change
        self._solve = np.linalg.inv(np.eye(2 * n) - half)
        self._step = self._solve @ (np.eye(2 * n) + half)

    def _held_still(self) -> Array:
        """Return the inertia (w (2 k + 1), n, n) of what holds joints that do not move."""
        held = np.where(self.held, HOLD, 0.0).repeat(2 * self.size + 1, axis=0)
        return np.asarray(held[:, None, :] * np.eye(self.joints))

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
        positions = np.empty((w, k + 1, n, columns))
        positions[:, 0] = state[:, :n]
        for i in range(k):
            state = self._step[:, i] @ state + added[:, i]
            positions[:, i + 1] = state[:, :n]
        return self._left(positions)

    def _left(self, positions: Array) -> Array:
        """Return positions (w, k + 1, n, c) over their scale, less what initial states explain."""
        w, c = len(positions), positions.shape[-1]
        rows = (positions / self.scale[:, None]).reshape(w, -1, c)
        if self._basis is not None:
            rows = rows - self._basis @ (self._basis.swapaxes(1, 2) @ rows)
        return np.asarray(rows)

    def _spread(self, values: Array) -> Array:
        """Return values at the nodes (w m, ...) at all times of the windows (w (2 k + 1), ...)."""
        w, f, m = self._interpolation.shape
        found = self._interpolation @ values.reshape(w, m, -1)
        return np.asarray(found.reshape(w * f, *values.shape[1:]))

    def _place_nodes(self, times: Array, motion: Array) -> None:
        """Take a few times of each window, nearer to each other at its ends [Chebyshev]."""
        last = times.shape[1] - 1
        many = min(self._nodes, last + 1)
        if many <= last:
            at = np.unique(np.round(0.5 * last * (1.0 - np.cos(np.linspace(0.0, np.pi, many)))))
        else:
            at = np.arange(last + 1)
        self._at = at.astype(int)
        nodes_at = times[:, self._at]
        between = nodes_at[:, :, None] - nodes_at[:, None, :] + np.eye(len(at))
        span = 0.25 * np.ptp(times, axis=1)[:, None, None]  # products neither over- nor underflow
        weights = 1.0 / (np.where(np.eye(len(at)), 1.0, between / span)).prod(axis=2)
        apart = (times[:, :, None] - nodes_at[:, None, :]) / span
        hit = apart == 0.0
        terms = weights[:, None] / np.where(hit, 1.0, apart)
        terms = np.where(hit.any(axis=2, keepdims=True), hit, terms)
        self._interpolation = terms / terms.sum(axis=2, keepdims=True)
        self.nodes = motion[:, :, self._at].reshape(3, -1, motion.shape[-1])
