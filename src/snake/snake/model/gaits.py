"""Joint angles of the serpenoid gait, with rates and accelerations, as compiled kernels.

A serpenoid is a wave of joint angles A sin(2 pi f t - beta i) + offset, i from 1, that runs along
the body (Hirose, Biologically Inspired Robots, 1993). `serpenoid` has fixed parameters;
`follow_serpenoid` has parameters that follow set-points through filters. The classes Serpenoid and
VariableSerpenoid of controllers/serpenoid.py call them.
"""

import math

from roboaccord.numerics import kernel


@kernel
def serpenoid(time, amplitude, rate, lag, offset, ramp, q, qd, qdd):
    """Fill q, qd, qdd (n,) with the serpenoid g(t) (A sin(2 pi f t - beta i) + offset), i from 1.

    The factor g(t) = 10 x^3 - 15 x^4 + 6 x^5, x = t / ramp, rises from 0 to 1 twice differentiable.

    Args:
        time: t [s].
        amplitude: A [rad].
        rate: 2 pi f [rad/s].
        lag: beta [rad].
        offset: [rad].
        ramp: [s].
        q, qd, qdd: filled [rad, rad/s, rad/s^2].
    """
    g, gd, gdd = 1.0, 0.0, 0.0
    if time < ramp:
        x = time / ramp
        g = x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
        gd = 30.0 * x * x * (1.0 - x) ** 2 / ramp
        gdd = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (ramp * ramp)
    for i in range(q.shape[0]):
        phase = rate * time - lag * (i + 1)
        sin = amplitude * math.sin(phase)
        cos = amplitude * rate * math.cos(phase)
        base = sin + offset
        q[i] = g * base
        qd[i] = gd * base + g * cos
        qdd[i] = gdd * base + 2.0 * gd * cos - g * rate * rate * sin


@kernel
def follow_serpenoid(state, set_points, next_set_points, step, bandwidth, q, qd, qdd):
    """Advance VariableSerpenoid's filters by a step, and fill q, qd, qdd (n,) with the shape.

    Args:
        state: the phase; the filtered amplitude, rate 2 pi f, lag and offset; and the derivatives
            of these four (9,). Advanced in place.
        set_points: of the four during the step (4,).
        next_set_points: those after the step, on which the accelerations qdd depend (4,).
        step: [s].
        bandwidth: of the filters, 1 / T [rad/s].
        q, qd, qdd: filled [rad, rad/s, rad/s^2].
    """
    # Exact solution of the critically damped filters over the step, and of the phase, the integral
    # of the rate.
    decay = math.exp(-bandwidth * step)
    for k in range(4):
        error = state[1 + k] - set_points[k]
        slope = state[5 + k] + bandwidth * error
        if k == 1:  # the rate, of which the phase is the integral
            swept = error * (1.0 - decay) / bandwidth
            swept += slope * (1.0 - decay * (1.0 + bandwidth * step)) / bandwidth**2
            state[0] += set_points[k] * step + swept
        state[5 + k] = (state[5 + k] - bandwidth * slope * step) * decay
        state[1 + k] = set_points[k] + (error + slope * step) * decay
    # Derivatives of a sin(phase - lag i) + offset; a trailing d marks a derivative by time, and the
    # second derivatives follow from the filters' equation (VariableSerpenoid).
    a, rate, lag, offset, ad, rated, lagd, offsetd = state[1:]
    second_derivatives = bandwidth**2 * (next_set_points - state[1:5]) - 2.0 * bandwidth * state[5:]
    for i in range(q.shape[0]):
        phase = state[0] - lag * (i + 1)
        phase_rate = rate - lagd * (i + 1)
        phase_acceleration = rated - second_derivatives[2] * (i + 1)
        sin, cos = math.sin(phase), math.cos(phase)
        q[i] = a * sin + offset
        qd[i] = ad * sin + a * cos * phase_rate + offsetd
        qdd[i] = (second_derivatives[0] - a * phase_rate * phase_rate) * sin + second_derivatives[3]
        qdd[i] += (2.0 * ad * phase_rate + a * phase_acceleration) * cos
