"""Cholesky factors of small dense matrices, as kernels that call no library.

The order of the sums is fixed: with it a result is the same on every processor, which LAPACK's is
not, and hashes of runs depend on it. test_numerics compares with NumPy's factor. The callers are
kernels, in description/articulated.py, numerics/pivoting.py: nothing here may allocate or raise.
Further kernels may be added.
"""

from __future__ import annotations

import numpy as np

from roboaccord.numerics.jit import kernel


@kernel
def factor(matrix, root):
    """Fill the lower triangle of `root` with L of a positive definite matrix L L' (n, n).

    Both may be one array. Of the matrix the lower triangle is read.
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
    """Solve L L' y = x (n,) in place, by the factor L (n, n)."""
    n = len(x)
    for i in range(n):
        for k in range(i):
            x[i] -= root[i, k] * x[k]
        x[i] /= root[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= root[k, i] * x[k]
        x[i] /= root[i, i]
