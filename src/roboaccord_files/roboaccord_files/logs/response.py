"""Compute how additional efforts would change the positions within windows of a log.

The equations of motion are linearised about the recorded motion: M d'' + C d' + K d = e, where d is
the change of the positions (small), e the additional effort, and M, C and K are the derivatives of
the inverse dynamics by accelerations, rates and positions. They are integrated over each window by
steps from sample to sample. To save time the derivatives are evaluated at a few times of a window,
its nodes, and interpolated between; friction is evaluated at each sample.

windows.py builds on this class. The constants may be tuned: they trade time for accuracy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log

# rad, rad/s or m, m/s; step of the difference quotients. Errors of 1e-5 by truncation, and of eps /
# PROBE = 2e-11 by round-off, are below windows.FLOOR.
PROBE = 1e-5
# kg m^2 or kg; added to the inertia of a joint that unknown forces hold at rest. Such a joint moves
# by 1e-9 of what 1 kg would.
HOLD = 1e9
# Nodes of a window at least, and further ones a second of its length: 60 resolve 30 Hz, more than
# the joints of robots reach.
NODES, DENSE = 5, 60.0
# Nodes for each knot of the smooth motion; a window that needs more than MANY has all samples. A
# spline of degree 5 bends up to three times between knots, and the interpolation's weights grow as
# 4^nodes.
ROUGH, MANY = 3.0, 32


class Response:
    """The linearised equations along w windows of a log, each of k steps, for n joints.

    Attributes:
        log, body: the samples, and the robot of the file.
        size: k, the steps of a window.
        q, qd, qdd: smooth motion at the samples and in the middle of steps (w (2 k + 1), n).
        nodes: positions, rates and accelerations at the m nodes of each window (3, w m, n).
        rests: mask of joints that never move in the log (n,).
        held: mask of joints that unknown forces hold in a window (w, n), which includes `rests`.
        scale: unit in which the positions of each joint are returned (n,) [rad or m].
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
        """Compute the derivatives along the motion, and the matrices of a step.

        With the state x = (d, d') the equations are x' = A x + (0, M^-1 e). A step of h by the
        implicit midpoint rule is x1 = (I - h A / 2)^-1 ((I + h A / 2) x0 + forces): `_solve` is the
        inverse, and `_step` its product with I + h A / 2.
        """
        body, n = self.body, self.joints
        q, qd, qdd = self.nodes
        still = np.zeros_like(q)
        light = replace(body, gravity=np.zeros(3), offset=np.zeros(n), zero=np.zeros(n))
        unit = np.eye(n)
        at = q - body.zero
        # M: efforts of unit accelerations without gravity, column by column.
        springs = light.pull(at)
        mass = [light.efforts(at, still, still + unit[j]) - springs for j in range(n)]
        self._inverse = np.linalg.inv(self._spread(np.stack(mass, axis=-1)) + self._held_still())
        # K and C by difference quotients, in the middle of each step.
        w, k = self._steps.shape
        middle = np.arange(len(self.q)).reshape(w, -1)[:, 1::2].ravel()
        plain = body.efforts(q, qd, qdd)
        by_q = [body.efforts(q + PROBE * unit[j], qd, qdd) - plain for j in range(n)]
        by_qd = [body.efforts(q, qd + PROBE * unit[j], qdd) - plain for j in range(n)]
        at_q, at_qd = (self._spread(np.stack(x, axis=-1))[middle] / PROBE for x in (by_q, by_qd))
        # A in the middle of each step, and the matrices of the steps.
        change = np.zeros((w, k, 2 * n, 2 * n))
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
        """Return the inertia (w (2 k + 1), n, n) that keeps held joints at rest."""
        held = np.where(self.held, HOLD, 0.0).repeat(2 * self.size + 1, axis=0)
        return np.asarray(held[:, None, :] * np.eye(self.joints))

    def _fine(self, efforts: Array) -> Array:
        """Return the accelerations due to efforts (w (2 k + 1), n, c), for `_propagate`.

        They are ordered by start, middle and end of each step (3, w, k, n, c).
        """
        w, k = self._steps.shape
        accelerations = (self._inverse @ efforts).reshape(w, 2 * k + 1, self.joints, -1)
        return np.stack([accelerations[:, :-1:2], accelerations[:, 1::2], accelerations[:, 2::2]])

    def _held(self, efforts: Array) -> Array:
        """Return the accelerations due to efforts (w, k, n, c) held over each step, likewise."""
        w, k = self._steps.shape
        inverse = self._inverse.reshape(w, -1, self.joints, self.joints)
        return np.stack([inverse[:, i : 2 * k + i : 2] @ efforts for i in range(3)])

    def _propagate(
        self,
        forces: Array | None = None,
        start: Array | None = None,
        blows: Array | None = None,
    ) -> Array:
        """Return the positions in windows due to accelerations (w, (k + 1) n, c), by `_left`.

        Args:
            forces: accelerations at start, middle and end of each step (3, w, k, n, c).
            start: initial state of each window (2 n, c), 0 if None.
            blows: accelerations that act as an impulse at the start of each step (w, k, n, c).
        """
        w, k = self._steps.shape
        n, h = self.joints, self._steps[..., None, None]
        columns = start.shape[-1] if start is not None else forces.shape[-1]  # type: ignore[union-attr]
        state = np.zeros((w, 2 * n, columns)) + (0.0 if start is None else start)
        # What the accelerations add to the state in each step, by Simpson's rule.
        added = np.zeros((w, k, 2 * n, columns))
        if forces is not None:
            first, middle, last = forces
            added[..., :n, :] = h**2 * (first - last) / 12.0
            added[..., n:, :] = h * (first + 4.0 * middle + last) / 6.0
            added = self._solve @ added
        if blows is not None:
            added = added + (self._step[..., n:] * h) @ blows
        # The states, step by step.
        positions = np.empty((w, k + 1, n, columns))
        positions[:, 0] = state[:, :n]
        for i in range(k):
            state = self._step[:, i] @ state + added[:, i]
            positions[:, i + 1] = state[:, :n]
        return self._left(positions)

    def _left(self, positions: Array) -> Array:
        """Return positions (w, k + 1, n, c) over their scale, without what `_basis` spans.

        `_basis` has an orthonormal basis of what is unknown in each window: its initial state, and
        efforts that are left open. The result is (w, (k + 1) n, c).
        """
        w, c = len(positions), positions.shape[-1]
        rows = (positions / self.scale[:, None]).reshape(w, -1, c)
        if self._basis is not None:
            rows = rows - self._basis @ (self._basis.swapaxes(1, 2) @ rows)
        return np.asarray(rows)

    def _spread(self, values: Array) -> Array:
        """Return values at nodes (w m, ...) interpolated at all times (w (2 k + 1), ...)."""
        w, times, m = self._interpolation.shape
        interpolated = self._interpolation @ values.reshape(w, m, -1)
        return np.asarray(interpolated.reshape(w * times, *values.shape[1:]))

    def _place_nodes(self, times: Array, motion: Array) -> None:
        """Choose the nodes of each window, and compute the matrix that interpolates between them.

        Nodes are Chebyshev points, which are denser at the ends. The interpolation is barycentric:
        f(t) = sum_j w_j f_j / (t - t_j) over sum_j w_j / (t - t_j), w_j = 1 / prod_i (t_j - t_i)
        [Berrut and Trefethen 2004].

        Args:
            times: samples and middles of each window (w, 2 k + 1) [s].
            motion: positions, rates and accelerations there (3, w, 2 k + 1, n).
        """
        last = times.shape[1] - 1
        count = min(self._nodes, last + 1)
        if count <= last:
            at = np.unique(np.round(0.5 * last * (1.0 - np.cos(np.linspace(0.0, np.pi, count)))))
        else:
            at = np.arange(last + 1)
        self._at = at.astype(int)
        # Weights of the nodes; by a quarter of the span products neither over- nor underflow.
        node_times = times[:, self._at]
        between = node_times[:, :, None] - node_times[:, None, :] + np.eye(len(at))
        span = 0.25 * np.ptp(times, axis=1)[:, None, None]
        weights = 1.0 / (np.where(np.eye(len(at)), 1.0, between / span)).prod(axis=2)
        # Terms of the sums; at a node itself its value alone counts.
        distance = (times[:, :, None] - node_times[:, None, :]) / span
        hit = distance == 0.0
        terms = weights[:, None] / np.where(hit, 1.0, distance)
        terms = np.where(hit.any(axis=2, keepdims=True), hit, terms)
        self._interpolation = terms / terms.sum(axis=2, keepdims=True)
        self.nodes = motion[:, :, self._at].reshape(3, -1, motion.shape[-1])
