"""Kernels of the articulated-body algorithm, and of RK4 on it (Featherstone 2008, chapter 7).

The equations are fixed by the book (test_dynamics: a double pendulum, Euler's equations,
Pinocchio), the order of operations by the hashes of reference runs. The columns PLACE to FILLED are
read by name in dynamics.py, mimic.py, simulators/stops.py and engines/twin_steps.py: columns may be
added at the end, with KNOWN or FILLED raised.

Every quantity of a body is about the origin of its own frame, on the joint's axis, so that nothing
is lost where a light link is far from the base, and along the axes of the world, so that inertias
pass to a parent by a shift alone. Accelerations are those of points, not spatial ones, and gravity
is an acceleration of the base upwards. An inertia maps angular and linear acceleration to torque
and force:

    n = J alpha + H a,    f = H' alpha + M a

Vectors are tuples (3), symmetric matrices xx xy xz yy yz zz (6), others by rows (9).
"""

from __future__ import annotations

import numpy as np

from roboaccord.description.kinematics import PRISMATIC, REVOLUTE
from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel
from roboaccord.numerics.runge_kutta import rk4_stage

# Columns of what is known of a body, a row each; the base is body 0.
PLACE = 0  # origin of its joint in the parent's frame (3) [m]
TURN = 3  # axes of its frame in the parent's where q is 0, the joint along z (9)
MASS = 12  # [kg]
CENTRE = 13  # of mass, in its frame (3) [m]
INERTIA = 16  # about its origin (6) [kg m^2]
ARMATURE = 22  # what is added to the inertia at its joint [kg m^2 or kg]
VISCOUS, DRY, SPEED = 23, 24, 25  # friction of its joint, and the rate below which it falls to 0
GRAVITY = 26  # downwards, of the base [m/s^2]
STIFFNESS, SLACK = 27, 28  # of its spring, and the position at which it is slack
KNOWN = 29

# Columns of what the kernels fill.
ROTATION = 0  # axes in the world (9)
LEVER = 9  # from the parent's origin to its own, in the world as all that follows (3) [m]
ANGULAR = 12  # velocity (3) [rad/s]
BIAS = 15  # acceleration by velocities alone, angular and linear (6)
J, H, M = 21, 27, 36  # articulated inertia (6), (9), (6)
FORCE = 42  # bias force: torque and force (6)
GAIN = 48  # torque and force of a unit acceleration at the joint (6)
SHARE, LEFT = 54, 55  # acceleration of the joint by a unit effort, and the effort that is left
MOTION = 56  # acceleration, angular and linear (6)
FILLED = 62

# Columns of the tree: parent, kind of joint, and its column in q.
PARENT, KIND, COLUMN = 0, 1, 2

Q = 7  # where the joints begin in a state


@kernel
def _three(a, i, at):
    return a[i, at], a[i, at + 1], a[i, at + 2]


@kernel
def _six(a, i, at):
    return a[i, at], a[i, at + 1], a[i, at + 2], a[i, at + 3], a[i, at + 4], a[i, at + 5]


@kernel
def _nine(a, i, at):
    return (
        a[i, at], a[i, at + 1], a[i, at + 2], a[i, at + 3], a[i, at + 4],
        a[i, at + 5], a[i, at + 6], a[i, at + 7], a[i, at + 8],
    )  # fmt: skip


@kernel
def _put(a, i, at, values):
    for k in range(len(values)):
        a[i, at + k] = values[k]


@kernel
def _gather(a, i, at, values):
    for k in range(len(values)):
        a[i, at + k] += values[k]


@kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def _plus(a, s, b):
    """Return a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def _turn(a, b, c, s):
    """Return c a + s b."""
    return c * a[0] + s * b[0], c * a[1] + s * b[1], c * a[2] + s * b[2]


@kernel
def _sym(s, v):
    return (
        s[0] * v[0] + s[1] * v[1] + s[2] * v[2],
        s[1] * v[0] + s[3] * v[1] + s[4] * v[2],
        s[2] * v[0] + s[4] * v[1] + s[5] * v[2],
    )


@kernel
def _mul(m, v):
    return _dot(m[0:3], v), _dot(m[3:6], v), _dot(m[6:9], v)


@kernel
def _mul_t(m, v):
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel
def _turned(r, s):
    """Return R S R' of a symmetric matrix."""
    a, b, c = _sym(s, r[0:3]), _sym(s, r[3:6]), _sym(s, r[6:9])
    return (
        _dot(r[0:3], a), _dot(r[0:3], b), _dot(r[0:3], c),
        _dot(r[3:6], b), _dot(r[3:6], c), _dot(r[6:9], c),
    )  # fmt: skip


