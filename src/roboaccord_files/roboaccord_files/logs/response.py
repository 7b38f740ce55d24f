"""Compute how additional efforts would change the positions within windows of a log.

The equations of motion are linearised about the recorded motion: M d'' + C d' + K d = e, where d is
the change of the positions (small), e the additional effort, and M, C and K are the derivatives of
the inverse dynamics by accelerations, rates and positions. They are integrated over each window by
steps from sample to sample. To save time the derivatives are evaluated at a few times of a window,
its nodes, and interpolated between; friction is evaluated at each sample. What efforts do in a few
steps, a block, is linear in them, and a matrix of each block is computed once (`_blocks`).

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
BLOCK = 56  # steps times joints of a block at most: its matrices grow with the square of both


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
        """Compute the derivatives along the motion, and the matrices of blocks.

        With the state x = (d, d') the equations are x' = A x + (0, M^-1 e).
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
        # A in the middle of each step.
        change = np.zeros((w, k, 2 * n, 2 * n))
        change[..., :n, n:] = unit
        by = np.concatenate([at_q, at_qd + np.diag(body.damping)], axis=-1)
        change[..., n:, :] = -(self._inverse[middle] @ by).reshape(w, k, n, 2 * n)
        self._blocks(change)

    def _blocks(self, change: Array) -> None:
        """Compute what initial states and efforts do in each block, from A (w, k, 2 n, 2 n).

        A step of h by the implicit midpoint rule is x1 = S ((I + h A / 2) x0 + forces) with
        S = (I - h A / 2)^-1: `solve` is S, and `step` its product with I + h A / 2.

        A block has L steps, and a window B of them; steps beyond its end have the length 0. The
        matrices (w, B, (L + 1) n, ...) return the positions at the end of each step and the rates
        at the end of the last: `_free` those due to the state at the start (2 n), `_fine` those due
        to efforts at the 2 L + 1 times of steps and their middles, by Simpson's rule, `_held` those
        due to L efforts held over steps, and `_blown` due to L efforts that act as impulses at the
        starts of steps.
        """
        w, k, n = *self._steps.shape, self.joints
        count = -(-k // max(BLOCK // n, 1))
        length = -(-k // count)
        number = np.arange(count * length).reshape(count, length)
        self._at_steps = steps = np.minimum(number, k - 1)
        self._at_fine = np.minimum(2 * number[:, :1] + np.arange(2 * length + 1), 2 * k)
        h = np.where(number < k, self._steps[:, steps], 0.0)[..., None, None]
        half = 0.5 * h * change[:, steps]
        solve = np.linalg.inv(np.eye(2 * n) - half)
        step = solve @ (np.eye(2 * n) + half)
        # What the efforts add to the state in each step, at its start, middle and end.
        inverse = self._inverse.reshape(w, -1, n, n)
        first, middle, last = (inverse[:, 2 * steps + i] for i in range(3))
        starts = solve @ np.concatenate([h**2 / 12.0 * first, h / 6.0 * first], axis=-2)
        middles = solve[..., n:] @ (h * 4.0 / 6.0 * middle)
        ends = solve @ np.concatenate([-(h**2) / 12.0 * last, h / 6.0 * last], axis=-2)
        blows = (step[..., n:] * h) @ first
        # The states, step by step, with columns for state, fine, held and blown efforts.
        fine, held = 2 * n, 2 * n + (2 * length + 1) * n
        blown = held + length * n
        states = np.zeros((w, count, 2 * n, blown + length * n))
        states[..., : 2 * n] = np.eye(2 * n)
        rows = np.empty((w, count, (length + 1) * n, states.shape[-1]))
        for i in range(length):
            states = step[:, :, i] @ states
            now = starts[:, :, i], middles[:, :, i], ends[:, :, i]
            states[..., fine + 2 * i * n : fine + (2 * i + 3) * n] += np.concatenate(now, axis=-1)
            states[..., held + i * n : held + (i + 1) * n] += sum(now)
            states[..., blown + i * n : blown + (i + 1) * n] += blows[:, :, i]
            rows[..., i * n : (i + 1) * n, :] = states[..., :n, :]
        rows[..., length * n :, :] = states[..., n:, :]
        parts = np.split(rows, [fine, held, blown], axis=-1)
        self._free, self._fine, self._held, self._blown = map(np.ascontiguousarray, parts)

    def _held_still(self) -> Array:
        """Return the inertia (w (2 k + 1), n, n) that keeps held joints at rest."""
        held = np.where(self.held, HOLD, 0.0).repeat(2 * self.size + 1, axis=0)
        return np.asarray(held[:, None, :] * np.eye(self.joints))

    def _moved(self, matrices: Array, at: Array, efforts: Array) -> Array:
        """Return the positions in windows due to efforts (w, (k + 1) n, c), by `_left`.

        Args:
            matrices, at: `_fine` and `_at_fine`, or `_held` or `_blown` and `_at_steps`.
            efforts: at the times of each window, or in its steps (w, times, n, c).
        """
        taken = efforts[:, at].reshape(*matrices.shape[:2], -1, efforts.shape[-1])
        return self._chained(matrices @ taken)

    def _chained(self, rows: Array, start: Array | float = 0.0) -> Array:
        """Return the positions in windows, block by block (w, (k + 1) n, c), by `_left`.

        Args:
            rows: what efforts do in each block (w, B, (L + 1) n, c); positions are added to it.
            start: initial state of each window (2 n, c).
        """
        (w, k), n = self._steps.shape, self.joints
        state = np.zeros((w, 2 * n, rows.shape[-1])) + start
        begin = state[:, None, :n]
        for i in range(rows.shape[1]):
            if state.any():
                rows[:, i] += self._free[:, i] @ state
            state = rows[:, i, -2 * n :]
        steps = rows[:, :, :-n].reshape(w, -1, n, rows.shape[-1])[:, :k]
        return self._left(np.concatenate([begin, steps], axis=1))

    def _by_start(self) -> Array:
        """Return an orthonormal basis (w, (k + 1) n, 2 n) of what initial states explain."""
        rows = np.zeros((*self._free.shape[:3], 2 * self.joints))
        return np.linalg.qr(self._chained(rows, np.eye(2 * self.joints)))[0]

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
