"""Ensembles of gaits, eight side by side in the lanes of vectors, by Taylor series.

test_ensemble compares every motion with hybrid.run_many to 1e-8. A new event needs its factors in
`_set_event`; an effect that is not in the equations (series.py), such as friction, must be excluded
in `has_series` (gaits/gait.py).

An event is a linear function of the state here, so it is a polynomial in time, whose root needs no
further step. A lane takes the next start when its motion ends. Friction, flight and links of two
lengths are left to `hybrid.run_many`.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import kernel

from monkeybot.model.dynamics import energies, impact
from monkeybot.model.events import ENERGY, LEVEL, LINEAR, event_of
from monkeybot.model.hybrid import NOTHING, change_frame
from monkeybot.model.integrator import EVENT, MAX_STEPS, STOP, TIME
from monkeybot.model.series import (
    CONSTANTS,
    COUNT,
    END,
    G1,
    G2,
    HALT,
    LEFT,
    MA,
    MB,
    MC,
    ORDER,
    SEEN,
    SERIES,
    SIZE,
    STEP_ROWS,
    TORQUE,
    WATCH,
    A,
    B,
    P,
    Q,
    take_step,
)
from monkeybot.model.simd import WIDTH


@kernel
def _polynomial(g, slope, t):
    """Return a polynomial's value, or its derivative's, at t."""
    total = 0.0
    for k in range(ORDER, 0, -1):
        total = total * t + (k * g[k] if slope else g[k])
    return total if slope else total * t + g[0]


@kernel
def _sign_change(g, slope, low, high):
    """Return where a polynomial, or its derivative, changes sign: bisection with secants."""
    g_low, g_high = _polynomial(g, slope, low), _polynomial(g, slope, high)
    at, side = high, 0
    for _ in range(60):
        at = (low * g_high - high * g_low) / (g_high - g_low)
        now = _polynomial(g, slope, at)
        if now == 0.0 or abs(now) < 1e-16 * (abs(g_low) + abs(g_high)) or high - low < 1e-16:
            break
        if (now > 0.0) == (g_high > 0.0):
            high, g_high = at, now
            if side == 1:
                g_low *= 0.5
            side = 1
        else:
            low, g_low = at, now
            if side == -1:
                g_high *= 0.5
            side = -1
    return at


@kernel
def _rise(x, m, e, event, row, lane, g):
    """Return when an event rises through 0 in a step of a lane; infinity if it does not.

    One that has the same sign at both ends may rise between them, before a peak or after a trough.
    """
    before, after, d0, d1 = e[row, lane], e[row + 1, lane], e[row + 2, lane], e[row + 3, lane]
    crosses = before < 0.0 <= after
    peaks = before < 0.0 and after < 0.0 and d0 > 0.0 and d1 < 0.0
    dips = before >= 0.0 and after >= 0.0 and d0 < 0.0 and d1 > 0.0
    if not (crosses or peaks or dips):
        return math.inf
    for k in range(COUNT):
        g[k] = m[event, lane] * x[A + k, lane] + m[event + 1, lane] * x[B + k, lane]
        g[k] += m[event + 2, lane] * x[P + k, lane] + m[event + 3, lane] * x[Q + k, lane]
    g[0] += m[event + 4, lane]
    low, high = 0.0, e[SIZE, lane]
    if not crosses:
        turn = _sign_change(g, True, low, high)
        if (_polynomial(g, False, turn) < 0.0) == peaks:
            return math.inf
        low, high = (low, turn) if peaks else (turn, high)
    return _sign_change(g, False, low, high)


@kernel
def _set_event(m, row, lane, event, base, energy, torque, th2):
    """Fill a lane's factors of an event; `energy` and `th2` are those of the phase's start."""
    e1 = e2 = e3 = e4 = 0.0
    constant = -1.0
    if event[0] == LINEAR:
        e1, e2, e3, e4, constant = event[1], event[2], event[3], event[4], -event[5]
    elif event[0] == LEVEL:
        e1, e2, constant = 1.0, 0.5, -0.5 * math.pi - event[5]
    elif event[0] == ENERGY:
        # Without friction the motor alone does work: torque on th2.
        e2, constant = torque, energy - base - torque * th2 - event[5]
    m[row, lane], m[row + 1, lane] = e1 - e2, e2
    m[row + 2, lane], m[row + 3, lane], m[row + 4, lane] = e3 - e4, e4, constant


@kernel
def _begin(p, u, phase, stop, base, lane, x, m):
    """Put a lane at the start of a phase in the state u (8,)."""
    first = p.m1 * p.r1 + p.m2 * p.l1
    m[MA, lane] = p.i1 + p.m1 * p.r1 * p.r1 + p.m2 * p.l1 * p.l1
    m[MB, lane] = p.i2 + p.m2 * p.r2 * p.r2
    m[MC, lane] = p.m2 * p.l1 * p.r2
    m[G1, lane], m[G2, lane] = p.gravity * first, p.gravity * p.m2 * p.r2
    m[TORQUE, lane], m[LEFT, lane] = phase[0], phase[1]
    kinetic, potential = energies(p, u)
    energy = kinetic + potential
    halt = stop if phase[4] != 0.0 else (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    _set_event(m, WATCH, lane, event_of(phase), base, energy, phase[0], u[1])
    _set_event(m, HALT, lane, halt, base, energy, phase[0], u[1])
    x[A, lane], x[B, lane] = u[0], u[0] + u[1]
    x[P, lane], x[Q, lane] = u[2], u[2] + u[3]


@kernel
def _state_at(x, lane, t, u):
    """Fill the angles and rates of u with a lane's state at a time in its step."""
    a = b = p = q = 0.0
    for k in range(ORDER, -1, -1):
        a, b = a * t + x[A + k, lane], b * t + x[B + k, lane]
        p, q = p * t + x[P + k, lane], q * t + x[Q + k, lane]
    u[0], u[1], u[2], u[3] = a, b - a, p, q - p


