"""Compiled Kalman filters of the arm, healthy and with each failure, side by side.

All share one linearisation about the likeliest one. A loose joint is a healthy one without its
effort; a frozen one bears an unknown effort besides, and does not turn.

States are q, qd, the error of the payload and the relative ones of friction (22,).
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics.jit import kernel

LOOSE, FROZEN = 1, 2
DOUBLINGS = 4  # the exponential is that of a tick's 2^-4, to the fourth order, squared
BENT = 0.05  # part of a tick's change of rate by which the linearised arm may be off
LOCK = 3.0  # rad/s: what a lock may take of a joint's rate in a tick
CREEP = 1e-3  # rad/s: of a frozen joint
SLACK = 1e-4  # rad: by which a frozen joint may move in a tick beside


@kernel
def transition(inverse, stiffness, damping, qd, change, period):
    """Return what q and qd become over a period, by q and qd, efforts, and 1 (14, 22).

    Args:
        inverse: of the mass matrix (7, 7).
        stiffness, damping: change of the effort that the motion takes with q, qd (7, 7).
        qd, change: rates and accelerations (7,).
        period: [s].
    """
    n = len(qd)
    slope = np.zeros((2 * n, 3 * n + 1))
    slope[:n, n : 2 * n] = np.eye(n)
    slope[:n, -1], slope[n:, -1] = qd, change
    slope[n:, :n] = -inverse @ stiffness
    slope[n:, n : 2 * n] = -inverse @ damping
    slope[n:, 2 * n : -1] = inverse
    small = period / 2**DOUBLINGS
    square = np.ascontiguousarray(slope[:, : 2 * n])
    term = slope * small
    total = term.copy()
    for k in range(2, 5):
        term = square @ term * (small / k)
        total += term
    for _ in range(DOUBLINGS):  # total is the transition less the identity
        total = 2.0 * total + np.ascontiguousarray(total[:, : 2 * n]) @ total
    total[:, : 2 * n] += np.eye(2 * n)
    return total


@kernel
def correct(state, spread, which, seen, variance):
    """Update a filter by one measurement of a state; return the error squared and its variance."""
    n = len(state)
    total = spread[which, which] + variance
    gain = np.empty(n)
    for i in range(n):
        gain[i] = spread[i, which] / total
    error = seen - state[which]
    for i in range(n):
        state[i] += gain[i] * error
        for j in range(n):
            spread[i, j] -= gain[i] * gain[j] * total
    return error * error, total


@kernel
def advance(
    motion, pushed, change, lead, faults, effort, forces, jolts, drift, seen, variances,
    states, spreads, fits,
):  # fmt: skip
    """Predict each filter over a tick and correct it by what is seen.

    Args:
        motion, pushed, change: q and qd after the tick, by the states of a filter (14, 22) and by
            efforts (14, 7), and their change from there under the filter's efforts (14,).
        lead: that filter.
        faults: kind of each joint's failure, 0 for none, by filter (k, 7).
        effort: commanded (7,) [N m].
        forces: covariance of unknown efforts (7, 7) [(N m)^2].
        jolts: variances that impacts within the tick add to q and qd (14,).
        drift: variance that the errors gain in a tick (8,).
        seen: q and qd as measured (14,).
        variances: of q and qd as measured (2,).
        states, spreads: of the filters (k, 22), (k, 22, 22), updated.
        fits: filled with chi^2 and the logarithm of its normalisation (k, 2).
    """
    n = len(effort)
    centre = states[lead].copy()
    unknown = pushed @ forces @ pushed.T + np.diag(jolts)
    for f in range(len(states)):
        state, spread = states[f], spreads[f]
        ahead = centre[: 2 * n] + change + motion @ (state - centre)
        rows = motion @ spread
        block = rows @ motion.T + unknown
        for j in range(n):
            less = int(faults[f, j] == LOOSE) - int(faults[lead, j] == LOOSE)
            ahead -= less * effort[j] * pushed[:, j]
        for j in range(n):
            bent = BENT * (ahead[n + j] - state[n + j])
            block[n + j, n + j] += bent**2
            block[j, j] += (bent * motion[j, n + j]) ** 2
        for j in range(n):
            if faults[f, j] == FROZEN:
                block += np.outer(pushed[:, j], pushed[:, j]) * (LOCK / pushed[n + j, j]) ** 2
                block[j, j] += (motion[j, n + j] * state[n + j]) ** 2 + SLACK**2
                for i in range(2 * n):  # it comes at once, not all over the tick
                    block[i, i] += (0.5 * state[n + j] * pushed[i, j] / pushed[n + j, j]) ** 2
        state[: 2 * n] = ahead
        spread[: 2 * n, : 2 * n] = 0.5 * (block + block.T)  # rounding would grow
        spread[: 2 * n, 2 * n :] = rows[:, 2 * n :]
        spread[2 * n :, : 2 * n] = rows[:, 2 * n :].T
        spread[2 * n :, 2 * n :] += np.diag(drift)
        for j in range(n):
            if faults[f, j] == FROZEN:
                correct(state, spread, n + j, 0.0, CREEP**2)
        fits[f] = 0.0
        for i in range(2 * n):
            error, total = correct(state, spread, i, seen[i], variances[i // n])
            fits[f, 0] += error / total
            fits[f, 1] += np.log(total)
