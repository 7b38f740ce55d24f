"""Forward dynamics and mass matrix of a tree of bodies, as compiled kernels.

Accelerations come from the articulated-body algorithm (`slopes`; `advance` integrates them by the
classical Runge-Kutta method), mass matrix and gravity forces from composite rigid bodies
(`composite`): Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 7 and 6. Both go from
the base outward for poses and velocities, and from the tips inward for inertias and forces.

A body is a row of numbers: `tree` and `body` are what is known of it, `w` (work) what is computed;
bodies.py names and explains the columns. Vectors are tuples of numbers (tuples.py). Accelerations
are those of points, not spatial ones, and gravity is an upward acceleration of the base.

The equations are fixed by the book (test_dynamics compares with a double pendulum, Euler's
equations and Pinocchio), the order of operations by the hashes of reference runs.
"""

from __future__ import annotations  # noqa: I001 (names are packed)

import numpy as np

from roboaccord.description.bodies import (
    ANGULAR, ARMATURE, BIAS, COLUMN, DRY, FORCE, GAIN, GRAVITY, KIND, LEVER, MOTION, PARENT,
    REMAINDER, SHARE, SLACK, SPEED, STIFFNESS, VISCOUS, H, J, M, Q, joint_axis, pose, rigid,
    shift, turn_base,
)  # fmt: skip
from roboaccord.description.kinematics import PRISMATIC, REVOLUTE
from roboaccord.description.tuples import (
    cross, dot, gather, less, nine, plus, put, six, sym_times, three, times, times_t,
)  # fmt: skip
from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel
from roboaccord.numerics.runge_kutta import rk4_stage


@kernel
def _outward(tree, body, w, y, rates, floating):
    """Fill poses, angular velocities, bias accelerations, and the inertia of each single body.

    Args:
        tree, body, w: rows of all bodies.
        y: state, as of `slopes`.
        rates: index in y of the joints' rates.
        floating: whether the base moves.
    """
    if floating:
        rigid(body, w, 0)
    for i in range(1, tree.shape[0]):
        column = tree[i, COLUMN]
        rate = y[rates + column]
        axis = pose(tree, body, w, i, y[Q + column])
        omega = three(w, tree[i, PARENT], ANGULAR)
        # Bias acceleration, with all joints' accelerations at 0: w x (w x lever), and for the joint
        # w x axis rate if it turns, 2 w x axis rate (Coriolis) if it slides.
        spin = cross(omega, axis)
        a = cross(omega, cross(omega, three(w, i, LEVER)))
        alpha = (rate * spin[0], rate * spin[1], rate * spin[2])
        if tree[i, KIND] == REVOLUTE:
            omega = plus(omega, rate, axis)
        else:
            a = plus(a, 2.0, alpha)
            alpha = (0.0, 0.0, 0.0)
        put(w, i, ANGULAR, omega)
        put(w, i, BIAS, alpha)
        put(w, i, BIAS + 3, a)
        rigid(body, w, i)


@kernel
def _inward(tree, body, w, y, rates, effort, floating):
    """Fill articulated inertias and bias forces (Featherstone 2008, equations 7.23 to 7.25)."""
    for i in range(tree.shape[0] - 1, 0, -1):
        # Articulated inertia of the body, complete by now, and its bias torque n and force f.
        p, axis = tree[i, PARENT], joint_axis(w, i)
        j, h, m = six(w, i, J), nine(w, i, H), six(w, i, M)
        n, f = three(w, i, FORCE), three(w, i, FORCE + 3)
        # Effort of the joint, less its friction and its spring.
        rate = y[rates + tree[i, COLUMN]]
        tau = effort[tree[i, COLUMN]] - body[i, VISCOUS] * rate
        if body[i, DRY] > 0.0:
            tau -= body[i, DRY] * rate / np.sqrt(rate * rate + body[i, SPEED] ** 2)
        if body[i, STIFFNESS] > 0.0:
            tau -= body[i, STIFFNESS] * (y[Q + tree[i, COLUMN]] - body[i, SLACK])
        # With the axis s: U = I s (torque un, force uf), D = s' U and u = tau - s' p.
        if tree[i, KIND] == REVOLUTE:
            un, uf = sym_times(j, axis), times_t(h, axis)
            d, remaining = dot(axis, un), tau - dot(axis, n)
        else:
            un, uf = times(h, axis), sym_times(m, axis)
            d, remaining = dot(axis, uf), tau - dot(axis, f)
        k = 1.0 / (d + body[i, ARMATURE])
        put(w, i, GAIN, un)
        put(w, i, GAIN + 3, uf)
        w[i, SHARE], w[i, REMAINDER] = k, remaining
        if p == 0 and not floating:
            continue
        # What the parent feels: Ia = I - U U' / D and pa = p + Ia c + U u / D, with the bias c.
        alpha, a = three(w, i, BIAS), three(w, i, BIAS + 3)
        j, m = less(j, un, k), less(m, uf, k)
        s, t, v = k * un[0], k * un[1], k * un[2]
        h = (
            h[0] - s * uf[0], h[1] - s * uf[1], h[2] - s * uf[2],
            h[3] - t * uf[0], h[4] - t * uf[1], h[5] - t * uf[2],
            h[6] - v * uf[0], h[7] - v * uf[1], h[8] - v * uf[2],
        )  # fmt: skip
        n = plus(plus(plus(n, k * remaining, un), 1.0, sym_times(j, alpha)), 1.0, times(h, a))
        f = plus(plus(plus(f, k * remaining, uf), 1.0, times_t(h, alpha)), 1.0, sym_times(m, a))
        shift(w, i, p, j, h, m)
        gather(w, p, FORCE, plus(n, 1.0, cross(three(w, i, LEVER), f)))
        gather(w, p, FORCE + 3, f)


