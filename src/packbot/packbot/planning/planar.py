"""Motion of the arm in its plane, one of three joints loose, with the cost of a transition.

The accelerations of the active joints are the inputs u (2,). The loose joint's is what leaves it
without effort (non-collocated partial feedback linearisation [Spong 1994]). The state x (6,) has
the angles of shoulder and elbows, then their rates. Limits of speed, effort, angle and of the
finger tips' height are penalties; what the loose joint rests on at the start is a one-sided spring.

Arrays over the n steps of a trajectory are X, states (n + 1, 6); U, inputs (n, 2); A, Jacobians of
steps; R, residuals with their Jacobians; K, gains (n, 2, 6); d, changes of the inputs (n, 2).

A model is (lengths, masses, moments, inertias, viscous friction, armature) of the three links,
(3,) each, then the angle and the free side of the spring (2,), and gravity [m/s^2].

`inverse` and `flow` are equations of motion and fixed: test_packbot_transition compares them with
pinocchio's. The constants shape the spring and where the loose joint may swing, and may be tuned.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel

Model: TypeAlias = tuple[Array, Array, Array, Array, Array, Array, Array, float]
SPRING_END: Final = 6  # indices of a model, whose first six arrays are unpacked
GRAVITY: Final = 7
LOWER, UPPER, RATE, EFFORT = range(4)  # rows of bounds (4, 3): angles [rad], rates, efforts
# Of weights (8,): factors of the residuals of accelerations, rates, angles, efforts and height;
# then the shoulder's height, the least height of the tips, and the length of the last link [m].
ON_ACCELERATION, ON_RATE, ON_ANGLE, ON_EFFORT, ON_HEIGHT, SHOULDER, FLOOR, LAST_LINK = range(8)
BEHIND = 0.12  # m: least distance of the finger tips from link 1's axis
BENT = 0.5  # rad of elbow 1 above which the tips can be behind link 1
CUSHION = 0.05  # rad before the spring in which the loose joint may not come back fast
SPRING, DAMPING = 3000.0, 1.0  # N m/rad and s/rad of what the loose joint rests on
SMALL = 1e-6  # of forward differences: near the square root of round-off


@kernel
def inverse(model, x, a, tau):
    """Find the efforts (3,) of accelerations a (3,) at a state x (6,), into `tau`.

    Newton-Euler in the plane: x forward and z up are a complex number, z = exp(i theta) a link's
    direction, mu its mass times its centre, J its inertia about its joint.
    """
    lengths, masses, moments, inertias, viscous, armature = model[:6]
    theta, omega, alpha = 0.0, 0.0, 0.0
    at = np.empty(4, dtype=np.complex128)  # accelerations of the joints, gravity included
    turn, arm = np.empty(3, dtype=np.complex128), np.empty(3, dtype=np.complex128)
    spin = np.empty(3)
    at[0] = 1j * model[GRAVITY]
    for k in range(3):
        theta, omega, alpha = theta + x[k], omega + x[3 + k], alpha + a[k]
        turn[k], arm[k], spin[k] = 1j * alpha - omega * omega, np.exp(1j * theta), alpha
        at[k + 1] = at[k] + lengths[k] * turn[k] * arm[k]
    force, moment = 0.0 + 0.0j, 0.0
    for k in range(2, -1, -1):
        mu = moments[k] * arm[k]
        moment += inertias[k] * spin[k] + (np.conj(mu) * at[k]).imag
        moment += (lengths[k] * np.conj(arm[k]) * force).imag
        force += masses[k] * at[k] + mu * turn[k]
        tau[k] = moment + viscous[k] * x[3 + k] + armature[k] * a[k]


@kernel
def flow(model, loose, x, u, rate, tau):
    """Find the rate (6,) of a state with active accelerations u (2,), and the efforts (3,)."""
    stop, side = model[SPRING_END]
    rate[:3] = x[3:]
    a = rate[3:]
    first = 1 if loose == 0 else 0
    a[first], a[3 - loose - first] = u[0], u[1]
    a[loose] = 1.0
    inverse(model, x, a, tau)
    mass = tau[loose]
    a[loose] = 0.0
    inverse(model, x, a, tau)
    mass -= tau[loose]
    depth = side * (stop - x[loose])
    push = 0.0
    if depth > 0.0:
        push = side * SPRING * depth * max(0.0, 1.0 - DAMPING * side * x[3 + loose])
    a[loose] = (push - tau[loose]) / mass
    inverse(model, x, a, tau)


@kernel
def step(model, loose, period, x, u):
    """Return the state (6,) after a period, by Runge and Kutta's method of fourth order."""
    k1, k2, k3, k4, tau = np.empty(6), np.empty(6), np.empty(6), np.empty(6), np.empty(3)
    flow(model, loose, x, u, k1, tau)
    flow(model, loose, x + 0.5 * period * k1, u, k2, tau)
    flow(model, loose, x + 0.5 * period * k2, u, k3, tau)
    flow(model, loose, x + period * k3, u, k4, tau)
    return x + period / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@kernel
