"""The classical Runge-Kutta method of order 4, a stage at a time.

    for k in range(4):
        (fill slope with f at stage, at the time t + reach(k) h)
        rk4_stage(k, h, y, slope, stage, end)

with stage and end copies of y to begin with, and the result in end. One call of f in a loop over
the stages: written out, it takes a kernel four times as long to compile.
"""

from __future__ import annotations

from roboaccord.numerics.jit import kernel


@kernel
def rk4_stage(k, h, y, slope, stage, end):
    """Add the slope of stage k (0 to 3) to `end`, and fill the next `stage`; all are (n,)."""
    weight = h / 6.0 if k in (0, 3) else h / 3.0
    reach = h if k == 2 else 0.5 * h
    for i in range(y.shape[0]):
        end[i] += weight * slope[i]
        stage[i] = y[i] + reach * slope[i]
