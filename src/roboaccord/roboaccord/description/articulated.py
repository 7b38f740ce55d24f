"""Forward dynamics and mass matrix of a tree of bodies, as compiled kernels.

Accelerations come from the articulated-body algorithm (`slopes`; `advance` integrates them by the
classical Runge-Kutta method), mass matrix and gravity forces from composite rigid bodies
(`composite`): Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 7 and 6. Both go from
the base outward for poses and velocities, and from the tips inward for inertias and forces.

A body is a row of numbers in three arrays: `tree` and `body` state what the description has, `work`
what is computed; bodies.py names and explains the columns. Twists and wrenches take six columns,
of which the linear half begins LINEAR behind the angular one. dynamics.py makes the arrays and
calls the kernels. Vectors are tuples of numbers (tuples.py). Accelerations are those of points, not
spatial ones, and gravity is an upward acceleration of the base.

In the kernels, j, h and m are the blocks J, H and M of an inertia (bodies.py), n and f a torque and
a force, alpha and a an angular and a linear acceleration; i is the number of a body and d that of a
component x, y or z.

The equations are fixed by the book (test_dynamics compares with a double pendulum, Euler's
equations and Pinocchio), the order of operations by the hashes of reference runs.
"""

from __future__ import annotations  # noqa: I001 (names are packed)

import numpy as np

from roboaccord.description.bodies import (
    ACCELERATION, ANGULAR, ARMATURE, BIAS_ACCELERATION, BIAS_FORCE, COMPLIANCE, DRY_FRICTION,
    FADING_SPEED, GAIN, GRAVITY, JOINT_COLUMN, JOINT_KIND, LEVER, LINEAR, NET_EFFORT, PARENT,
    SLACK_POSITION, STIFFNESS, VISCOUS, H, J, M, Q, add_to_parent, fill_base, fill_inertia,
    fill_pose, joint_axis,
)  # fmt: skip
from roboaccord.description.kinematics import PRISMATIC, REVOLUTE
from roboaccord.description.tuples import (
    accumulate, add, add_scaled, cross, dot, mat_t_vec, mat_vec, matrix_at, minus_outer,
    minus_product, store, sym_vec, symmetric_at, vector_at,
)  # fmt: skip
from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel
from roboaccord.numerics.runge_kutta import rk4_stage


@kernel
def slopes(tree, body, free, work, y, effort, wrench, matrix, rhs, slope):
    """Fill `slope` with the derivative of a state y by time, by the articulated-body algorithm.

    Args:
        tree: parent, kind and column of the joint of each of k bodies, the base first (k, 3).
        body: their properties, in the columns of bodies.py (k, BODY_COLUMNS).
        free: components of the base's twist, angular first, that can change; ascending.
        work: what is computed of the bodies, filled (k, WORK_COLUMNS).
        y: state (13 + 2 n,): position (3), quaternion x y z w (4) and q of n joints, then linear
            (3) and angular velocity (3) in the world and qd.
        effort: of the joints (n,) [N m or N].
        wrench: on the base about its origin in the world, torque first (6,) [N m, N].
        matrix, rhs: work space for the equations of the base (6, 6) and their right-hand side (6,).
        slope: derivative of the state, filled (13 + 2 n,).
    """
    base_rates = Q + effort.shape[0]  # index in y of the base's velocities
    rates = base_rates + 6  # index in y of the joints' rates
    gravity = body[0, GRAVITY]
    fill_base(work, y, base_rates, slope)
    floating = free.shape[0] > 0
    _fill_motions(tree, body, work, y, rates, floating)
    _fill_articulated(tree, body, work, y, rates, effort, floating)
    _fill_base_acceleration(work, free, gravity, wrench, matrix, rhs)
    _fill_joint_accelerations(tree, work, y, rates, slope)
    # The base, whose acceleration contains that of gravity.
    for d in range(3):
        slope[d] = y[base_rates + d]
        slope[base_rates + d] = work[0, ACCELERATION + LINEAR + d]
        slope[base_rates + 3 + d] = work[0, ACCELERATION + d]
    slope[base_rates + 2] -= gravity