@kernel
def _less(s, a, k):
    """Return S - k a a'."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return (
        s[0] - x * a[0], s[1] - x * a[1], s[2] - x * a[2],
        s[3] - y * a[1], s[4] - y * a[2], s[5] - z * a[2],
    )  # fmt: skip


@kernel
def _axis(w, i):
    """Return the axis of the joint of body i in the world."""
    return w[i, ROTATION + 2], w[i, ROTATION + 5], w[i, ROTATION + 8]


@kernel
def _pose(tree, body, w, i, angle):
    """Fill rotation and lever of body i from its parent's; return its axis in the world."""
    up = _nine(w, tree[i, PARENT], ROTATION)
    t = _nine(body, i, TURN)
    lever = _mul(up, _three(body, i, PLACE))
    x = _mul(up, (t[0], t[3], t[6]))
    y = _mul(up, (t[1], t[4], t[7]))
    z = _mul(up, (t[2], t[5], t[8]))
    if tree[i, KIND] == REVOLUTE:
        c, s = np.cos(angle), np.sin(angle)
        x, y = _turn(x, y, c, s), _turn(y, x, c, -s)
    else:
        lever = _plus(lever, angle, z)
    _put(w, i, ROTATION, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))
    _put(w, i, LEVER, lever)
    return z


@kernel
def _rigid(body, w, i):
    """Fill inertia and bias force of body i alone."""
    r = _nine(w, i, ROTATION)
    m = body[i, MASS]
    c = _mul(r, _three(body, i, CENTRE))
    j = _turned(r, _six(body, i, INERTIA))
    h = (m * c[0], m * c[1], m * c[2])
    omega = _three(w, i, ANGULAR)
    _put(w, i, J, j)
    _put(w, i, H, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0))
    _put(w, i, M, (m, 0.0, 0.0, m, 0.0, m))
    _put(w, i, FORCE, _cross(omega, _sym(j, omega)))
    _put(w, i, FORCE + 3, _cross(omega, _cross(omega, h)))


@kernel
def _outward(tree, body, w, y, rates, floating):
    """Fill poses, rates and bias accelerations, and the inertias of the bodies alone."""
    if floating:
        _rigid(body, w, 0)
    for i in range(1, tree.shape[0]):
        column = tree[i, COLUMN]
        rate = y[rates + column]
        axis = _pose(tree, body, w, i, y[Q + column])
        up = _three(w, tree[i, PARENT], ANGULAR)
        spin = _cross(up, axis)
        a = _cross(up, _cross(up, _three(w, i, LEVER)))
        alpha = (rate * spin[0], rate * spin[1], rate * spin[2])
        if tree[i, KIND] == REVOLUTE:
            up = _plus(up, rate, axis)
        else:
            a = _plus(a, 2.0, alpha)
            alpha = (0.0, 0.0, 0.0)
        _put(w, i, ANGULAR, up)
        _put(w, i, BIAS, alpha)
        _put(w, i, BIAS + 3, a)
        _rigid(body, w, i)


@kernel
def _shift(w, i, p, j, h, m):
    """Add an inertia about the origin of body i to that of its parent p, about its own."""
    r = _three(w, i, LEVER)
    a = _cross(r, (m[0], m[1], m[2]))
    b = _cross(r, (m[1], m[3], m[4]))
    c = _cross(r, (m[2], m[4], m[5]))
    g = (
        h[0] + a[0], h[1] + b[0], h[2] + c[0],
        h[3] + a[1], h[4] + b[1], h[5] + c[1],
        h[6] + a[2], h[7] + b[2], h[8] + c[2],
    )  # fmt: skip
    x, y, z = _cross(r, h[0:3]), _cross(r, h[3:6]), _cross(r, h[6:9])
    u, v, t = _cross(r, g[0:3]), _cross(r, g[3:6]), _cross(r, g[6:9])
    _gather(w, p, J, (
        j[0] + x[0] + u[0], j[1] + x[1] + v[0], j[2] + x[2] + t[0],
        j[3] + y[1] + v[1], j[4] + y[2] + t[1], j[5] + z[2] + t[2],
    ))  # fmt: skip
    _gather(w, p, H, g)
    _gather(w, p, M, m)


