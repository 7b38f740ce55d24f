"""Kernels of small vectors and matrices as tuples, which cost no memory and are inlined.

Vectors are tuples of 3 numbers, symmetric matrices of 6 (xx xy xz yy yz zz), other matrices of 9,
by rows. The first kernels move them between tuples and the rows of an array, the others compute; a
prime marks a transpose. bodies.py and articulated.py, the dynamics of trees, are written with them.
The order of operations stays: hashes of reference runs depend on it to the last bit.
"""

from __future__ import annotations

from roboaccord.numerics.jit import kernel


@kernel
def vector_at(rows, i, col):
    """Return the vector in row i of an array (3 numbers), beginning at column `col`."""
    return rows[i, col], rows[i, col + 1], rows[i, col + 2]


@kernel
def symmetric_at(rows, i, col):
    """Return the symmetric matrix in row i of an array (6 numbers), beginning at column `col`."""
    return vector_at(rows, i, col) + vector_at(rows, i, col + 3)


@kernel
def matrix_at(rows, i, col):
    """Return the matrix in row i of an array (9 numbers), beginning at column `col`."""
    return vector_at(rows, i, col) + vector_at(rows, i, col + 3) + vector_at(rows, i, col + 6)


@kernel
def store(rows, i, col, values):
    """Write values into row i of an array, beginning at column `col`."""
    for k in range(len(values)):
        rows[i, col + k] = values[k]


@kernel
def accumulate(rows, i, col, values):
    """Add values to the entries of row i of an array, beginning at column `col`."""
    for k in range(len(values)):
        rows[i, col + k] += values[k]


@kernel
def dot(a, b):
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """Return a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def add(a, b):
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def add_scaled(a, s, b):
    """Return a + s b, for a number s."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def combine(a, b, c, s):
    """Return c a + s b, for numbers c and s."""
    return c * a[0] + s * b[0], c * a[1] + s * b[1], c * a[2] + s * b[2]


@kernel
def sym_vec(s, v):
    """Return S v, for a symmetric matrix S (6 numbers)."""
    return (
        s[0] * v[0] + s[1] * v[1] + s[2] * v[2],
        s[1] * v[0] + s[3] * v[1] + s[4] * v[2],
        s[2] * v[0] + s[4] * v[1] + s[5] * v[2],
    )


@kernel
def mat_vec(m, v):
    """Return M v, for a matrix M (9 numbers)."""
    return dot(m[0:3], v), dot(m[3:6], v), dot(m[6:9], v)


@kernel
def mat_t_vec(m, v):
    """Return M' v, for a matrix M (9 numbers)."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel
def rotate_sym(r, s):
    """Return R S R', for a rotation R (9 numbers) and a symmetric matrix S (6 numbers)."""
    # Columns a, b and c of S R'.
    a, b, c = sym_vec(s, r[0:3]), sym_vec(s, r[3:6]), sym_vec(s, r[6:9])
    return (
        dot(r[0:3], a), dot(r[0:3], b), dot(r[0:3], c),
        dot(r[3:6], b), dot(r[3:6], c), dot(r[6:9], c),
    )  # fmt: skip


@kernel
def minus_outer(s, a, k):
    """Return S - k a a', for a symmetric matrix S (6 numbers) and a vector a."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return (
        s[0] - x * a[0], s[1] - x * a[1], s[2] - x * a[2],
        s[3] - y * a[1], s[4] - y * a[2], s[5] - z * a[2],
    )  # fmt: skip


@kernel
def minus_product(m, a, b, k):
    """Return M - k a b', for a matrix M (9 numbers) and vectors a and b."""
    x, y, z = k * a[0], k * a[1], k * a[2]
    return (
        m[0] - x * b[0], m[1] - x * b[1], m[2] - x * b[2],
        m[3] - y * b[0], m[4] - y * b[1], m[5] - y * b[2],
        m[6] - z * b[0], m[7] - z * b[1], m[8] - z * b[2],
    )  # fmt: skip
