"""Points and vectors of three numbers in compiled functions of rolling.

A vector or point (3) is a tuple or an array, of which the first three entries count; results are
tuples, which unlike arrays cost no memory. Units are those of the arguments. Operations are in the
order that is written here, and stay in it, so that the bits of a run stay the same.
"""

from __future__ import annotations

import math

from roboaccord.numerics import kernel


@kernel
def dot(a, b):
    """Return the scalar product of vectors a and b (3)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def norm(a):
    """Return the length of a vector a (3)."""
    return math.sqrt(dot(a, a))


@kernel
def cross_product(a, b):
    """Return the cross product (3) of vectors a and b (3)."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def scaled(factor, a):
    """Return a vector a (3) times a factor."""
    return factor * a[0], factor * a[1], factor * a[2]


@kernel
def add_scaled(c, h, v):
    """Return c + h v (3), such as the point that a velocity v reaches from c in a time h [s]."""
    return c[0] + h * v[0], c[1] + h * v[1], c[2] + h * v[2]


@kernel
def distance_between(a, b):
    """Return the distance of two points a and b (3)."""
    return norm(add_scaled(b, -1.0, a))


@kernel
def is_inside(c, size):
    """Return whether a point c (3) is in the workspace, a cube from the origin to `size`."""
    return 0.0 <= c[0] <= size and 0.0 <= c[1] <= size and 0.0 <= c[2] <= size