@kernel
def advance(tree, body, free, work, y, effort, wrench, step, count):
    """Take `count` Runge-Kutta steps [s] on a state in place; other arguments as of `slopes`.

    Efforts and wrench are held; the quaternion is normalised after each step.
    """
    matrix, rhs = np.empty((6, 6)), np.empty(6)
    slope, stage, end = np.zeros_like(y), y.copy(), y.copy()
    for _ in range(count):
        stage[:] = y
        end[:] = y
        for k in range(4):
            slopes(tree, body, free, work, stage, effort, wrench, matrix, rhs, slope)
            rk4_stage(k, step, y, slope, stage, end)
        norm = np.sqrt(end[3] ** 2 + end[4] ** 2 + end[5] ** 2 + end[6] ** 2)
        end[3:Q] /= norm  # the quaternion
        y[:] = end


@kernel
def composite(tree, body, work, y, mass, gravity):
    """Fill mass matrix (6 + n, 6 + n) and gravity forces (6 + n,), those of the base linear first.

    By composite rigid bodies (Featherstone 2008, section 6.2).

    Args:
        tree, body, work: as of `slopes`.
        y: state at rest, as of `slopes`.
        mass, gravity: filled.
    """
    # Poses and single inertias, outward.
    bodies = tree.shape[0]
    fill_base(work, y, Q + bodies - 1, np.empty_like(y[:Q]))
    fill_inertia(body, work, 0)
    for i in range(1, bodies):
        fill_pose(tree, body, work, i, y[Q + tree[i, JOINT_COLUMN]])
        fill_inertia(body, work, i)
    # Composite inertias, inward: of each body with all that it carries.
    for i in range(bodies - 1, 0, -1):
        j, h, m = symmetric_at(work, i, J), matrix_at(work, i, H), symmetric_at(work, i, M)
        add_to_parent(work, i, tree[i, PARENT], j, h, m)
        axis = joint_axis(work, i)
        row = 6 + tree[i, JOINT_COLUMN]  # behind the six rows of the base
        if tree[i, JOINT_KIND] == REVOLUTE:
            n, f = sym_vec(j, axis), mat_t_vec(h, axis)
        else:
            n, f = mat_vec(h, axis), sym_vec(m, axis)
        gravity[row] = body[0, GRAVITY] * f[2]
        # A unit acceleration of this joint needs torque n and force f, which act on all joints that
        # carry it; n is shifted from body to body.
        carrier = i
        while carrier:
            column = 6 + tree[carrier, JOINT_COLUMN]
            carrier_axis = joint_axis(work, carrier)
            mass[row, column] = dot(carrier_axis, n if tree[carrier, JOINT_KIND] == REVOLUTE else f)
            mass[column, row] = mass[row, column]
            n = add(n, cross(vector_at(work, carrier, LEVER), f))
            carrier = tree[carrier, PARENT]
        mass[row, row] += body[i, ARMATURE]
        for d in range(3):
            mass[row, d] = mass[d, row] = f[d]
            mass[row, 3 + d] = mass[3 + d, row] = n[d]
    # The base's own block, and gravity on the base.
    _fill_base_inertia(work, mass, 3, 0)
    for row in range(6):
        gravity[row] = body[0, GRAVITY] * mass[row, 2]


