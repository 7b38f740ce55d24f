"""Ensembles of gaits, eight side by side in the lanes of vectors, by Taylor series.

The equations are fixed: test_ensemble compares every motion with hybrid.run_many to 1e-8. ORDER and
SAFETY, accuracy against speed, may be tuned within that. A new event needs its factors in
`_set_event`; an effect that is not in these equations, such as friction, must be excluded in
`has_series` (gaits/gait.py).

The swing is written in the angles a, b of both links from hanging straight down, with rates p, q:

    [A, C cos(a-b); C cos(a-b), B] (p', q') = (f1, f2)
    f1 = -C sin(a-b) q^2 - G1 sin a - torque      f2 = C sin(a-b) p^2 - G2 sin b + torque

Every term is a product of series, so each coefficient of the solution follows from the lower ones
(Jorba and Zou, Experimental Mathematics 14, 2005). An event is a linear function of the state here,
so it is a polynomial in time, whose root needs no further step. A lane takes the next start when
its motion ends. Friction, flight and links of two lengths are left to `hybrid.run_many`.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import kernel

from monkeybot.model.dynamics import energies, impact
from monkeybot.model.events import ENERGY, LEVEL, LINEAR, event_of
from monkeybot.model.hybrid import NOTHING, change_frame
from monkeybot.model.integrator import EVENT, MAX_STEPS, STOP, TIME
from monkeybot.model.simd import WIDTH, fma, larger, load, root, sine_cosine, size, smaller, store

ORDER = 16  # of the series; its 16th root is four square roots
SAFETY = 0.85
COUNT = ORDER + 1
SERIES = 17
# First rows of the series: angles, rates, sines and cosines of a, b and a - b, squares of the
# rates, right-hand sides, determinant, accelerations.
A, B, P, Q, SA, CA, SB, CB, S, C, PP, QQ, F1, F2, D, X, Y = range(0, SERIES * COUNT, COUNT)
# Rows of a lane's constants; an event has four factors of the state and a constant.
MA, MB, MC, G1, G2, TORQUE, LEFT, WATCH, HALT = 0, 1, 2, 3, 4, 5, 6, 7, 12
CONSTANTS = 17
# Rows of a step: its end, its size, and value and rate of both events at both ends.
END, SIZE, SEEN, STEP_ROWS = 0, 4, 5, 13


@kernel
def _zero_order(x, m):
    """Fill the constant terms of the series from those of angles and rates; return 1 / det."""
    p, q = load(x, P), load(x, Q)
    sa, ca = sine_cosine(load(x, A))
    sb, cb = sine_cosine(load(x, B))
    s, c = sa * cb - ca * sb, ca * cb + sa * sb
    mc, pp, qq = load(m, MC), p * p, q * q
    f1 = -(mc * s * qq) - load(m, G1) * sa - load(m, TORQUE)
    f2 = mc * s * pp - load(m, G2) * sb + load(m, TORQUE)
    ma, mb, couple = load(m, MA), load(m, MB), mc * c
    inverse = 1.0 / (ma * mb - couple * couple)
    ax, ay = (mb * f1 - couple * f2) * inverse, (ma * f2 - couple * f1) * inverse
    store(x, SA, sa)
    store(x, CA, ca)
    store(x, SB, sb)
    store(x, CB, cb)
    store(x, S, s)
    store(x, C, c)
    store(x, PP, pp)
    store(x, QQ, qq)
    store(x, F1, f1)
    store(x, F2, f2)
    store(x, X, ax)
    store(x, Y, ay)
    store(x, A + 1, p)
    store(x, B + 1, q)
    store(x, P + 1, ax)
    store(x, Q + 1, ay)
    return inverse


@kernel
def _turn(x, k):
    """Fill coefficient k of all sines and cosines: sin(a)' = p cos(a) and so on."""
    sa = ca = sb = cb = s = c = 0.0 * load(x, A)
    for j in range(k):
        i = k - 1 - j
        p, q = load(x, P + j), load(x, Q + j)
        r = p - q
        sa, ca = fma(p, load(x, CA + i), sa), fma(p, load(x, SA + i), ca)
        sb, cb = fma(q, load(x, CB + i), sb), fma(q, load(x, SB + i), cb)
        s, c = fma(r, load(x, C + i), s), fma(r, load(x, S + i), c)
    part = 1.0 / k
    store(x, SA + k, part * sa)
    store(x, CA + k, -part * ca)
    store(x, SB + k, part * sb)
    store(x, CB + k, -part * cb)
    store(x, S + k, part * s)
    store(x, C + k, -part * c)


@kernel
def _square(x, m, k):
    """Fill coefficient k of the rates' squares and of the determinant."""
    pp = qq = cc = 0.0 * load(x, A)
    for j in range(k + 1):
        i = k - j
        pp, qq = fma(load(x, P + j), load(x, P + i), pp), fma(load(x, Q + j), load(x, Q + i), qq)
        cc = fma(load(x, C + j), load(x, C + i), cc)
    mc = load(m, MC)
    store(x, PP + k, pp)
    store(x, QQ + k, qq)
    store(x, D + k, -(mc * mc) * cc)


