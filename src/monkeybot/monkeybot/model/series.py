"""Steps of the swing by Taylor series, for eight motions at once in the lanes of vectors.

While a hand holds and nothing rubs, the state is expanded in powers of time, and a step follows
from evaluating the series. `ensemble` uses it for many gaits; eight motions are computed together
by the vectors of `simd`, one lane each. The swing is written in the angles a, b of both links from
hanging straight down, with rates p, q:

    [A, C cos(a-b); C cos(a-b), B] (p', q') = (f1, f2)
    f1 = -C sin(a-b) q^2 - G1 sin a - torque      f2 = C sin(a-b) p^2 - G2 sin b + torque

Every term is a product of series. By the rule for products, (f g)_k = sum_j f_j g_(k-j), each
coefficient of the solution follows from lower ones (Jorba and Zou, Experimental Mathematics 14,
2005). `Workspace` stores the numbers in three arrays with a column for each lane. The names of
their rows follow below in capitals; the same name in small letters is the value of one row.

ORDER and SAFETY may be tuned: they trade accuracy against speed.
"""

from typing import NamedTuple

from roboaccord.contract import Array
from roboaccord.numerics import kernel

from monkeybot.model.simd import fma, larger, load, magnitude, sine_cosine, smaller, sqrt, store

# Of the series. The order at which a step costs least is 1 - ln(tolerance) / 2 (Jorba and Zou): 16
# at 1e-13, 10 at 1e-8. A power of 2, so that the 16th root in `take_step` is four square roots.
ORDER = 16
# Step taken over the step h that the last coefficient allows. The last term is then 0.85^16 = 0.07
# of the tolerance, and the neglected terms together, which fall like (h / radius)^k, are less.
SAFETY = 0.85
COUNT = ORDER + 1  # coefficients of a series
SERIES = 17  # number of series
# Rows of x where each series begins: angles a, b, rates p, q, sines and cosines of a, b and a - b,
# squares of the rates, right-hand sides f1, f2, determinant of the mass matrix, accelerations.
A, B, P, Q, SA, CA, SB, CB, S, C, PP, QQ, F1, F2, D, ACC_A, ACC_B = range(0, SERIES * COUNT, COUNT)
# Rows of `constants`: A, B and C of the mass matrix [kg m^2], the weights G1 and G2 [N m], the
# torque on the elbow [N m], the remaining time of the phase [s]; then the first of five rows for
# the event that ends the phase, and the first of five for the one that stops the motion.
MA, MB, MC, G1, G2, TORQUE, REMAINING, PHASE_EVENT, STOP_EVENT = 0, 1, 2, 3, 4, 5, 6, 7, 12
# The five rows of an event, from its first: factors of a, b, p and q, and a constant. The event's
# value is their sum.
OF_A, OF_B, OF_P, OF_Q, OFFSET = range(5)
CONSTANTS = 17  # rows of `constants`
# Rows of `ends`: a, b, p and q at the end of the step; its length [s]; then the first of four rows
# for the event that ends the phase, and the first of four for the one that stops the motion.
END_A, END_B, END_P, END_Q, STEP_SIZE, PHASE_ENDS, STOP_ENDS = 0, 1, 2, 3, 4, 5, 9
# The four rows of an event, from its first: its value at start and end of the step, and the rate of
# the value there.
START_VALUE, END_VALUE, START_RATE, END_RATE = range(4)
STEP_ROWS = 13  # rows of `ends`


class Workspace(NamedTuple):
    """Numbers of eight motions, a column for each.

    Attributes:
        x: coefficients of the series (SERIES * COUNT, 8).
        constants: of a motion and its phase (CONSTANTS, 8).
        ends: of the last step: states, events and length (STEP_ROWS, 8).
    """

    x: Array
    constants: Array
    ends: Array


@kernel
def take_step(work, order, tolerance):
    """Take the longest steps that the tolerance and the phases allow, in all lanes.

    Args:
        work: arrays of the lanes (`Workspace`); coefficients 0 of angles and rates are the states
            at the start. The other coefficients and the ends are filled.
        order: ORDER, as a number that the compiler does not know.
        tolerance: of the step, relative and magnitude.
    """
    x, constants, ends = work
    inverse = _fill_order_zero(x, constants)
    for k in range(1, order):
        _fill_sines(x, k)
        _fill_squares(x, constants, k)
        _fill_accelerations(x, constants, inverse, k)
    # Length of the step h: the last term, c_16 h^16, is as large as the tolerance.
    worst = 0.0 * inverse  # zeros in all lanes
    for first in (A, B, P, Q):
        worst = larger(magnitude(load(x, first + ORDER)) / (1.0 + magnitude(load(x, first))), worst)
    sixteenth_root = sqrt(sqrt(sqrt(sqrt(tolerance / worst))))
    h = smaller(SAFETY * sixteenth_root, load(constants, REMAINING))
    # State at its end by Horner's scheme, and the derivatives dp, dq of the rates.
    a, b, p, q = load(x, A + ORDER), load(x, B + ORDER), load(x, P + ORDER), load(x, Q + ORDER)
    dp = dq = 0.0 * h
    for k in range(order - 1, -1, -1):
        dp, dq = fma(dp, h, p), fma(dq, h, q)
        a, b = fma(a, h, load(x, A + k)), fma(b, h, load(x, B + k))
        p, q = fma(p, h, load(x, P + k)), fma(q, h, load(x, Q + k))
    store(ends, END_A, a)
    store(ends, END_B, b)
    store(ends, END_P, p)
    store(ends, END_Q, q)
    store(ends, STEP_SIZE, h)
    # Values and rates of both events at both ends of the step.
    a0, b0, p0, q0 = load(x, A), load(x, B), load(x, P), load(x, Q)
    dp0, dq0 = load(x, P + 1), load(x, Q + 1)
    for i in range(2):
        event = PHASE_EVENT + i * (STOP_EVENT - PHASE_EVENT)
        row = PHASE_ENDS + i * (STOP_ENDS - PHASE_ENDS)
        offset = load(constants, event + OFFSET)
        store(ends, row + START_VALUE, offset + _event_value(constants, event, a0, b0, p0, q0))
        store(ends, row + END_VALUE, offset + _event_value(constants, event, a, b, p, q))
        store(ends, row + START_RATE, _event_value(constants, event, p0, q0, dp0, dq0))
        store(ends, row + END_RATE, _event_value(constants, event, p, q, dp, dq))