@kernel
def _fill_motions(tree, body, work, y, rates, floating):
    """Fill poses, angular velocities, bias accelerations, and the inertia of each single body.

    Args:
        tree, body, work: rows of all bodies.
        y: state, as of `slopes`.
        rates: index in y of the joints' rates.
        floating: whether the base moves.
    """
    if floating:
        fill_inertia(body, work, 0)
    for i in range(1, tree.shape[0]):
        column = tree[i, JOINT_COLUMN]
        rate = y[rates + column]
        axis = fill_pose(tree, body, work, i, y[Q + column])
        omega = vector_at(work, tree[i, PARENT], ANGULAR)
        # Bias acceleration, with all joints' accelerations at 0, and w for omega: w x (w x lever),
        # and for the joint w x axis rate if it turns, 2 w x axis rate (Coriolis) if it slides.
        spin = cross(omega, axis)
        a = cross(omega, cross(omega, vector_at(work, i, LEVER)))
        alpha = (rate * spin[0], rate * spin[1], rate * spin[2])
        if tree[i, JOINT_KIND] == REVOLUTE:
            omega = add_scaled(omega, rate, axis)
        else:
            a = add_scaled(a, 2.0, alpha)
            alpha = (0.0, 0.0, 0.0)
        store(work, i, ANGULAR, omega)
        store(work, i, BIAS_ACCELERATION, alpha)
        store(work, i, BIAS_ACCELERATION + LINEAR, a)
        fill_inertia(body, work, i)


@kernel
def _fill_articulated(tree, body, work, y, rates, effort, floating):
    """Fill articulated inertias and bias forces (Featherstone 2008, equations 7.23 to 7.25).

    Arguments are those of `_fill_motions`, and the efforts of the joints (n,).
    """
    for i in range(tree.shape[0] - 1, 0, -1):
        # Articulated inertia of the body, complete by now, and its bias torque n and force f.
        parent, axis = tree[i, PARENT], joint_axis(work, i)
        j, h, m = symmetric_at(work, i, J), matrix_at(work, i, H), symmetric_at(work, i, M)
        n, f = vector_at(work, i, BIAS_FORCE), vector_at(work, i, BIAS_FORCE + LINEAR)
        # Effort of the joint, less its friction and its spring.
        rate = y[rates + tree[i, JOINT_COLUMN]]
        tau = effort[tree[i, JOINT_COLUMN]] - body[i, VISCOUS] * rate
        if body[i, DRY_FRICTION] > 0.0:
            tau -= body[i, DRY_FRICTION] * rate / np.sqrt(rate * rate + body[i, FADING_SPEED] ** 2)
        if body[i, STIFFNESS] > 0.0:
            tau -= body[i, STIFFNESS] * (y[Q + tree[i, JOINT_COLUMN]] - body[i, SLACK_POSITION])
        # With the axis s: U = I s (torque un, force uf), D = s' U (`axis_inertia`), and
        # u = tau - s' p (`remainder`).
        if tree[i, JOINT_KIND] == REVOLUTE:
            un, uf = sym_vec(j, axis), mat_t_vec(h, axis)
            axis_inertia, remainder = dot(axis, un), tau - dot(axis, n)
        else:
            un, uf = mat_vec(h, axis), sym_vec(m, axis)
            axis_inertia, remainder = dot(axis, uf), tau - dot(axis, f)
        inverse_d = 1.0 / (axis_inertia + body[i, ARMATURE])
        store(work, i, GAIN, un)
        store(work, i, GAIN + LINEAR, uf)
        work[i, COMPLIANCE] = inverse_d
        work[i, NET_EFFORT] = remainder
        if parent == 0 and not floating:
            continue
        # What the parent feels: Ia = I - U U' / D and pa = p + Ia c + U u / D, with the bias c.
        alpha = vector_at(work, i, BIAS_ACCELERATION)
        a = vector_at(work, i, BIAS_ACCELERATION + LINEAR)
        j, m = minus_outer(j, un, inverse_d), minus_outer(m, uf, inverse_d)
        h = minus_product(h, un, uf, inverse_d)
        n = add_scaled(n, inverse_d * remainder, un)
        f = add_scaled(f, inverse_d * remainder, uf)
        n = add(add(n, sym_vec(j, alpha)), mat_vec(h, a))
        f = add(add(f, mat_t_vec(h, alpha)), sym_vec(m, a))
        add_to_parent(work, i, parent, j, h, m)
        accumulate(work, parent, BIAS_FORCE, add(n, cross(vector_at(work, i, LEVER), f)))
        accumulate(work, parent, BIAS_FORCE + LINEAR, f)