@kernel
def _base(w, free, gravity, wrench, matrix, right):
    """Fill the acceleration of the base under a wrench, torque first; gravity is part of it.

    Args:
        w: rows of all bodies.
        free: components of the base's twist, angular first, that can change; ascending.
        gravity: upward acceleration that stands for gravity [m/s^2].
        wrench: torque and force on the base (6,).
        matrix, right: work space (6, 6) and (6,).
    """
    for k in range(6):
        w[0, MOTION + k] = gravity if k == 5 else 0.0
    size = free.shape[0]
    if size == 0:
        return
    # Matrix of the articulated inertia, from its blocks J, H and M.
    entry = 0
    for row in range(3):
        for column in range(3):
            matrix[row, 3 + column] = matrix[3 + column, row] = w[0, H + 3 * row + column]
        for column in range(row, 3):
            matrix[row, column] = matrix[column, row] = w[0, J + entry]
            matrix[3 + row, 3 + column] = matrix[3 + column, 3 + row] = w[0, M + entry]
            entry += 1
    # Equations of the free components, solved by a Cholesky factor.
    for k in range(size):
        row = free[k]
        right[k] = wrench[row] - w[0, FORCE + row] - matrix[row, 5] * gravity
    for k in range(size):  # in place, for `free` is in ascending order
        for c in range(size):
            matrix[k, c] = matrix[free[k], free[c]]
    root, x = matrix[:size, :size], right[:size]
    factor(root, root)
    solve(root, x)
    for k in range(size):
        w[0, MOTION + free[k]] += x[k]


@kernel
def slopes(tree, body, free, w, y, effort, wrench, matrix, right, slope):
    """Fill `slope` with the derivative of a state y by time, by the articulated-body algorithm.

    Args:
        tree, body: what is known of the bodies: a row for each, the base first.
        free: components of the base's twist, angular first, that can change.
        w: work space, a row for each body.
        y: state (13 + 2 n,): position (3), quaternion x y z w (4) and q of n joints, then linear
            (3) and angular velocity (3) in the world and qd.
        effort: of the joints (n,).
        wrench: on the base about its origin, torque first (6,).
        matrix, right: work space (6, 6) and (6,).
        slope: derivative of the state, filled (13 + 2 n,).
    """
    n = effort.shape[0]
    rates = Q + n
    gravity = body[0, GRAVITY]
    turn_base(w, y, rates, slope)
    rates += 6
    floating = free.shape[0] > 0
    _outward(tree, body, w, y, rates, floating)
    _inward(tree, body, w, y, rates, effort, floating)
    _base(w, free, gravity, wrench, matrix, right)
    # Accelerations outward: a' = a_parent + c, qdd = (u - U' a') / D, and a = a' + s qdd.
    for i in range(1, tree.shape[0]):
        p, column = tree[i, PARENT], tree[i, COLUMN]
        axis, up = joint_axis(w, i), three(w, p, MOTION)
        alpha = plus(up, 1.0, three(w, i, BIAS))
        a = plus(three(w, p, MOTION + 3), 1.0, cross(up, three(w, i, LEVER)))
        a = plus(a, 1.0, three(w, i, BIAS + 3))
        un, uf = three(w, i, GAIN), three(w, i, GAIN + 3)
        rate = w[i, SHARE] * (w[i, REMAINDER] - dot(un, alpha) - dot(uf, a))
        slope[Q + column] = y[rates + column]
        slope[rates + column] = rate
        if tree[i, KIND] == PRISMATIC:
            a = plus(a, rate, axis)
        else:
            alpha = plus(alpha, rate, axis)
        put(w, i, MOTION, alpha)
        put(w, i, MOTION + 3, a)
    # The base, whose acceleration contains that of gravity.
    for d in range(3):
        slope[d] = y[Q + n + d]
        slope[Q + n + d] = w[0, MOTION + 3 + d]
        slope[Q + n + 3 + d] = w[0, MOTION + d]
    slope[Q + n + 2] -= gravity


