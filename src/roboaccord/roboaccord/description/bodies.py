"""Bodies of a tree as rows of numbers: names of the columns, and kernels of pose and inertia.

A body consists of links that are fixed to each other. dynamics.py makes the arrays, and the
algorithms of articulated.py work on them. Each has a row for each body, the base first:

    tree    parent, kind and column of its joint
    body    what the description states (BODY_COLUMNS numbers)
    work    what the kernels compute at a state (WORK_COLUMNS numbers)

The constants below are the first column of a quantity; in brackets is how many columns it takes.
The kernels go over the bodies one by one: `fill_pose` and `fill_inertia` from the base outward,
`add_to_parent` from the tips inward.

Every computed quantity of a body is about the origin of its own frame, which is on its joint's
axis, so that no digits are lost where a light link is far from the base. It is along the axes of
the world, so that inertias pass to a parent by a shift alone. An inertia maps angular acceleration
alpha and linear acceleration a to torque n and force f:

    n = J alpha + H a,    f = H' alpha + M a

J and M are symmetric and stored as xx xy xz yy yz zz, H by rows. Columns may be added at the end,
with BODY_COLUMNS or WORK_COLUMNS raised. The order of operations is fixed by the hashes of
reference runs.
"""

from __future__ import annotations  # noqa: I001 (names are packed)

import numpy as np

from roboaccord.description.kinematics import REVOLUTE
from roboaccord.description.tuples import (
    accumulate, add_scaled, combine, cross, mat_vec, matrix_at, rotate_sym, store, sym_vec,
    symmetric_at, vector_at,
)  # fmt: skip
from roboaccord.numerics.jit import kernel

# Columns of `tree`: number of the parent, kind of joint (kinematics.py), and its column in q.
PARENT, JOINT_KIND, JOINT_COLUMN = 0, 1, 2

# Columns of `body`: what the description states.
ORIGIN = 0  # position of its joint in the parent's frame (3) [m]
AXES = 3  # axes of its frame in the parent's where q is 0, the joint along z (9)
MASS = 12  # [kg]
CENTRE = 13  # centre of mass in its frame (3) [m]
INERTIA = 16  # about the origin of its frame (6) [kg m^2]
ARMATURE = 22  # inertia that a rotor adds at its joint [kg m^2 or kg]
VISCOUS = 23  # damping of its joint [N m s/rad or N s/m]
DRY_FRICTION = 24  # dry friction of its joint [N m or N]
FADING_SPEED = 25  # rate below which the dry friction fades to 0 [rad/s or m/s]
GRAVITY = 26  # downward, in the row of the base only [m/s^2]
STIFFNESS = 27  # of the spring of its joint [N m/rad or N/m]
SLACK_POSITION = 28  # position of its joint without spring force [rad or m]
BODY_COLUMNS = 29  # number of columns

# Columns of `work`: what the kernels compute, from LEVER on along the axes of the world.
ROTATION = 0  # axes of its frame in the world (9)
LEVER = 9  # from the parent's origin to its own (3) [m]
ANGULAR = 12  # angular velocity (3) [rad/s]
BIAS_ACCELERATION = 15  # acceleration due to velocities, angular and linear (6) [rad/s^2, m/s^2]
J, H, M = 21, 27, 36  # blocks of the articulated inertia (6), (9), (6) [kg m^2, kg m, kg]
BIAS_FORCE = 42  # bias force: torque and force (6) [N m, N]
GAIN = 48  # torque and force of a unit acceleration at the joint, U (6)
COMPLIANCE = 54  # acceleration of its joint by a unit effort, 1 / D
NET_EFFORT = 55  # effort of its joint less the bias force along it, u [N m or N]
ACCELERATION = 56  # acceleration, angular and linear (6) [rad/s^2, m/s^2]
WORK_COLUMNS = 62  # number of columns

LINEAR = 3  # columns from the angular to the linear half of a twist, wrench or acceleration
Q = 7  # index in a state at which the joints' positions begin: position (3), quaternion (4)


@kernel
def joint_axis(work, i):
    """Return the axis of body i's joint in the world, which is the third column of its rotation."""
    return work[i, ROTATION + 2], work[i, ROTATION + 5], work[i, ROTATION + 8]