@kernel
def _fill_order_zero(x, constants):
    """Fill coefficient 0 of the series from those of angles and rates; return 1 / determinant."""
    p, q = load(x, P), load(x, Q)
    sa, ca = sine_cosine(load(x, A))
    sb, cb = sine_cosine(load(x, B))
    s, c = sa * cb - ca * sb, ca * cb + sa * sb
    mc, pp, qq = load(constants, MC), p * p, q * q
    f1 = -(mc * s * qq) - load(constants, G1) * sa - load(constants, TORQUE)
    f2 = mc * s * pp - load(constants, G2) * sb + load(constants, TORQUE)
    ma, mb, couple = load(constants, MA), load(constants, MB), mc * c
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
    store(x, ACC_A, ax)
    store(x, ACC_B, ay)
    store(x, A + 1, p)
    store(x, B + 1, q)
    store(x, P + 1, ax)
    store(x, Q + 1, ay)
    return inverse


@kernel
def _fill_sines(x, k):
    """Fill coefficient k of all sines and cosines, by sin(a)' = p cos(a), cos(a)' = -p sin(a)."""
    sa = ca = sb = cb = s = c = 0.0 * load(x, A)
    for j in range(k):
        i = k - 1 - j
        p, q = load(x, P + j), load(x, Q + j)
        r = p - q
        sa, ca = fma(p, load(x, CA + i), sa), fma(p, load(x, SA + i), ca)
        sb, cb = fma(q, load(x, CB + i), sb), fma(q, load(x, SB + i), cb)
        s, c = fma(r, load(x, C + i), s), fma(r, load(x, S + i), c)
    scale = 1.0 / k
    store(x, SA + k, scale * sa)
    store(x, CA + k, -scale * ca)
    store(x, SB + k, scale * sb)
    store(x, CB + k, -scale * cb)
    store(x, S + k, scale * s)
    store(x, C + k, -scale * c)


@kernel
def _fill_squares(x, constants, k):
    """Fill coefficient k of p^2, q^2 and of the determinant A B - C^2 cos(a-b)^2."""
    pp = qq = cc = 0.0 * load(x, A)
    for j in range(k + 1):
        i = k - j
        pp, qq = fma(load(x, P + j), load(x, P + i), pp), fma(load(x, Q + j), load(x, Q + i), qq)
        cc = fma(load(x, C + j), load(x, C + i), cc)
    mc = load(constants, MC)
    store(x, PP + k, pp)
    store(x, QQ + k, qq)
    store(x, D + k, -(mc * mc) * cc)


@kernel
def _fill_accelerations(x, constants, inverse, k):
    """Fill coefficient k of f1, f2 and the accelerations, and k + 1 of the rates and angles.

    By Cramer's rule the accelerations times the determinant are B f1 - C cos(a-b) f2 and
    A f2 - C cos(a-b) f1; coefficient k of that product, less the terms of lower coefficients, is
    divided by the determinant's coefficient 0, whose inverse is `inverse`.
    """
    zero = 0.0 * load(x, A)
    cx = cy = dx = dy = zero
    s0 = load(x, S)
    sp, sq = s0 * load(x, PP + k), s0 * load(x, QQ + k)
    for j in range(1, k + 1):
        i = k - j
        s, c, d = load(x, S + j), load(x, C + j), load(x, D + j)
        sp, sq = fma(s, load(x, PP + i), sp), fma(s, load(x, QQ + i), sq)
        cx, cy = fma(c, load(x, F2 + i), cx), fma(c, load(x, F1 + i), cy)
        dx, dy = fma(d, load(x, ACC_A + i), dx), fma(d, load(x, ACC_B + i), dy)
    mc, c0 = load(constants, MC), load(x, C)
    f1 = -(mc * sq) - load(constants, G1) * load(x, SA + k)
    f2 = mc * sp - load(constants, G2) * load(x, SB + k)
    ax = (load(constants, MB) * f1 - mc * fma(c0, f2, cx) - dx) * inverse
    ay = (load(constants, MA) * f2 - mc * fma(c0, f1, cy) - dy) * inverse
    store(x, F1 + k, f1)
    store(x, F2 + k, f2)
    store(x, ACC_A + k, ax)
    store(x, ACC_B + k, ay)
    scale = 1.0 / (k + 1)
    store(x, A + k + 1, scale * load(x, P + k))
    store(x, B + k + 1, scale * load(x, Q + k))
    store(x, P + k + 1, scale * ax)
    store(x, Q + k + 1, scale * ay)


@kernel
def _event_value(constants, event, a, b, p, q):
    """Return the value of an event in eight states without its constant, or its rate.

    `event` is the first of its rows in the constants. For the rate a, b, p and q are the
    derivatives of the states.
    """
    of_angles = fma(load(constants, event + OF_A), a, load(constants, event + OF_B) * b)
    with_rate_q = fma(load(constants, event + OF_Q), q, of_angles)
    return fma(load(constants, event + OF_P), p, with_rate_q)