@kernel
def _fill_base_acceleration(work, free, gravity, wrench, matrix, rhs):
    """Fill the acceleration of the base under a wrench, torque first; gravity is part of it.

    Args:
        work: rows of all bodies.
        free: components of the base's twist, angular first, that can change; ascending.
        gravity: upward acceleration that stands for gravity [m/s^2].
        wrench: torque and force on the base (6,).
        matrix, rhs: work space for the equations of the base (6, 6) and their right-hand side (6,).
    """
    for k in range(6):
        work[0, ACCELERATION + k] = gravity if k == 5 else 0.0  # 5: along z
    size = free.shape[0]
    if size == 0:
        return
    _fill_base_inertia(work, matrix, 0, 3)
    # Equations of the free components, solved by a Cholesky factor.
    for k in range(size):
        row = free[k]
        rhs[k] = wrench[row] - work[0, BIAS_FORCE + row] - matrix[row, 5] * gravity
    for k in range(size):  # in place, for `free` is in ascending order
        for c in range(size):
            matrix[k, c] = matrix[free[k], free[c]]
    root, solution = matrix[:size, :size], rhs[:size]
    factor(root, root)
    solve(root, solution)
    for k in range(size):
        work[0, ACCELERATION + free[k]] += solution[k]


@kernel
def _fill_base_inertia(work, matrix, angular, linear):
    """Fill the base's block of a matrix, symmetric, from the blocks J, H and M of its inertia.

    Args:
        work: rows of all bodies.
        matrix: filled in six of its rows and columns.
        angular, linear: first of the three rows of angular and of linear acceleration.
    """
    entry = 0  # in the stored half of J and M: xx xy xz yy yz zz
    for row in range(3):
        torque_row, force_row = angular + row, linear + row
        for column in range(3):
            coupling = work[0, H + 3 * row + column]
            matrix[torque_row, linear + column] = matrix[linear + column, torque_row] = coupling
        for column in range(row, 3):
            moment, mass = work[0, J + entry], work[0, M + entry]
            matrix[torque_row, angular + column] = matrix[angular + column, torque_row] = moment
            matrix[force_row, linear + column] = matrix[linear + column, force_row] = mass
            entry += 1


@kernel
def _fill_joint_accelerations(tree, work, y, rates, slope):
    """Fill accelerations of bodies and joints, outward (Featherstone 2008, section 7.3).

    With the bias c, the axis s, and U, u, D of `_fill_articulated`: a' = a_parent + c,
    qdd = (u - U' a') / D, and a = a' + s qdd.

    Args:
        tree, work: rows of all bodies; the acceleration of the base is filled.
        y: state, as of `slopes`.
        rates: index in y of the joints' rates.
        slope: derivative of the state, of which positions and rates of the joints are filled.
    """
    for i in range(1, tree.shape[0]):
        parent, column = tree[i, PARENT], tree[i, JOINT_COLUMN]
        axis, parent_alpha = joint_axis(work, i), vector_at(work, parent, ACCELERATION)
        alpha = add(parent_alpha, vector_at(work, i, BIAS_ACCELERATION))
        from_lever = cross(parent_alpha, vector_at(work, i, LEVER))
        a = add(vector_at(work, parent, ACCELERATION + LINEAR), from_lever)
        a = add(a, vector_at(work, i, BIAS_ACCELERATION + LINEAR))
        un, uf = vector_at(work, i, GAIN), vector_at(work, i, GAIN + LINEAR)
        qdd = work[i, COMPLIANCE] * (work[i, NET_EFFORT] - dot(un, alpha) - dot(uf, a))
        slope[Q + column] = y[rates + column]
        slope[rates + column] = qdd
        if tree[i, JOINT_KIND] == PRISMATIC:
            a = add_scaled(a, qdd, axis)
        else:
            alpha = add_scaled(alpha, qdd, axis)
        store(work, i, ACCELERATION, alpha)
        store(work, i, ACCELERATION + LINEAR, a)