@kernel
def _inward(tree, body, w, y, rates, effort, floating):
    """Fill articulated inertias and bias forces (Featherstone 2008, equations 7.23 to 7.25)."""
    for i in range(tree.shape[0] - 1, 0, -1):
        p, axis = tree[i, PARENT], _axis(w, i)
        j, h, m = _six(w, i, J), _nine(w, i, H), _six(w, i, M)
        n, f = _three(w, i, FORCE), _three(w, i, FORCE + 3)
        rate = y[rates + tree[i, COLUMN]]
        tau = effort[tree[i, COLUMN]] - body[i, VISCOUS] * rate
        if body[i, DRY] > 0.0:
            tau -= body[i, DRY] * rate / np.sqrt(rate * rate + body[i, SPEED] ** 2)
        if body[i, STIFFNESS] > 0.0:
            tau -= body[i, STIFFNESS] * (y[Q + tree[i, COLUMN]] - body[i, SLACK])
        if tree[i, KIND] == REVOLUTE:
            un, uf = _sym(j, axis), _mul_t(h, axis)
            d, left = _dot(axis, un), tau - _dot(axis, n)
        else:
            un, uf = _mul(h, axis), _sym(m, axis)
            d, left = _dot(axis, uf), tau - _dot(axis, f)
        k = 1.0 / (d + body[i, ARMATURE])
        _put(w, i, GAIN, un)
        _put(w, i, GAIN + 3, uf)
        w[i, SHARE], w[i, LEFT] = k, left
        if p == 0 and not floating:
            continue
        alpha, a = _three(w, i, BIAS), _three(w, i, BIAS + 3)
        j, m = _less(j, un, k), _less(m, uf, k)
        s, t, v = k * un[0], k * un[1], k * un[2]
        h = (
            h[0] - s * uf[0], h[1] - s * uf[1], h[2] - s * uf[2],
            h[3] - t * uf[0], h[4] - t * uf[1], h[5] - t * uf[2],
            h[6] - v * uf[0], h[7] - v * uf[1], h[8] - v * uf[2],
        )  # fmt: skip
        n = _plus(_plus(_plus(n, k * left, un), 1.0, _sym(j, alpha)), 1.0, _mul(h, a))
        f = _plus(_plus(_plus(f, k * left, uf), 1.0, _mul_t(h, alpha)), 1.0, _sym(m, a))
        _shift(w, i, p, j, h, m)
        _gather(w, p, FORCE, _plus(n, 1.0, _cross(_three(w, i, LEVER), f)))
        _gather(w, p, FORCE + 3, f)


@kernel
def _base(w, free, gravity, wrench, matrix, right):
    """Fill the acceleration of the base, gravity's included, under a wrench, torque first."""
    for k in range(6):
        w[0, MOTION + k] = gravity if k == 5 else 0.0
    size = free.shape[0]
    if size == 0:
        return
    at = 0
    for row in range(3):
        for column in range(3):
            matrix[row, 3 + column] = matrix[3 + column, row] = w[0, H + 3 * row + column]
        for column in range(row, 3):
            matrix[row, column] = matrix[column, row] = w[0, J + at]
            matrix[3 + row, 3 + column] = matrix[3 + column, 3 + row] = w[0, M + at]
            at += 1
    for k in range(size):
        row = free[k]
        right[k] = wrench[row] - w[0, FORCE + row] - matrix[row, 5] * gravity
    for k in range(size):  # in place: free is in rising order
        for c in range(size):
            matrix[k, c] = matrix[free[k], free[c]]
    root, x = matrix[:size, :size], right[:size]
    factor(root, root)
    solve(root, x)
    for k in range(size):
        w[0, MOTION + free[k]] += x[k]