def residual(model, bounds, weights, loose, x, u, r):
    """Find the weighted residuals (15,) of a state and an input, of which the cost is squared.

    Args:
        model, loose, x, u: as for `flow`.
        bounds, weights: (4, 3) and (8,), in the order of the indices above.
        r: filled: accelerations (2), angles (3), rates (3), efforts (3), height of elbow 2 and of
            the tips (2), return to the spring, and tips behind link 1.
    """
    rate, tau = np.empty(6), np.empty(3)
    flow(model, loose, x, u, rate, tau)
    r[:2] = weights[ON_ACCELERATION] * u
    height, theta = weights[SHOULDER], 0.0
    for i in range(3):
        theta += x[i]
        height += (weights[LAST_LINK] if i == 2 else model[0][i]) * np.sin(theta)
        if i > 0:
            r[10 + i] = weights[ON_HEIGHT] * max(0.0, weights[FLOOR] - height)
        r[2 + i] = weights[ON_ANGLE] * max(0.0, bounds[LOWER, i] - x[i], x[i] - bounds[UPPER, i])
        r[5 + i] = weights[ON_RATE] * max(0.0, abs(x[3 + i]) - bounds[RATE, i])
        r[8 + i] = weights[ON_EFFORT] * max(0.0, abs(tau[i]) - bounds[EFFORT, i])
    if x[2] > BENT:  # the tips' distance behind link 1, which they swing back to
        behind = model[0][1] * np.sin(x[1]) + weights[LAST_LINK] * np.sin(x[1] + x[2])
        r[14] = weights[ON_HEIGHT] * max(0.0, BEHIND - behind)
    else:
        r[14] = 0.0
    stop, side = model[SPRING_END]
    near = max(0.0, 1.0 - side * (x[loose] - stop) / CUSHION)
    r[13] = weights[ON_RATE] * side * near * max(0.0, -side * x[3 + loose])


@kernel
def linearise(model, bounds, weights, loose, period, X, U, A, R):
    """Find Jacobians of steps, A (n, 6, 8), and of residuals, R (n, 15, 9), over state and input.

    By forward differences; the residuals themselves are in R[:, :, 8].
    """
    for k in range(len(U)):
        end = step(model, loose, period, X[k], U[k])
        residual(model, bounds, weights, loose, X[k], U[k], R[k, :, 8])
        for j in range(8):
            x, u = X[k].copy(), U[k].copy()
            if j < 6:
                x[j] += SMALL
            else:
                u[j - 6] += SMALL
            A[k, :, j] = (step(model, loose, period, x, u) - end) / SMALL
            residual(model, bounds, weights, loose, x, u, R[k, :, j])
            R[k, :, j] = (R[k, :, j] - R[k, :, 8]) / SMALL


@kernel
def rollout(model, bounds, weights, loose, period, X, U, K, d, Y, V):
    """Follow inputs U + d + K (y - X) from Y[0], into states Y and inputs V; return the cost."""
    cost, r = 0.0, np.empty(15)
    for k in range(len(U)):
        for i in range(2):
            V[k, i] = U[k, i] + d[k, i]
            for j in range(6):
                V[k, i] += K[k, i, j] * (Y[k, j] - X[k, j])
        residual(model, bounds, weights, loose, Y[k], V[k], r)
        for i in range(15):
            cost += 0.5 * period * r[i] * r[i]
        Y[k + 1] = step(model, loose, period, Y[k], V[k])
    return cost
