"""Vectors of three numbers, as kernels: numba's own take seconds to compile."""

from __future__ import annotations

from roboaccord.numerics.jit import kernel


@kernel
def cross(a, b, out):
    """Compute a x b (3,), into `out`."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
