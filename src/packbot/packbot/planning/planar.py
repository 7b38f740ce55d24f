"""Compiled model of the arm in its vertical plane with one loose joint, for planning transitions.

The three joints of the plane are shoulder, elbow 1 and elbow 2; one of them is loose (without
drive). The state x (6,) has their angles, then their rates. The inputs u (2,) are the accelerations
of the two active joints; that of the loose joint follows, as its drive gives no effort
(non-collocated partial feedback linearisation [Spong 1994]). What the loose joint leans on at the
start is a one-sided spring. `residual` is the cost of a state and an input: limits of speed,
effort, angle and height are penalties.

Arrays over the n steps of a trajectory (also in transition.py):

    X   states (n + 1, 6)                   A   Jacobians of the steps (n, 6, 8)
    U   inputs (n, 2)                       R   residuals with their Jacobians (n, 15, 9)
    K   gains of the feedback (n, 2, 6)     d   changes of the inputs (n, 2)

A model is the tuple of lengths, masses, first moments, inertias, viscous friction and reflected
inertia of the three links, (3,) each; then angle and free side (1 or -1) of the spring (2,); and
gravity [m/s^2].

test_packbot_transition compares `inverse` and `flow` with pinocchio. The constants may be tuned.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel

Model: TypeAlias = tuple[Array, Array, Array, Array, Array, Array, Array, float]
SPRING_END: Final = 6  # index, in a model, of angle and free side of the spring
GRAVITY: Final = 7  # index, in a model, of gravity
LOWER, UPPER, RATE, EFFORT = range(4)  # rows of bounds (4, 3): angles [rad], rates, efforts
# Of weights (8,): factors of the residuals of accelerations, rates, angles, efforts and height;
# then the shoulder's height, the least height of the tips, and the length of the last link [m].
ON_ACCELERATION, ON_RATE, ON_ANGLE, ON_EFFORT, ON_HEIGHT, SHOULDER, FLOOR, LAST_LINK = range(8)
# m; smallest distance of the finger tips from the axis of link 1: the radius of its tube, 0.03,
# half the width of the hand, 0.06, and 0.03 to spare
BEHIND = 0.12
# rad; if elbow 2 is bent by more, the tips can be behind link 1; bent by less, link 3 nearly
# continues link 2
BENT = 0.5
# rad; so near to the spring, fast returns of the loose joint are penalised: ten times as far as its
# weight presses the spring in. With 0.1, and BENT 0.8, a plan is found as well (measured).
CUSHION = 0.05
# N m/rad, s/rad; stiffness and damping of the one-sided spring. The weight of link 3, up to 14 N m,
# presses it in by 5 mrad; on 0.76 kg m^2 it swings at 63 rad/s, slowly enough for Runge-Kutta steps
# of 20 ms (1.26 of the 2.83 at which they become unstable). It lets go at a rate of 1 / DAMPING.
# With 1000 and 0.3 a plan is found as well (measured).
SPRING, DAMPING = 3000.0, 1.0
SMALL = 1e-6  # step of forward differences, near the square root of round-off


@kernel
def inverse(model, x, a, tau):
    """Compute the efforts `tau` (3,) [N m] for accelerations a (3,) at a state x (6,).

    This is the recursive Newton-Euler method in the plane. A vector (x forward, z up) is a complex
    number; exp(i theta) is the direction of a link, mu its mass times its centre from the joint.
    """
    lengths, masses, moments, inertias, viscous, armature = model[:6]
    theta, omega, alpha = 0.0, 0.0, 0.0
    joint_acc = np.empty(4, dtype=np.complex128)  # accelerations of the joints, plus gravity
    turn, direction = np.empty(3, dtype=np.complex128), np.empty(3, dtype=np.complex128)
    spin = np.empty(3)
    # Outward: accelerations. The end of a link of length l accelerates by l (i alpha - omega^2)
    # exp(i theta) relative to its joint.
    joint_acc[0] = 1j * model[GRAVITY]
    for k in range(3):
        theta, omega, alpha = theta + x[k], omega + x[3 + k], alpha + a[k]
        turn[k], direction[k], spin[k] = 1j * alpha - omega * omega, np.exp(1j * theta), alpha
        joint_acc[k + 1] = joint_acc[k] + lengths[k] * turn[k] * direction[k]
    # Inward: forces and moments at the joints. Im(conj(r) F) is the moment of a force F at r.
    force, moment = 0.0 + 0.0j, 0.0
    for k in range(2, -1, -1):
        mu = moments[k] * direction[k]
        moment += inertias[k] * spin[k] + (np.conj(mu) * joint_acc[k]).imag
        moment += (lengths[k] * np.conj(direction[k]) * force).imag
        force += masses[k] * joint_acc[k] + mu * turn[k]
        tau[k] = moment + viscous[k] * x[3 + k] + armature[k] * a[k]


@kernel
def flow(model, loose, x, u, rate, tau):
    """Compute the rate (6,) of a state x (6,) with inputs u (2,), and the efforts `tau` (3,)."""
    stop, side = model[SPRING_END]
    rate[:3] = x[3:]
    a = rate[3:]
    first = 1 if loose == 0 else 0
    a[first], a[3 - loose - first] = u[0], u[1]
    # Inertia of the loose joint: the difference of its efforts for accelerations of 1 and 0.
    a[loose] = 1.0
    inverse(model, x, a, tau)
    mass = tau[loose]
    a[loose] = 0.0
    inverse(model, x, a, tau)
    mass -= tau[loose]
    # Acceleration by which the loose joint's effort is that of the spring, which only pushes.
    depth = side * (stop - x[loose])
    push = 0.0
    if depth > 0.0:
        push = side * SPRING * depth * max(0.0, 1.0 - DAMPING * side * x[3 + loose])
    a[loose] = (push - tau[loose]) / mass
    inverse(model, x, a, tau)


@kernel
def step(model, loose, period, x, u):
    """Return the state (6,) after a period [s], by the Runge-Kutta method of fourth order."""
    k1, k2, k3, k4, tau = np.empty(6), np.empty(6), np.empty(6), np.empty(6), np.empty(3)
    flow(model, loose, x, u, k1, tau)
    flow(model, loose, x + 0.5 * period * k1, u, k2, tau)
    flow(model, loose, x + 0.5 * period * k2, u, k3, tau)
    flow(model, loose, x + period * k3, u, k4, tau)
    return x + period / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@kernel
def residual(model, bounds, weights, loose, x, u, r):
    """Compute the weighted residuals of a state and an input; the cost is half their squared sum.

    Args:
        model, loose, x, u: as for `flow`.
        bounds, weights: (4, 3) and (8,), in the order of the indices above.
        r: filled (15,), with the excess over the limits of: accelerations (2), angles (3), rates
            (3), efforts (3), height of elbow 2 and of the tips (2), return to the spring (1), and
            tips behind link 1 (1).
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
    # Distance of the tips from the axis of link 1, on their side of it.
    if x[2] > BENT:
        behind = model[0][1] * np.sin(x[1]) + weights[LAST_LINK] * np.sin(x[1] + x[2])
        r[14] = weights[ON_HEIGHT] * max(0.0, BEHIND - behind)
    else:
        r[14] = 0.0
    # Speed of a return to the spring.
    stop, side = model[SPRING_END]
    near = max(0.0, 1.0 - side * (x[loose] - stop) / CUSHION)
    r[13] = weights[ON_RATE] * side * near * max(0.0, -side * x[3 + loose])


@kernel
def linearise(model, bounds, weights, loose, period, X, U, A, R):
    """Compute Jacobians by state and input, of steps (A) and of residuals (R), along X and U.

    By forward differences. The first 6 columns are by the state, the next 2 by the input; the
    residuals themselves are in R[:, :, 8].
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
    """Simulate the inputs V = U + d + K (Y - X) from Y[0]; return the cost.

    States Y (n + 1, 6) and inputs V (n, 2) are filled in.
    """
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