@kernel
def fill_pose(tree, body, work, i, q):
    """Fill rotation and lever of body i from its parent's; return its joint's axis in the world.

    Args:
        tree, body, work: rows of all bodies.
        i: number of the body.
        q: position of its joint [rad or m].
    """
    parent_rotation = matrix_at(work, tree[i, PARENT], ROTATION)
    axes = matrix_at(body, i, AXES)
    lever = mat_vec(parent_rotation, vector_at(body, i, ORIGIN))
    # Axes of the body in the world where its joint is at 0: the columns of `axes`, which has rows.
    # Then the joint moves along or about z.
    x = mat_vec(parent_rotation, (axes[0], axes[3], axes[6]))
    y = mat_vec(parent_rotation, (axes[1], axes[4], axes[7]))
    z = mat_vec(parent_rotation, (axes[2], axes[5], axes[8]))
    if tree[i, JOINT_KIND] == REVOLUTE:
        c, s = np.cos(q), np.sin(q)
        x, y = combine(x, y, c, s), combine(y, x, c, -s)
    else:
        lever = add_scaled(lever, q, z)
    store(work, i, ROTATION, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))
    store(work, i, LEVER, lever)
    return z


@kernel
def fill_inertia(body, work, i):
    """Fill inertia and bias force of body i alone, without the bodies that it carries."""
    rotation = matrix_at(work, i, ROTATION)
    mass = body[i, MASS]
    centre = mat_vec(rotation, vector_at(body, i, CENTRE))
    j = rotate_sym(rotation, symmetric_at(body, i, INERTIA))
    mx, my, mz = mass * centre[0], mass * centre[1], mass * centre[2]
    omega = vector_at(work, i, ANGULAR)
    store(work, i, J, j)
    # H is the matrix of m c x, and M the mass on the diagonal.
    store(work, i, H, (0.0, -mz, my, mz, 0.0, -mx, -my, mx, 0.0))
    store(work, i, M, (mass, 0.0, 0.0, mass, 0.0, mass))
    # Bias of a rotating body, with w for omega: torque w x J w and force w x (w x m c).
    store(work, i, BIAS_FORCE, cross(omega, sym_vec(j, omega)))
    store(work, i, BIAS_FORCE + LINEAR, cross(omega, cross(omega, (mx, my, mz))))


@kernel
def add_to_parent(work, i, parent, j, h, m):
    """Add an inertia (j, h, m) about the origin of body i to that of its parent.

    With the lever r, and the matrix R of r x: H_p = H + R M and J_p = J + H R' + R H_p'.
    """
    r = vector_at(work, i, LEVER)
    # Columns of R M, and with them H_p.
    rm0 = cross(r, (m[0], m[1], m[2]))
    rm1 = cross(r, (m[1], m[3], m[4]))
    rm2 = cross(r, (m[2], m[4], m[5]))
    hp = (
        h[0] + rm0[0], h[1] + rm1[0], h[2] + rm2[0],
        h[3] + rm0[1], h[4] + rm1[1], h[5] + rm2[1],
        h[6] + rm0[2], h[7] + rm1[2], h[8] + rm2[2],
    )  # fmt: skip
    # Rows of H R', and columns of R H_p'.
    hr0, hr1, hr2 = cross(r, h[0:3]), cross(r, h[3:6]), cross(r, h[6:9])
    rh0, rh1, rh2 = cross(r, hp[0:3]), cross(r, hp[3:6]), cross(r, hp[6:9])
    accumulate(work, parent, J, (
        j[0] + hr0[0] + rh0[0], j[1] + hr0[1] + rh1[0], j[2] + hr0[2] + rh2[0],
        j[3] + hr1[1] + rh1[1], j[4] + hr1[2] + rh2[1], j[5] + hr2[2] + rh2[2],
    ))  # fmt: skip
    accumulate(work, parent, H, hp)
    accumulate(work, parent, M, m)


@kernel
def fill_base(work, state, rates, slope):
    """Fill the base's rotation and angular velocity, and the derivative of its quaternion.

    Args:
        work: rows of all bodies.
        state: as of `articulated.slopes`.
        rates: index of the base's velocities in it.
        slope: derivative of the state, of which the quaternion's is filled.
    """
    x, y, z, w = state[3], state[4], state[5], state[6]  # quaternion, behind the position
    # dq/dt = (wx, wy, wz, 0) q / 2, with the angular velocity in the world.
    wx, wy, wz = state[rates + 3], state[rates + 4], state[rates + 5]  # behind the linear velocity
    k = 2.0 / (x * x + y * y + z * z + w * w)  # stages of a step have other lengths
    store(work, 0, ROTATION, (
        1.0 - k * (y * y + z * z), k * (x * y - z * w), k * (x * z + y * w),
        k * (x * y + z * w), 1.0 - k * (x * x + z * z), k * (y * z - x * w),
        k * (x * z - y * w), k * (y * z + x * w), 1.0 - k * (x * x + y * y),
    ))  # fmt: skip
    store(work, 0, ANGULAR, (wx, wy, wz))
    slope[3] = 0.5 * (wx * w + wy * z - wz * y)
    slope[4] = 0.5 * (wy * w + wz * x - wx * z)
    slope[5] = 0.5 * (wz * w + wx * y - wy * x)
    slope[6] = -0.5 * (wx * x + wy * y + wz * z)