@kernel
def _rows(count):
    """Return rows of lanes, on a boundary of 64 bytes, at which vectors are loaded fastest."""
    space = np.zeros(count * WIDTH + 7)
    first = (-(space.ctypes.data // 8)) % 8
    return space[first : first + count * WIDTH].reshape(count, WIDTH)


@kernel
def run_ensemble(both, starts, hands, phases, stop, tolerance, times, finals, counts):
    """Run phases from many starts, as `hybrid.run` does from one.

    Takes neither friction nor flight, and events of level for links of one length alone.

    Args:
        both, stop, tolerance: as in `run`.
        starts: states (k, 8) in the frame of the hand that holds.
        hands: which that is, 0 or 1 (k,); filled with the one at the end.
        phases: of each start (k, n, 11), or of all (1, n, 11).
        times: filled with the duration of every phase (k, n) [s].
        finals: filled with the states at the end (k, 8); NaN for a motion that missed an event.
        counts: filled with what `run` returns (k,).
    """
    x, m, e = _rows(SERIES * COUNT), _rows(CONSTANTS), _rows(STEP_ROWS)
    u, scratch, g = np.empty((WIDTH, 8)), np.empty(8), np.empty(COUNT)
    base, t = np.zeros(WIDTH), np.zeros(WIDTH)
    start, hand = np.full(WIDTH, -1), np.zeros(WIDTH, np.int64)
    at, steps = np.zeros(WIDTH, np.int64), np.zeros(WIDTH, np.int64)
    n, following, running = phases.shape[1], 0, 0
    phases_differ = 1 if len(phases) > 1 else 0
    m[MA], m[MB] = 1.0, 1.0  # of lanes that have nothing to do
    while True:
        for lane in range(WIDTH):
            # Where a motion has ended, take the next one, and where a phase has, go into it.
            while start[lane] < 0 and following < starts.shape[0]:
                start[lane] = following
                following += 1
                running += 1
                hand[lane], at[lane] = hands[start[lane]], 0
                u[lane] = starts[start[lane]]
                times[start[lane]] = 0.0
                kinetic, potential = energies(both[hand[lane]], u[lane])
                base[lane], t[lane], steps[lane] = kinetic + potential, -1.0, 0
        if running == 0:
            return
        for lane in range(WIDTH):
            if start[lane] >= 0 and t[lane] < 0.0:
                phase = phases[phases_differ * start[lane], at[lane]]
                _begin(both[hand[lane]], u[lane], phase, stop, base[lane], lane, x, m)
                t[lane] = 0.0
        take_step(x, m, x.shape[0] // SERIES - 1, tolerance, e)
        for lane in range(WIDTH):
            if start[lane] < 0:
                continue
            i, s, h = at[lane], start[lane], e[SIZE, lane]
            last = h >= m[LEFT, lane]
            duration, reason = h, TIME if last else -2
            phase = phases[phases_differ * s, i]
            if phase[5] == ENERGY and t[lane] == 0.0 and e[SEEN, lane] >= 0.0:
                duration, reason = 0.0, EVENT
            else:
                rise = _rise(x, m, e, WATCH, SEEN, lane, g)
                if rise <= h:
                    duration, reason = rise, EVENT
                rise = _rise(x, m, e, HALT, SEEN + 4, lane, g)
                if rise < duration or (rise <= duration and reason != EVENT):
                    duration, reason = rise, STOP
            t[lane] += duration
            steps[lane] += 1
            missed = reason == TIME and phase[2] == 0.0
            if missed or not (last or h > 1e-13) or steps[lane] > MAX_STEPS:
                counts[s], start[lane] = -1, -1
                running -= 1
                finals[s] = np.nan
                times[s] = np.nan
            elif reason == -2:
                for row in range(4):
                    x[A + row * COUNT, lane] = e[END + row, lane]
                m[LEFT, lane] = phase[1] - t[lane]
            else:
                _state_at(x, lane, duration, u[lane])
                times[s, i], t[lane] = t[lane], -1.0
                at[lane] = i + 1
                if reason != STOP and phase[3] != NOTHING:
                    hand[lane] = change_frame(both, u[lane], hand[lane], scratch)
                    impact(both[hand[lane]], u[lane])
                if reason == STOP or i + 1 == n:
                    finals[s], counts[s], start[lane] = u[lane], i + 1, -1
                    hands[s] = hand[lane]
                    running -= 1
