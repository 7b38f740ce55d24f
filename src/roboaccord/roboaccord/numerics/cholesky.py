"""Cholesky factors of small dense matrices, as compiled kernels that call no library.

A positive definite matrix is L L' with a lower triangular L, its Cholesky factor. `factor` computes
L row by row, and `solve` solves a system of equations with it by forward and backward substitution.
LAPACK is not used because its results differ between processors: here the order of the sums is
fixed, and hashes of runs depend on it.

The kernels are called by other kernels, so they allocate nothing and raise nothing (test_numerics
compares them with NumPy).
"""

import numpy as np

from roboaccord.numerics.jit import kernel


@kernel
def factor(matrix, root):
    """Fill the lower triangle of `root` (n, n) with L, where L L' is a positive definite matrix.

    Only the lower triangle of the matrix is read; `root` may be the same array.
    """
    n = len(matrix)
    for i in range(n):
        for k in range(i + 1):
            total = matrix[i, k]
            for m in range(k):
                total -= root[i, m] * root[k, m]
            root[i, k] = np.sqrt(total) if i == k else total / root[k, k]


@kernel
def solve(root, x):
    """Replace x (n,) by the solution y of L L' y = x, for a factor L (n, n)."""
    n = len(x)
    # L z = x
    for i in range(n):
        for k in range(i):
            x[i] -= root[i, k] * x[k]
        x[i] /= root[i, i]
    # L' y = z
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= root[k, i] * x[k]
        x[i] /= root[i, i]