@kernel
def _accelerate(x, m, inverse, k):
    """Fill coefficient k of the accelerations, and k + 1 of the rates and angles."""
    zero = 0.0 * load(x, A)
    sp = sq = cx = cy = dx = dy = zero
    s0 = load(x, S)
    sp, sq = s0 * load(x, PP + k), s0 * load(x, QQ + k)
    for j in range(1, k + 1):
        i = k - j
        s, c, d = load(x, S + j), load(x, C + j), load(x, D + j)
        sp, sq = fma(s, load(x, PP + i), sp), fma(s, load(x, QQ + i), sq)
        cx, cy = fma(c, load(x, F2 + i), cx), fma(c, load(x, F1 + i), cy)
        dx, dy = fma(d, load(x, X + i), dx), fma(d, load(x, Y + i), dy)
    mc, c0 = load(m, MC), load(x, C)
    f1 = -(mc * sq) - load(m, G1) * load(x, SA + k)
    f2 = mc * sp - load(m, G2) * load(x, SB + k)
    ax = (load(m, MB) * f1 - mc * fma(c0, f2, cx) - dx) * inverse
    ay = (load(m, MA) * f2 - mc * fma(c0, f1, cy) - dy) * inverse
    store(x, F1 + k, f1)
    store(x, F2 + k, f2)
    store(x, X + k, ax)
    store(x, Y + k, ay)
    part = 1.0 / (k + 1)
    store(x, A + k + 1, part * load(x, P + k))
    store(x, B + k + 1, part * load(x, Q + k))
    store(x, P + k + 1, part * ax)
    store(x, Q + k + 1, part * ay)


@kernel
def _measure_event(m, event, a, b, p, q):
    """Return an event's value at eight states, or its rate from theirs, without its constant."""
    g = fma(load(m, event), a, load(m, event + 1) * b)
    return fma(load(m, event + 2), p, fma(load(m, event + 3), q, g))


@kernel
def _step(x, m, order, tolerance, e):
    """Fill `e` with the steps of all lanes, as long as the tolerance and the phases allow."""
    inverse = _zero_order(x, m)
    for k in range(1, order):
        _turn(x, k)
        _square(x, m, k)
        _accelerate(x, m, inverse, k)
    worst = 0.0 * inverse
    for first in (A, B, P, Q):
        worst = larger(size(load(x, first + ORDER)) / (1.0 + size(load(x, first))), worst)
    h = smaller(SAFETY * root(root(root(root(tolerance / worst)))), load(m, LEFT))
    a, b, p, q = load(x, A + ORDER), load(x, B + ORDER), load(x, P + ORDER), load(x, Q + ORDER)
    dp = dq = 0.0 * h
    for k in range(order - 1, -1, -1):
        dp, dq = fma(dp, h, p), fma(dq, h, q)
        a, b = fma(a, h, load(x, A + k)), fma(b, h, load(x, B + k))
        p, q = fma(p, h, load(x, P + k)), fma(q, h, load(x, Q + k))
    store(e, END, a)
    store(e, END + 1, b)
    store(e, END + 2, p)
    store(e, END + 3, q)
    store(e, SIZE, h)
    for i in range(2):
        event, row = WATCH + 5 * i, SEEN + 4 * i
        base = load(m, event + 4)
        before = _measure_event(m, event, load(x, A), load(x, B), load(x, P), load(x, Q))
        store(e, row, base + before)
        store(e, row + 1, base + _measure_event(m, event, a, b, p, q))
        d = _measure_event(m, event, load(x, P), load(x, Q), load(x, P + 1), load(x, Q + 1))
        store(e, row + 2, d)
        store(e, row + 3, _measure_event(m, event, p, q, dp, dq))


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
    each = 1 if len(phases) > 1 else 0
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
                phase = phases[each * start[lane], at[lane]]
                _begin(both[hand[lane]], u[lane], phase, stop, base[lane], lane, x, m)
                t[lane] = 0.0
        _step(x, m, x.shape[0] // SERIES - 1, tolerance, e)
        for lane in range(WIDTH):
            if start[lane] < 0:
                continue
            i, s, h = at[lane], start[lane], e[SIZE, lane]
            last = h >= m[LEFT, lane]
            part, reason = h, TIME if last else -2
            phase = phases[each * s, i]
            if phase[5] == ENERGY and t[lane] == 0.0 and e[SEEN, lane] >= 0.0:
                part, reason = 0.0, EVENT
            else:
                rise = _rise(x, m, e, WATCH, SEEN, lane, g)
                if rise <= h:
                    part, reason = rise, EVENT
                rise = _rise(x, m, e, HALT, SEEN + 4, lane, g)
                if rise < part or (rise <= part and reason != EVENT):
                    part, reason = rise, STOP
            t[lane] += part
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
                _state_at(x, lane, part, u[lane])
                times[s, i], t[lane] = t[lane], -1.0
                at[lane] = i + 1
                if reason != STOP and phase[3] != NOTHING:
                    hand[lane] = change_frame(both, u[lane], hand[lane], scratch)
                    impact(both[hand[lane]], u[lane])
                if reason == STOP or i + 1 == n:
                    finals[s], counts[s], start[lane] = u[lane], i + 1, -1
                    hands[s] = hand[lane]
                    running -= 1
