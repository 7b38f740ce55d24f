"""Bodies of a tree as rows of numbers: names of their columns, and kernels of pose and inertia.

A body consists of links that are fixed to each other. The algorithms of articulated.py work on
three arrays with a row for each body, the base first: `tree` (parent, kind and column of its
joint), `body` (what is known: KNOWN numbers) and `w` (what kernels fill: FILLED numbers).

Every quantity of a body is about the origin of its own frame, which is on its joint's axis, so that
no digits are lost where a light link is far from the base; it is along the axes of the world, so
that inertias pass to a parent by a shift alone. An inertia maps angular acceleration alpha and
linear acceleration a to torque n and force f:

    n = J alpha + H a,    f = H' alpha + M a

J and M are symmetric and stored as xx xy xz yy yz zz, H by rows. Columns may be added at the end,
with KNOWN or FILLED raised. The order of operations is fixed by the hashes of reference runs.
"""

from __future__ import annotations  # noqa: I001 (names are packed)

import numpy as np

from roboaccord.description.kinematics import REVOLUTE
from roboaccord.description.tuples import (
    cross, gather, nine, plus, put, six, sym_times, three, times, turn, turned,
)  # fmt: skip
from roboaccord.numerics.jit import kernel

# Columns of `body`: what is known.
PLACE = 0  # origin of its joint in the parent's frame (3) [m]
TURN = 3  # axes of its frame in the parent's where q is 0, the joint along z (9)
MASS = 12  # [kg]
CENTRE = 13  # of mass, in its frame (3) [m]
INERTIA = 16  # about its origin (6) [kg m^2]
ARMATURE = 22  # added to the inertia at its joint [kg m^2 or kg]
# Friction of its joint: damping [N m s/rad], dry friction [N m], and the rate below which dry
# friction fades to 0 [rad/s].
VISCOUS, DRY, SPEED = 23, 24, 25
GRAVITY = 26  # downward, in the row of the base only [m/s^2]
STIFFNESS, SLACK = 27, 28  # spring of its joint [N m/rad], and position without spring force [rad]
KNOWN = 29  # number of columns

# Columns of `w`: what the kernels fill.
ROTATION = 0  # axes in the world (9)
LEVER = 9  # from the parent's origin to its own (3) [m]; this and all below along the world's axes
ANGULAR = 12  # velocity (3) [rad/s]
BIAS = 15  # acceleration due to velocities, angular and linear (6)
J, H, M = 21, 27, 36  # articulated inertia (6), (9), (6)
FORCE = 42  # bias force: torque and force (6)
GAIN = 48  # torque and force of a unit acceleration at the joint (6)
# Acceleration of its joint by a unit effort, 1 / D, and its effort less the bias force.
SHARE, REMAINDER = 54, 55
MOTION = 56  # acceleration, angular and linear (6)
FILLED = 62  # number of columns

# Columns of `tree`: number of the parent, kind of joint, and its column in q.
PARENT, KIND, COLUMN = 0, 1, 2

Q = 7  # index in a state at which the joints' positions begin


@kernel
def joint_axis(w, i):
    """Return the axis of body i's joint in the world, which is the third column of its rotation."""
    return w[i, ROTATION + 2], w[i, ROTATION + 5], w[i, ROTATION + 8]


@kernel
def pose(tree, body, w, i, angle):
    """Fill rotation and lever of body i from its parent's; return its joint's axis in the world.

    Args:
        tree, body, w: rows of all bodies.
        i: number of the body.
        angle: position of its joint [rad or m].
    """
    parent_turn = nine(w, tree[i, PARENT], ROTATION)
    t = nine(body, i, TURN)
    lever = times(parent_turn, three(body, i, PLACE))
    # Axes of the body in the world where its joint is at 0; then the joint moves along or about z.
    x = times(parent_turn, (t[0], t[3], t[6]))
    y = times(parent_turn, (t[1], t[4], t[7]))
    z = times(parent_turn, (t[2], t[5], t[8]))
    if tree[i, KIND] == REVOLUTE:
        c, s = np.cos(angle), np.sin(angle)
        x, y = turn(x, y, c, s), turn(y, x, c, -s)
    else:
        lever = plus(lever, angle, z)
    put(w, i, ROTATION, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))
    put(w, i, LEVER, lever)
    return z


@kernel
def rigid(body, w, i):
    """Fill inertia and bias force of body i alone, without the bodies that it carries."""
    r = nine(w, i, ROTATION)
    m = body[i, MASS]
    c = times(r, three(body, i, CENTRE))
    j = turned(r, six(body, i, INERTIA))
    h = (m * c[0], m * c[1], m * c[2])
    omega = three(w, i, ANGULAR)
    put(w, i, J, j)
    put(w, i, H, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0))
    put(w, i, M, (m, 0.0, 0.0, m, 0.0, m))
    # Bias of a rotating body: torque w x J w and force w x (w x m c).
    put(w, i, FORCE, cross(omega, sym_times(j, omega)))
    put(w, i, FORCE + 3, cross(omega, cross(omega, h)))


@kernel
def shift(w, i, p, j, h, m):
    """Add an inertia (j, h, m) about the origin of body i to that of its parent p.

    With the lever r, and the matrix R of r x: H_p = H + R M and J_p = J + H R' + R H_p'.
    """
    r = three(w, i, LEVER)
    a = cross(r, (m[0], m[1], m[2]))
    b = cross(r, (m[1], m[3], m[4]))
    c = cross(r, (m[2], m[4], m[5]))
    g = (
        h[0] + a[0], h[1] + b[0], h[2] + c[0],
        h[3] + a[1], h[4] + b[1], h[5] + c[1],
        h[6] + a[2], h[7] + b[2], h[8] + c[2],
    )  # fmt: skip
    x, y, z = cross(r, h[0:3]), cross(r, h[3:6]), cross(r, h[6:9])
    u, v, t = cross(r, g[0:3]), cross(r, g[3:6]), cross(r, g[6:9])
    gather(w, p, J, (
        j[0] + x[0] + u[0], j[1] + x[1] + v[0], j[2] + x[2] + t[0],
        j[3] + y[1] + v[1], j[4] + y[2] + t[1], j[5] + z[2] + t[2],
    ))  # fmt: skip
    gather(w, p, H, g)
    gather(w, p, M, m)


@kernel
def turn_base(w, s, rates, slope):
    """Fill the base's rotation and angular velocity, and the derivative of its quaternion.

    Args:
        w: rows of all bodies.
        s: state, as of `articulated.slopes`.
        rates: index of the base's velocities in it.
        slope: derivative of the state, of which the quaternion's is filled.
    """
    x, y, z, r = s[3], s[4], s[5], s[6]
    # dq/dt = (a, b, c, 0) q / 2, with the angular velocity in the world.
    a, b, c = s[rates + 3], s[rates + 4], s[rates + 5]
    k = 2.0 / (x * x + y * y + z * z + r * r)  # stages of a step have other lengths
    put(w, 0, ROTATION, (
        1.0 - k * (y * y + z * z), k * (x * y - z * r), k * (x * z + y * r),
        k * (x * y + z * r), 1.0 - k * (x * x + z * z), k * (y * z - x * r),
        k * (x * z - y * r), k * (y * z + x * r), 1.0 - k * (x * x + y * y),
    ))  # fmt: skip
    put(w, 0, ANGULAR, (a, b, c))
    slope[3] = 0.5 * (a * r + b * z - c * y)
    slope[4] = 0.5 * (b * r + c * x - a * z)
    slope[5] = 0.5 * (c * r + a * y - b * x)
    slope[6] = -0.5 * (a * x + b * y + c * z)
