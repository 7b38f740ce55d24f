"""Blocks: matrices of what the efforts in a few steps of a window do to the positions.

A window is a run of k steps between samples of a log. Its equations are linear: with the state
x = (d, d') of n joints, d the change of the positions, and additional efforts e they are

    x' = A x + (0, M^-1 e)

(response.py, which gives M^-1 and A, and uses the matrices). So what the state at the start of some
steps and the efforts in these steps do is a matrix each, which is computed once and used for many
efforts: `_step_effects` returns those of single steps, and `Blocks` those of L steps in a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array

# Largest number of steps times joints of a block. Longer blocks are fewer calls of numpy, but their
# matrices grow with the square. Chosen for time alone: with 28 and with 112 checks of two logs
# take as long, within 5 %, but that of a floating base is 20 % faster with 112.
MAX_BLOCK = 56


class Blocks(NamedTuple):
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

        Args:
            lengths: of the steps (w, k) [s].
            inverse: M^-1 at the ends and middles of steps (w, 2 k + 1, n, n).
            change: A in the middle of each step (w, k, 2 n, 2 n).
        """
        k, n = lengths.shape[1], inverse.shape[-1]
        # B blocks of L steps, as equal as possible; steps after the last are copies of length 0.
        count = -(-k // max(MAX_BLOCK // n, 1))
        size = -(-k // count)
        number = np.arange(count * size).reshape(count, size)
        steps = np.minimum(number, k - 1)
        times = np.minimum(2 * number[:, :1] + np.arange(2 * size + 1), 2 * k)
        h = np.where(number < k, lengths[:, steps], 0.0)[..., None, None]
        at_times = [inverse[:, 2 * steps + i] for i in range(3)]
        return cls(steps, times, *_chained(*_step_effects(h, change[:, steps], *at_times)))


def _step_effects(
    h: Array, change: Array, start: Array, middle: Array, end: Array
) -> tuple[Array, Array, Array]:
    """Return what adds to the state at the end of each step, by the implicit midpoint rule.

    A step of length h from x0 to x1 is x1 = x0 + h A (x0 + x1) / 2 + f, hence

        x1 = S ((I + h A / 2) x0 + f)    with S = (I - h A / 2)^-1.

    f is what the accelerations M^-1 e add: a0, a1 and a2 at start, middle and end, with a
    parabola through them. By Simpson's rule, exact for it, the rates change by the integral of
    a dt, v = h (a0 + 4 a1 + a2) / 6, and the positions by that of (h - t) a dt, which is
    p = h^2 (a0 + 2 a1) / 6. As h A / 2 moves the positions by h v / 2 already, f is

        (p - h v / 2, v) = (h^2 (a0 - a2) / 12, h (a0 + 4 a1 + a2) / 6).

    An impulse changes the rates by h a0 at the start of the step.

    Args:
        h: length of each step (w, B, L, 1, 1) [s].
        change: A in each step (w, B, L, 2 n, 2 n).
        start, middle, end: M^-1 at these times of each step (w, B, L, n, n).

    Returns:
        The effects of the state at the start of the step (w, B, L, 2 n, 2 n), of the efforts at its
        start, middle and end (w, B, L, 2 n, 3, n), and of impulses (w, B, L, 2 n, n).
    """
    n = start.shape[-1]
    half = 0.5 * h * change
    solve = np.linalg.inv(np.eye(2 * n) - half)
    state = solve @ (np.eye(2 * n) + half)
    efforts = [
        solve @ np.concatenate([h**2 / 12.0 * start, h / 6.0 * start], axis=-2),
        solve[..., n:] @ (h * 4.0 / 6.0 * middle),
        solve @ np.concatenate([-(h**2) / 12.0 * end, h / 6.0 * end], axis=-2),
    ]
    return state, np.stack(efforts, axis=-2), (state[..., n:] * h) @ start


def _chained(by_state: Array, by_efforts: Array, by_impulse: Array) -> list[Array]:
    """Return the last four fields of `Blocks`: effects of each step, carried to the next ones.

    Columns stand for what acts, n for each of: initial positions and rates (2), smooth efforts at
    the times (2 L + 1), held efforts in the steps (L), and impulses at the steps' starts (L).

    Args:
        by_state, by_efforts, by_impulse: of the steps, as `_step_effects` returns them.
    """
    w, count, size, _, n = by_impulse.shape
    columns = np.array([2, 2 * size + 1, size, size])
    states = np.zeros((w, count, 2 * n, columns.sum() * n))
    states[..., : 2 * n] = np.eye(2 * n)
    # Views of `states` (w, B, 2 n, number, n), by which its columns are changed.
    bounds = columns.cumsum()[:-1]
    _, smooth, held, impulses = np.split(states.reshape(w, count, 2 * n, -1, n), bounds, axis=-2)
    rows = np.empty((w, count, size + 1, n, states.shape[-1]))
    for i in range(size):
        states[:] = by_state[:, :, i] @ states
        # The end of a step is also the start of the next, so effects add up there.
        smooth[..., 2 * i : 2 * i + 3, :] += by_efforts[:, :, i]
        held[..., i, :] += by_efforts[:, :, i].sum(axis=-2)
        impulses[..., i, :] += by_impulse[:, :, i]
        rows[:, :, i] = states[..., :n, :]
    rows[:, :, size] = states[..., n:, :]
    matrices = np.split(rows.reshape(w, count, -1, rows.shape[-1]), bounds * n, axis=-1)
    return [np.ascontiguousarray(matrix) for matrix in matrices]
