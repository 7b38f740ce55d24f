"""Kalman filters of the arm, healthy and with each failure, side by side.

Each filter estimates a state of the joints' rates qd (7,) and of the unknowns x (m,) of the arm
(effort_unknowns.py). Over a tick it predicts them by the balance of efforts (balance.py),

    qd+ = keep qd + free (modelled + motor + effects x),

and then corrects them by the measured rates, one after the other [Kalman 1960]. A loose joint is a
healthy one without the effort of its motor. A frozen joint bears an unknown effort besides, and its
rate is measured to be 0. The filters differ in nothing else.

The numbers HEALTHY, LOOSE and FROZEN are in compiled code and stay. LOCK and CREEP may be tuned;
then run `make detection` again. test_detector checks what is found and what is not.
"""

from __future__ import annotations

import numpy as np
from packbot.model.parameters import JOINTS
from roboaccord.numerics import kernel

N = len(JOINTS)
HEALTHY, LOOSE, FROZEN = range(3)  # kinds of a joint, by number
LOCK = 3.0  # rad/s: standard deviation of what a lock takes of a joint's rate in a tick
CREEP = 1e-3  # rad/s: standard deviation of the rate of a frozen joint, below measured noise
LOG_NORMALISATION = 0  # column of `fits`; the errors of the rates follow it


@kernel
def advance(
    faults, keep, free, modelled, motor, effects, driven, unknown, jolts, fade, drift, rates,
    variance, states, spreads, fits,
):  # fmt: skip
    """Predict each filter over a tick and correct it by the measured rates.

    Args:
        faults: kind of each joint by filter (k, 7).
        keep, free: change of the rates by those before (7, 7), and by efforts (7, 7).
        modelled, motor: efforts of the model, and commanded ones (7,) [N m].
        effects: efforts by the unknowns (7, m).
        driven: 1 for unknowns of the drives, which a loose joint does not have (m,).
        unknown: covariance of efforts that are new in this tick (7, 7) [(N m)^2].
        jolts: variances of the rates by impacts within the tick (7,) [(rad/s)^2].
        fade, drift: of the unknowns in a tick: factor, and variance gained (m,).
        rates, variance: measured rates (7,) [rad/s], and the variance of each.
        states: of the filters, rates before unknowns (k, 7 + m); updated.
        spreads: their covariances (k, 7 + m, 7 + m); updated.
        fits: filled with the logarithm of the normalisation, and the error of each rate over its
            standard deviation (k, 1 + 7).
    """
    for f in range(len(states)):
        _predict(
            faults[f], keep, free, modelled, motor, effects, driven, unknown, jolts, fade, drift,
            states[f], spreads[f],
        )  # fmt: skip
        fits[f] = 0.0
        for j in range(N):
            if faults[f, j] == FROZEN:
                _correct(states[f], spreads[f], j, 0.0, CREEP**2)
        for j in range(N):
            error, total = _correct(states[f], spreads[f], j, rates[j], variance)
            fits[f, LOG_NORMALISATION] += np.log(total)
            fits[f, 1 + j] = error / np.sqrt(total)


@kernel
def _predict(
    kinds, keep, free, modelled, motor, effects, driven, unknown, jolts, fade, drift, state, spread
):  # fmt: skip
    """Predict one filter's state (7 + m,) and covariance (7 + m, 7 + m) over a tick, in place.

    `kinds` are those of its joints (7,); the other arguments are those of `advance`.
    """
    n, m = effects.shape
    slope = np.zeros((n, n + m))  # of the rates at the end, by the state
    scaled = np.empty((n, m))
    effort = modelled.copy()
    for j in range(n):
        loose = kinds[j] == LOOSE
        effort[j] += 0.0 if loose else motor[j]
        for i in range(m):
            scaled[j, i] = 0.0 if loose and driven[i] > 0.0 else effects[j, i]
    slope[:, :n] = keep
    slope[:, n:] = free @ scaled
    ahead = slope @ state + free @ effort
    rows = slope @ spread
    block = rows @ slope.T + free @ unknown @ free.T  # covariance of the rates
    for j in range(n):
        block[j, j] += jolts[j]
        if kinds[j] == FROZEN:  # the effort of its lock may be anything
            lock = LOCK / free[j, j]
            for a in range(n):
                for b in range(n):
                    block[a, b] += lock * lock * free[a, j] * free[b, j]
    for a in range(n):
        state[a] = ahead[a]
        for b in range(n):
            spread[a, b] = 0.5 * (block[a, b] + block[b, a])
        for i in range(m):
            spread[a, n + i] = spread[n + i, a] = rows[a, n + i] * fade[i]
    for i in range(m):
        state[n + i] *= fade[i]
        for k in range(m):
            spread[n + i, n + k] *= fade[i] * fade[k]
        spread[n + i, n + i] += drift[i]


@kernel
def _correct(state, spread, j, measured, variance):
    """Correct a state and its covariance, in place, by a measurement of the rate of joint j.

    Returns:
        the error of the prediction [rad/s], and its variance by the filter [(rad/s)^2].
    """
    size = len(state)
    error = measured - state[j]
    total = spread[j, j] + variance
    gain = np.empty(size)
    for i in range(size):
        gain[i] = spread[j, i] / total
    for i in range(size):
        state[i] += gain[i] * error
        by = gain[i] * total
        for k in range(size):
            spread[i, k] -= by * gain[k]
    return error, total
