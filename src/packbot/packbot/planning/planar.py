"""Motion of the arm in its plane, one of three joints loose, with the cost of a transition.

`inverse` and `flow` are equations of motion and fixed, test_packbot_transition compares them with
pinocchio's; the residuals' weights are the caller's. SPRING, DAMPING, BEHIND and CUSHION shape what
the loose joint rests on and where it may swing, and may be tuned.

The accelerations of the active joints are the inputs. The loose joint's is what leaves it without
effort (non-collocated partial feedback linearisation, Spong 1994). Limits of speed, effort, angle
and of the finger tips' height are penalties; what it rests on at the start is a one-sided spring.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel

Model: TypeAlias = tuple[Array, Array, Array, Array, Array, Array, Array, float]
BEHIND = 0.12  # m: least distance of the finger tips from link 1's axis
CUSHION = 0.05  # rad before the stop in which the loose joint may not come back fast
SPRING, DAMPING = 3000.0, 1.0  # N m/rad and s/rad of what the loose joint rests on
SMALL = 1e-6  # of finite differences


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
    at[0] = 1j * model[7]
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
    stop, side = model[6]
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
        bounds: lower and upper angles, greatest rates and efforts (4, 3); height and length of the
            last link's tips [m] follow in `weights`.
        weights: (8,): of accelerations, rates, angles, efforts, height; height of the shoulder and
            of the tips at least, and length of the last link [m].
        r: found.
    """
    rate, tau = np.empty(6), np.empty(3)
    flow(model, loose, x, u, rate, tau)
    r[:2] = weights[0] * u
    height, theta = weights[5], 0.0
    for i in range(3):
        theta += x[i]
        height += (weights[7] if i == 2 else model[0][i]) * np.sin(theta)
        if i > 0:
            r[10 + i] = weights[4] * max(0.0, weights[6] - height)
        r[2 + i] = weights[2] * max(0.0, bounds[0, i] - x[i], x[i] - bounds[1, i])
        r[5 + i] = weights[1] * max(0.0, abs(x[3 + i]) - bounds[2, i])
        r[8 + i] = weights[3] * max(0.0, abs(tau[i]) - bounds[3, i])
    if x[2] > 0.5:  # the tips' distance behind link 1, which they swing back to
        behind = model[0][1] * np.sin(x[1]) + weights[7] * np.sin(x[1] + x[2])
        r[14] = weights[4] * max(0.0, BEHIND - behind)
    else:
        r[14] = 0.0
    stop, side = model[6]
    near = max(0.0, 1.0 - side * (x[loose] - stop) / CUSHION)
    r[13] = weights[1] * side * near * max(0.0, -side * x[3 + loose])


@kernel
def linearise(model, bounds, weights, loose, period, X, U, A, R):
    """Find Jacobians of steps, A (n, 6, 8), and of residuals, R (n, 15, 9), over state and input.

    By forward differences; the residuals themselves are in R[:, :, 8].
    """
    for k in range(len(U)):
        here = step(model, loose, period, X[k], U[k])
        residual(model, bounds, weights, loose, X[k], U[k], R[k, :, 8])
        for j in range(8):
            x, u = X[k].copy(), U[k].copy()
            if j < 6:
                x[j] += SMALL
            else:
                u[j - 6] += SMALL
            A[k, :, j] = (step(model, loose, period, x, u) - here) / SMALL
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
