"""Kinematics of the chain: centres and velocities of its links, from headings and their rates.

Links are numbered from the head (0) to the tail (N - 1), with absolute headings th. Joint j lies a
behind the centre of link j and b ahead of the centre of link j + 1. The kernels sum up from the
tail to the head, and then shift all values so that their mean is that of the centre of mass; that
is right because all links have the same mass. The caller allocates the arrays, and the kernels fill
them. `body`, in all kernels of the snake, is (a, b, m, J) of a link [m, m, kg, kg m^2]: the two
distances, its mass, and its inertia about the vertical through its centre.

The order of the sums must stay, for hashes of runs depend on it.
"""

import math

from roboaccord.numerics import kernel


@kernel
def cosines(th, c, s):
    """Fill c with the cosines and s with the sines of headings th (N,) [rad]."""
    for j in range(th.shape[0]):
        c[j] = math.cos(th[j])
        s[j] = math.sin(th[j])


@kernel
def set_mean(x, mean):
    """Add a constant to x (N,), in place, such that its mean is `mean`."""
    n, total = x.shape[0], 0.0
    for j in range(n):
        total += x[j]
    for j in range(n):
        x[j] += mean - total / n


@kernel
def link_velocities(body, c, s, vx, vy, w, lx, ly):
    """Fill lx, ly (N,) with the velocities of the links' centres [m/s].

    Args:
        body: (a, b, m, J) of a link.
        c, s: cosines and sines of the headings (N,).
        vx, vy: velocity of the centre of mass [m/s].
        w: rates of the headings (N,) [rad/s].
        lx, ly: filled.
    """
    a, b, _, _ = body
    n = c.shape[0]
    lx[n - 1], ly[n - 1] = 0.0, 0.0
    mean_x, mean_y = 0.0, 0.0
    for j in range(n - 2, -1, -1):
        lx[j] = lx[j + 1] - a * s[j] * w[j] - b * s[j + 1] * w[j + 1]
        ly[j] = ly[j + 1] + a * c[j] * w[j] + b * c[j + 1] * w[j + 1]
        mean_x += lx[j]
        mean_y += ly[j]
    for j in range(n):
        lx[j] += vx - mean_x / n
        ly[j] += vy - mean_y / n


@kernel
def link_positions(body, c, s, x, y, px, py):
    """Fill px, py (N,) with the positions of the links' centres [m]; x, y is the centre of mass.

    The other arguments are those of `link_velocities`.
    """
    a, b, _, _ = body
    n = c.shape[0]
    px[n - 1], py[n - 1] = 0.0, 0.0
    for j in range(n - 2, -1, -1):
        px[j] = px[j + 1] + a * c[j] + b * c[j + 1]
        py[j] = py[j + 1] + a * s[j] + b * s[j + 1]
    set_mean(px, x)
    set_mean(py, y)
