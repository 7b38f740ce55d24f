"""Compute how additional efforts would change the positions within windows of a log.

The equations of motion are linearised about the recorded motion: M d'' + C d' + K d = e, where d is
the change of the positions (small), e the additional effort, and M, C and K are the derivatives of
the inverse dynamics by accelerations, rates and positions. They are integrated over each window by
steps from sample to sample. To save time the derivatives are evaluated at a few times of a window,
its nodes (nodes.py), and interpolated between; friction is evaluated at each sample. What efforts
do in a few steps is linear in them, and is computed once, as matrices (blocks.py).

windows.py builds on this class, and calls its methods with an underscore. The constants may be
tuned: they trade time for accuracy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array

from roboaccord_files.logs.blocks import Blocks
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.nodes import Nodes

# rad, rad/s or m, m/s; step of the difference quotients. Errors of 1e-5 by truncation, and of eps /
# PROBE = 2e-11 by round-off, are below windows.MODEL_ERROR.
PROBE = 1e-5
# kg m^2 or kg; added to the inertia of a joint that unknown forces hold at rest. Such a joint moves
# by 1e-9 of what 1 kg would.
HELD_INERTIA = 1e9


class Response:
    """The linearised equations along w windows of a log, each of k steps, for n joints.

    Args:
        body: the robot of the file.
        times: samples of each window, and the middles of its steps (w, 2 k + 1) [s].
        motion: smooth positions, rates and accelerations at these times (3, w, 2 k + 1, n).
        is_held: mask of joints that unknown forces hold in a window (w, n).
        nodes: number of nodes of a window.

    Attributes:
        joints: number of joints n.
        size: k, the steps of a window.
        q, qd, qdd: the motion at all times of all windows (w (2 k + 1), n).
        nodes: positions, rates and accelerations at the m nodes of each window (3, w m, n).
        scale: unit in which the positions of each joint are returned (n,) [rad or m].
    """

    def __init__(
        self, body: LogBody, times: Array, motion: Array, is_held: NDArray[np.bool_], nodes: int
    ) -> None:
        self.body, self._is_held = body, is_held
        self.joints = motion.shape[-1]
        self.q, self.qd, self.qdd = motion.reshape(3, -1, self.joints)
        self._steps = np.diff(times[:, ::2], axis=1)  # lengths of the steps (w, k) [s]
        self.size = self._steps.shape[1]
        self._nodes = Nodes.of(times, nodes)
        self.nodes = motion[:, :, self._nodes.index].reshape(3, -1, self.joints)
        self._blocks = self._linearise()
        self.scale = np.ones(self.joints)
        # An orthonormal basis of what is unknown in each window (w, (k + 1) n, b): its initial
        # state, and efforts that are left open; None until `_reset_basis`.
        self._basis: Array | None = None

    def _linearise(self) -> Blocks:
        """Return the matrices of blocks, from the derivatives of the equations along the motion."""
        body, (w, k), n = self.body, self._steps.shape, self.joints
        q, qd, qdd = self.nodes
        unit = np.eye(n)
        inverse = np.asarray(np.linalg.inv(self._masses()), float)
        # K and C by difference quotients, in the middle of each step.
        middle = np.arange(len(self.q)).reshape(w, -1)[:, 1::2].ravel()
        unchanged = body.efforts(q, qd, qdd)
        by_q = [body.efforts(q + PROBE * row, qd, qdd) - unchanged for row in unit]
        by_qd = [body.efforts(q, qd + PROBE * row, qdd) - unchanged for row in unit]
        stiffness = self._nodes.interpolated(np.stack(by_q, axis=-1))[middle] / PROBE
        damping = self._nodes.interpolated(np.stack(by_qd, axis=-1))[middle] / PROBE
        damping += np.diag(body.damping)
        # A in the middle of each step, of x' = A x + (0, M^-1 e) with the state x = (d, d').
        change = np.zeros((w, k, 2 * n, 2 * n))
        change[..., :n, n:] = unit
        by_state = np.concatenate([stiffness, damping], axis=-1)
        change[..., n:, :] = -(inverse[middle] @ by_state).reshape(w, k, n, 2 * n)
        return Blocks.of(self._steps, inverse.reshape(w, -1, n, n), change)

    def _masses(self) -> Array:
        """Return M at all times (w (2 k + 1), n, n), with HELD_INERTIA of joints that are held."""
        q, unit = self.nodes[0] - self.body.zero, np.eye(self.joints)
        still, zeros = np.zeros_like(q), np.zeros(self.joints)
        # Column by column: the efforts of unit accelerations, without gravity and springs.
        weightless = replace(self.body, gravity=np.zeros(3), offset=zeros, zero=zeros)
        springs = weightless.pull(q)
        columns = [weightless.efforts(q, still, still + row) - springs for row in unit]
        held = np.where(self._is_held, HELD_INERTIA, 0.0).repeat(2 * self.size + 1, axis=0)
        return self._nodes.interpolated(np.stack(columns, axis=-1)) + held[:, None, :] * unit

    def _moved_by(self, matrices: Array, efforts: Array) -> Array:
        """Return the positions due to efforts in blocks (w, B, times or steps, n, c), in `scale`.

        Args:
            matrices: of the blocks, for efforts of this kind.
            efforts: at the times, or in the steps, of each block.
        """
        rows = efforts.reshape(*matrices.shape[:2], -1, efforts.shape[-1])
        return self._chain_blocks(matrices @ rows)

    def _chain_blocks(self, changes: Array, start: Array | float = 0.0) -> Array:
        """Return the positions in windows, block by block (w, (k + 1) n, c), by `_projected`.

        Args:
            changes: what efforts do in each block (w, B, (L + 1) n, c): positions at the ends of
                its steps, and the rates at its end. What its initial state does is added in place.
            start: initial state of each window (2 n, c).
        """
        (w, k), n = self._steps.shape, self.joints
        state = np.zeros((w, 2 * n, changes.shape[-1])) + start
        begin = state[:, None, :n]
        for block in range(changes.shape[1]):
            if state.any():
                changes[:, block] += self._blocks.by_state[:, block] @ state
            state = changes[:, block, -2 * n :]  # the last positions, and the rates
        positions = changes[:, :, :-n].reshape(w, -1, n, changes.shape[-1])[:, :k]
        return self._projected(np.concatenate([begin, positions], axis=1))

    def _reset_basis(self) -> None:
        """Set the basis to what initial states explain, in the present scale."""
        self._basis = None
        no_changes = np.zeros((*self._blocks.by_state.shape[:3], 2 * self.joints))
        self._basis = np.linalg.qr(self._chain_blocks(no_changes, np.eye(2 * self.joints)))[0]

    def _projected(self, positions: Array) -> Array:
        """Return positions (w, k + 1, n, c) over `scale`, without what the basis spans.

        The result is (w, (k + 1) n, c).
        """
        w, c = len(positions), positions.shape[-1]
        rows = (positions / self.scale[:, None]).reshape(w, -1, c)
        if self._basis is not None:
            rows = rows - self._basis @ (self._basis.swapaxes(1, 2) @ rows)
        return np.asarray(rows)
