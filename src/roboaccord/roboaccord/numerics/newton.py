"""Newton's method for small systems of equations, square or not, with steps of bounded length.

`newton_steps` yields the iterates, without damping and without a test of convergence: callers judge
each iterate themselves. A system that is not square is solved in the sense of least squares.
`central_slope` is a derivative by differences. The searches for gaits of the MonkeyBot use both
(test_numerics checks quadratic convergence).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from roboaccord.numerics.arrays import Array

TINY = 1e-300  # positive number that replaces 0 as a divisor: smaller than all that occur
Function = Callable[[Array], Array]  # from an array (n,) to an array (m,) or (m, n)


def newton_steps(
    residual: Function, jacobian: Function, x: Array, *, longest: float, steps: int
) -> Iterator[tuple[Array, Array]]:
    """Yield the iterates x (n,) and their residuals (m,), the guess first.

    It ends after a number of steps, or where a residual or Jacobian is not finite. Residuals may
    grow: whether an iterate is good enough, or better than the one before, the caller decides.

    Args:
        residual: returns r (m,) at x.
        jacobian: returns dr/dx (m, n) at x.
        x: guess (n,).
        longest: largest length of a step.
        steps: largest number of steps.
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
    function: Function, x: Array, steps: float | Array, scale: float | Array = 1.0
) -> Array:
    """Return the derivative (m, n) of a function by central differences.

    Args:
        function: returns (m,) at x.
        x: point at which the derivative is taken (n,).
        steps: lengths of the differences, in units of `scale` (n,), or one for all.
        scale: units of x (n,); the derivative is by x / scale.
    """
    sizes = np.broadcast_to(steps, len(x))
    columns = []
    for shift, size in zip(np.diag(sizes), sizes, strict=True):
        difference = function(x + shift * scale) - function(x - shift * scale)
        columns.append(difference / (2.0 * size))
    return np.array(columns).T