@kernel
def advance(tree, body, free, w, y, effort, wrench, h, count):
    """Take `count` Runge-Kutta steps of h [s] on a state in place; other arguments as of `slopes`.

    Efforts and wrench are held; the quaternion is normalised after each step.
    """
    matrix, right = np.empty((6, 6)), np.empty(6)
    slope, stage, end = np.zeros_like(y), y.copy(), y.copy()
    for _ in range(count):
        for i in range(y.shape[0]):
            stage[i] = end[i] = y[i]
        for k in range(4):
            slopes(tree, body, free, w, stage, effort, wrench, matrix, right, slope)
            rk4_stage(k, h, y, slope, stage, end)
        size = np.sqrt(end[3] ** 2 + end[4] ** 2 + end[5] ** 2 + end[6] ** 2)
        for i in range(3, Q):
            end[i] /= size
        for i in range(y.shape[0]):
            y[i] = end[i]


@kernel
def composite(tree, body, w, y, mass, gravity):
    """Fill mass matrix (6 + n, 6 + n) and gravity forces (6 + n,), those of the base linear first.

    By composite rigid bodies (Featherstone 2008, section 6.2).

    Args:
        tree, body, w: as of `slopes`.
        y: state at rest, as of `slopes`.
        mass, gravity: filled.
    """
    # Poses and single inertias, outward.
    bodies = tree.shape[0]
    turn_base(w, y, Q + bodies - 1, np.empty_like(y[:Q]))
    rigid(body, w, 0)
    for i in range(1, bodies):
        pose(tree, body, w, i, y[Q + tree[i, COLUMN]])
        rigid(body, w, i)
    # Composite inertias, inward: of each body with all that it carries.
    for i in range(bodies - 1, 0, -1):
        j, h, m = six(w, i, J), nine(w, i, H), six(w, i, M)
        shift(w, i, tree[i, PARENT], j, h, m)
        axis, row = joint_axis(w, i), 6 + tree[i, COLUMN]
        if tree[i, KIND] == REVOLUTE:
            n, f = sym_times(j, axis), times_t(h, axis)
        else:
            n, f = times(h, axis), sym_times(m, axis)
        gravity[row] = body[0, GRAVITY] * f[2]
        # A unit acceleration of this joint needs torque n and force f, which act on all joints that
        # carry it; n is shifted from body to body.
        carrier = i
        while carrier:
            column, along = 6 + tree[carrier, COLUMN], joint_axis(w, carrier)
            mass[row, column] = dot(along, n if tree[carrier, KIND] == REVOLUTE else f)
            mass[column, row] = mass[row, column]
            n = plus(n, 1.0, cross(three(w, carrier, LEVER), f))
            carrier = tree[carrier, PARENT]
        mass[row, row] += body[i, ARMATURE]
        for d in range(3):
            mass[row, d] = mass[d, row] = f[d]
            mass[row, 3 + d] = mass[3 + d, row] = n[d]
    # The base's own block, and gravity on the base.
    entry = 0
    for row in range(3):
        for column in range(3):
            mass[3 + row, column] = mass[column, 3 + row] = w[0, H + 3 * row + column]
        for column in range(row, 3):
            mass[3 + row, 3 + column] = mass[3 + column, 3 + row] = w[0, J + entry]
            mass[row, column] = mass[column, row] = w[0, M + entry]
            entry += 1
    for row in range(6):
        gravity[row] = body[0, GRAVITY] * mass[row, 2]
