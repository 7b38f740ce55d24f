"""Newton's method for small systems, square or not, with bounded least-squares steps.

Nothing here may be tuned: `longest`, `steps` and the steps of differences are arguments that the
searches for gaits of the MonkeyBot choose. Steps stay undamped and without a test of convergence,
on purpose: callers look at each iterate. test_numerics checks quadratic convergence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from roboaccord.numerics.arrays import Array

TINY = 1e-300  # in place of 0 for a divisor


def newton_steps(
    residual: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    x: Array,
    *,
    longest: float,
    steps: int,
) -> Iterator[tuple[Array, Array]]:
    """Yield the iterates x (n,) and their residuals (m,), the guess first.

    It ends after a number of steps, or where a residual or Jacobian is not finite. Steps may lead
    uphill: whether an iterate is good enough, or better than the one before, is for the caller.

    Args:
        residual: gives r (m,) of x.
        jacobian: gives dr/dx (m, n).
        x: guess.
        longest: length of a step at most.
        steps: most that are taken.
    """
    r = residual(x)
    yield x, r
    for _ in range(steps):
        if not np.isfinite(r).all():
            return
        slope = jacobian(x)
        if not np.isfinite(slope).all():
            return
        x = x + bounded_step(slope, r, longest)
        r = residual(x)
        yield x, r


def bounded_step(jacobian: Array, r: Array, longest: float) -> Array:
    """Return the least-squares step (n,) of Newton's method, no longer than `longest`."""
    step = -np.asarray(np.linalg.lstsq(jacobian, r, rcond=None)[0], dtype=np.float64)
    return step * min(1.0, longest / max(float(np.linalg.norm(step)), TINY))


def central_slope(
    function: Callable[[Array], Array], x: Array, steps: float | Array, scale: float | Array = 1.0
) -> Array:
    """Return the derivative (m, n) of a function by central differences.

    Args:
        function: gives (m,) of x.
        x: where (n,).
        steps: of x in its units (n,), or one for all.
        scale: those units (n,), by which the derivative is taken.
    """
    sizes = np.broadcast_to(steps, len(x))
    columns = [
        (function(x + side * scale) - function(x - side * scale)) / (2.0 * size)
        for side, size in zip(np.diag(sizes), sizes, strict=True)
    ]
    return np.array(columns).T
