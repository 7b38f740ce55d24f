"""Blocks: matrices of what the efforts in a few steps of a window do to the positions.

The equations of a window are linear: with the state x = (d, d') of n joints, d the change of the
positions, and additional efforts e they are x' = A x + (0, M^-1 e) (response.py). So what the state
at the start of some steps and the efforts in these steps do is a matrix each, which is computed
once and used for many efforts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array

MAX_BLOCK = 56  # steps times joints of a block at most: its matrices grow with the square of both


@dataclass(frozen=True)
class Blocks:
    """The matrices of the blocks of w windows: B blocks of L steps each, for n joints.

    A matrix (w, B, (L + 1) n, ...) returns the positions at the end of each step, and the rates at
    the end of the last. Steps beyond the end of a window have the length 0.

    Args:
        steps: numbers of the steps of each block (B, L).
        times: numbers of the times of each block: ends of steps and their middles (B, 2 L + 1).
        by_state: effect of the state at the start (..., 2 n).
        by_smooth: effect of efforts at these times, which change smoothly (..., (2 L + 1) n).
        by_held: effect of efforts that are held over each step (..., L n).
        by_impulses: effect of efforts that act as impulses at the starts of steps (..., L n).
    """

    steps: NDArray[np.intp]
    times: NDArray[np.intp]
    by_state: Array
    by_smooth: Array
    by_held: Array
    by_impulses: Array

    @classmethod
    def of(cls, lengths: Array, inverse: Array, change: Array) -> Blocks:
        """Return the blocks of windows of k steps.

        A step of h by the implicit midpoint rule is x1 = S ((I + h A / 2) x0 + forces) with
        S = (I - h A / 2)^-1: `solve` is S, and `step` its product with I + h A / 2. Efforts that
        change smoothly are integrated by Simpson's rule.

        Args:
            lengths: of the steps (w, k) [s].
            inverse: M^-1 at the ends and middles of steps (w, 2 k + 1, n, n).
            change: A in the middle of each step (w, k, 2 n, 2 n).
        """
        (w, k), n = lengths.shape, inverse.shape[-1]
        count = -(-k // max(MAX_BLOCK // n, 1))
        size = -(-k // count)
        number = np.arange(count * size).reshape(count, size)
        steps = np.minimum(number, k - 1)
        times = np.minimum(2 * number[:, :1] + np.arange(2 * size + 1), 2 * k)
        h = np.where(number < k, lengths[:, steps], 0.0)[..., None, None]
        half = 0.5 * h * change[:, steps]
        solve = np.linalg.inv(np.eye(2 * n) - half)
        step = solve @ (np.eye(2 * n) + half)
        # What the efforts add to the state in each step, at its start, middle and end.
        first, middle, last = (inverse[:, 2 * steps + i] for i in range(3))
        starts = solve @ np.concatenate([h**2 / 12.0 * first, h / 6.0 * first], axis=-2)
        middles = solve[..., n:] @ (h * 4.0 / 6.0 * middle)
        ends = solve @ np.concatenate([-(h**2) / 12.0 * last, h / 6.0 * last], axis=-2)
        impulses = (step[..., n:] * h) @ first
        # The states, step by step, with columns for the initial state and each kind of efforts.
        # Numbers of the first column of each kind.
        smooth, held = 2 * n, 2 * n + (2 * size + 1) * n
        impulsive = held + size * n
        states = np.zeros((w, count, 2 * n, impulsive + size * n))
        states[..., : 2 * n] = np.eye(2 * n)
        rows = np.empty((w, count, (size + 1) * n, states.shape[-1]))
        for i in range(size):
            states = step[:, :, i] @ states
            # An effort at the end of a step is also that at the start of the next.
            added = starts[:, :, i], middles[:, :, i], ends[:, :, i]
            states[..., smooth + 2 * i * n : smooth + (2 * i + 3) * n] += np.concatenate(added, -1)
            states[..., held + i * n : held + (i + 1) * n] += sum(added)
            states[..., impulsive + i * n : impulsive + (i + 1) * n] += impulses[:, :, i]
            rows[..., i * n : (i + 1) * n, :] = states[..., :n, :]
        rows[..., size * n :, :] = states[..., n:, :]
        kinds = np.split(rows, [smooth, held, impulsive], axis=-1)
        by_state, by_smooth, by_held, by_impulses = (np.ascontiguousarray(kind) for kind in kinds)
        return cls(steps, times, by_state, by_smooth, by_held, by_impulses)
