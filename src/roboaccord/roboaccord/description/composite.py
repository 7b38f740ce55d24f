"""Kernel of composite rigid bodies: mass matrix, gravity forces (Featherstone 2008, section 6.2).

The equations are fixed by the book, the order of operations by the hashes of reference runs. Rows
of bodies and their columns are explained in bodies.py.
"""

from __future__ import annotations  # noqa: I001 (names are packed)

import numpy as np

from roboaccord.description.bodies import (
    ARMATURE, COLUMN, GRAVITY, KIND, LEVER, PARENT, H, J, M, Q, joint_axis, pose, rigid, shift,
    turn_base,
)  # fmt: skip
from roboaccord.description.kinematics import REVOLUTE
from roboaccord.description.tuples import (
    cross, dot, nine, plus, six, sym_times, three, times, times_t,
)  # fmt: skip
from roboaccord.numerics.jit import kernel


@kernel
def composite(tree, body, w, y, mass, gravity):
    """Fill mass matrix (6 + n, 6 + n) and gravity forces (6 + n,), those of the base linear first.

    The state y is that of `articulated.slopes`, at rest.
    """
    bodies = tree.shape[0]
    turn_base(w, y, Q + bodies - 1, np.empty(Q))
    rigid(body, w, 0)
    for i in range(1, bodies):
        pose(tree, body, w, i, y[Q + tree[i, COLUMN]])
        rigid(body, w, i)
    for i in range(bodies - 1, 0, -1):
        j, h, m = six(w, i, J), nine(w, i, H), six(w, i, M)
        shift(w, i, tree[i, PARENT], j, h, m)
        axis, row = joint_axis(w, i), 6 + tree[i, COLUMN]
        if tree[i, KIND] == REVOLUTE:
            n, f = sym_times(j, axis), times_t(h, axis)
        else:
            n, f = times(h, axis), sym_times(m, axis)
        gravity[row] = body[0, GRAVITY] * f[2]
        at = i
        while at:
            column, along = 6 + tree[at, COLUMN], joint_axis(w, at)
            mass[row, column] = dot(along, n if tree[at, KIND] == REVOLUTE else f)
            mass[column, row] = mass[row, column]
            n = plus(n, 1.0, cross(three(w, at, LEVER), f))
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
