"""Compiled Kalman filters of the arm, each of which assumes other joints to have failed.

The detector (detector.py) finds failed joints of the Packbot's arm, from measured joint states and
commanded efforts. The state of a filter is the joint rates qd (7,) and the unknowns x (m,) of the
arm, such as errors of masses and friction (effort_unknowns.py). In each tick (control period) a
filter predicts

    qd+ = keep qd + free (modelled + motor + effects x)

by the balance of efforts (balance.py), and then corrects its state by the measured rates, one joint
after the other [Kalman 1960]. The filters differ only in the kinds that they assume of the joints:
the motor of a loose joint gives no effort; a frozen joint bears an unknown effort of its lock, and
its rate is taken to be measured as 0.

LOCK_RATE and CREEP_RATE may be tuned; run `make detection` and test_detector again afterwards.
"""

from __future__ import annotations

import numpy as np
from packbot.model.parameters import JOINTS
from roboaccord.numerics import kernel

N = len(JOINTS)
HEALTHY, LOOSE, FROZEN = range(3)  # kinds of a joint, by number
# rad/s; standard deviation of the change of a rate that a lock may cause in a tick: several times
# the speed limits, 0.5 to 0.8 rad/s.
LOCK_RATE = 3.0
# rad/s; standard deviation of the rate of a frozen joint, below measurement noise: a joint that
# turns by less is frozen.
CREEP_RATE = 1e-3
LOG_NORMALISATION = 0  # first column of `fits`; the normalised errors of the rates follow


@kernel
def advance(faults, tick, of_drives, disturbances, measured, filters):
    """Predict each filter over a tick and correct it by the measured rates.

    Args:
        faults: kind of each joint in each filter (k, 7).
        tick: terms of the balance, as `balance.Tick`.
        of_drives: 1 for unknowns of the drives, which do not act on a loose joint, else 0 (m,).
        disturbances: covariance of efforts that are independent from tick to tick (7, 7)
            [(N m)^2], and variances of the rates by impacts within the tick (7,) [(rad/s)^2].
        measured: rates (7,) [rad/s], and the variance of the noise of each [(rad/s)^2].
        filters: states, rates before unknowns (k, 7 + m), and covariances of the states
            (k, 7 + m, 7 + m), both updated; and fits (k, 1 + 7), filled with the sum of the
            logarithms of the predicted variances, and with the error of each rate over its
            predicted standard deviation.
    """
    rates, variance = measured
    states, spreads, fits = filters
    for f in range(len(states)):
        _predict(faults[f], tick, of_drives, disturbances, states[f], spreads[f])
        fits[f] = 0.0
        # A frozen joint has the rate 0. This is a correction, but no evidence.
        for j in range(N):
            if faults[f, j] == FROZEN:
                _correct(states[f], spreads[f], j, 0.0, CREEP_RATE**2)
        for j in range(N):
            error, total = _correct(states[f], spreads[f], j, rates[j], variance)
            fits[f, LOG_NORMALISATION] += np.log(total)
            fits[f, 1 + j] = error / np.sqrt(total)


@kernel
def _predict(kinds, tick, of_drives, disturbances, state, spread):
    """Predict one filter's state (7 + m,) and covariance (7 + m, 7 + m) over a tick, in place.

    `kinds` are those of its joints (7,); the other arguments are those of `advance`.
    """
    free, effects, fade = tick.free, tick.effects, tick.fade
    independent, jolts = disturbances
    n, m = effects.shape
    # Efforts, and effects of the unknowns, without those of the motors of loose joints.
    slope = np.zeros((n, n + m))  # derivative of the rates at the end by the state
    scaled = np.empty((n, m))
    effort = tick.modelled.copy()
    for j in range(n):
        is_loose = kinds[j] == LOOSE
        effort[j] += 0.0 if is_loose else tick.motor[j]
        for i in range(m):
            scaled[j, i] = 0.0 if is_loose and of_drives[i] > 0.0 else effects[j, i]
    # Predicted rates, and their covariance with the state and with each other.
    slope[:, :n] = tick.keep
    slope[:, n:] = free @ scaled
    predicted = slope @ state + free @ effort
    rows = slope @ spread
    block = rows @ slope.T + free @ independent @ free.T
    for j in range(n):
        block[j, j] += jolts[j]
        if kinds[j] == FROZEN:  # the effort of its lock may be anything
            lock = LOCK_RATE / free[j, j]
            for a in range(n):
                for b in range(n):
                    block[a, b] += lock * lock * free[a, j] * free[b, j]
    # Rates: the prediction, with a symmetric covariance.
    for a in range(n):
        state[a] = predicted[a]
        for b in range(n):
            spread[a, b] = 0.5 * (block[a, b] + block[b, a])
        for i in range(m):
            spread[a, n + i] = spread[n + i, a] = rows[a, n + i] * fade[i]
    # Unknowns: they fade and drift.
    for i in range(m):
        state[n + i] *= fade[i]
        for k in range(m):
            spread[n + i, n + k] *= fade[i] * fade[k]
        spread[n + i, n + i] += tick.drift[i]


@kernel
def _correct(state, spread, j, measured, variance):
    """Correct a state and its covariance, in place, by a measurement of the rate of joint j.

    Args:
        state, spread: state (7 + m,) and covariance (7 + m, 7 + m) of a filter.
        j: index of the joint.
        measured, variance: measured rate [rad/s], and the variance of its noise [(rad/s)^2].

    Returns:
        the error of the prediction [rad/s], and its predicted variance [(rad/s)^2].
    """
    size = len(state)
    error = measured - state[j]
    total = spread[j, j] + variance
    gain = np.empty(size)
    for i in range(size):
        gain[i] = spread[j, i] / total
    for i in range(size):
        state[i] += gain[i] * error
        covariance = gain[i] * total  # of this number of the state and the rate
        for k in range(size):
            spread[i, k] -= covariance * gain[k]
    return error, total