@kernel
def slopes(tree, body, free, w, y, effort, wrench, matrix, right, slope):
    """Fill the rates of a state y (13 + 2 n,), by the articulated-body algorithm.

    y holds position (3), quaternion x y z w (4) and q of n joints, then linear (3) and angular
    velocity (3) in the world and qd; `wrench` acts on the base about its origin, torque first.
    """
    n = effort.shape[0]
    rates = Q + n
    gravity = body[0, GRAVITY]
    _turn_base(w, y, rates, slope)
    rates += 6
    floating = free.shape[0] > 0
    _outward(tree, body, w, y, rates, floating)
    _inward(tree, body, w, y, rates, effort, floating)
    _base(w, free, gravity, wrench, matrix, right)
    for i in range(1, tree.shape[0]):
        p, column = tree[i, PARENT], tree[i, COLUMN]
        axis, up = _axis(w, i), _three(w, p, MOTION)
        alpha = _plus(up, 1.0, _three(w, i, BIAS))
        a = _plus(_three(w, p, MOTION + 3), 1.0, _cross(up, _three(w, i, LEVER)))
        a = _plus(a, 1.0, _three(w, i, BIAS + 3))
        un, uf = _three(w, i, GAIN), _three(w, i, GAIN + 3)
        rate = w[i, SHARE] * (w[i, LEFT] - _dot(un, alpha) - _dot(uf, a))
        slope[Q + column] = y[rates + column]
        slope[rates + column] = rate
        if tree[i, KIND] == PRISMATIC:
            a = _plus(a, rate, axis)
        else:
            alpha = _plus(alpha, rate, axis)
        _put(w, i, MOTION, alpha)
        _put(w, i, MOTION + 3, a)
    for d in range(3):
        slope[d] = y[Q + n + d]
        slope[Q + n + d] = w[0, MOTION + 3 + d]
        slope[Q + n + 3 + d] = w[0, MOTION + d]
    slope[Q + n + 2] -= gravity


@kernel
def _turn_base(w, s, rates, slope):
    """Fill the base's rotation and angular velocity, and the rate of its quaternion."""
    x, y, z, r = s[3], s[4], s[5], s[6]
    a, b, c = s[rates + 3], s[rates + 4], s[rates + 5]
    k = 2.0 / (x * x + y * y + z * z + r * r)  # stages leave the unit sphere
    _put(w, 0, ROTATION, (
        1.0 - k * (y * y + z * z), k * (x * y - z * r), k * (x * z + y * r),
        k * (x * y + z * r), 1.0 - k * (x * x + z * z), k * (y * z - x * r),
        k * (x * z - y * r), k * (y * z + x * r), 1.0 - k * (x * x + y * y),
    ))  # fmt: skip
    _put(w, 0, ANGULAR, (a, b, c))
    slope[3] = 0.5 * (a * r + b * z - c * y)
    slope[4] = 0.5 * (b * r + c * x - a * z)
    slope[5] = 0.5 * (c * r + a * y - b * x)
    slope[6] = -0.5 * (a * x + b * y + c * z)


@kernel
def advance(tree, body, free, w, y, effort, wrench, h, count):
    """Take RK4 steps of h [s] on the state y of `slopes`, in place, under held efforts."""
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
    """Fill mass matrix (6 + n, 6 + n) and gravity forces (6 + n,), the base's part linear first.

    By composite rigid bodies (Featherstone 2008, section 6.2), in a state y of `slopes` at rest.
    """
    bodies = tree.shape[0]
    _turn_base(w, y, Q + bodies - 1, np.empty(Q))
    _rigid(body, w, 0)
    for i in range(1, bodies):
        _pose(tree, body, w, i, y[Q + tree[i, COLUMN]])
        _rigid(body, w, i)
    for i in range(bodies - 1, 0, -1):
        j, h, m = _six(w, i, J), _nine(w, i, H), _six(w, i, M)
        _shift(w, i, tree[i, PARENT], j, h, m)
        axis, row = _axis(w, i), 6 + tree[i, COLUMN]
        if tree[i, KIND] == REVOLUTE:
            n, f = _sym(j, axis), _mul_t(h, axis)
        else:
            n, f = _mul(h, axis), _sym(m, axis)
        gravity[row] = body[0, GRAVITY] * f[2]
        at = i
        while at:
            column, along = 6 + tree[at, COLUMN], _axis(w, at)
            mass[row, column] = _dot(along, n if tree[at, KIND] == REVOLUTE else f)
            mass[column, row] = mass[row, column]
            n = _plus(n, 1.0, _cross(_three(w, at, LEVER), f))
            at = tree[at, PARENT]
        mass[row, row] += body[i, ARMATURE]
        for d in range(3):
            mass[row, d] = mass[d, row] = f[d]
            mass[row, 3 + d] = mass[3 + d, row] = n[d]
    at = 0
    for row in range(3):
        for column in range(3):
            mass[3 + row, column] = mass[column, 3 + row] = w[0, H + 3 * row + column]
        for column in range(row, 3):
            mass[3 + row, 3 + column] = mass[3 + column, 3 + row] = w[0, J + at]
            mass[row, column] = mass[column, row] = w[0, M + at]
            at += 1
    for row in range(6):
        gravity[row] = body[0, GRAVITY] * mass[row, 2]
