"""The chain's equations as y' = f(y), and a step of Runge-Kutta 4."""

from __future__ import annotations

import numpy as np
from roboaccord.numerics.jit import kernel
from roboaccord.numerics.runge_kutta import rk4_stage

from snake.model.dynamics import accelerations
from snake.model.stops import hold


@kernel
def derivative(body, y, tau, friction, points, side, dy):
    """Fill dy of y = [p, th, v, w], (2N + 4,)."""
    n = tau.shape[0] + 1
    th = y[2 : n + 2]
    w = y[n + 4 :]
    c = np.empty(n)
    s = np.empty(n)
    factor = np.empty((n - 1, 3))
    dy[: n + 2] = y[n + 2 :]
    vx, vy = y[n + 2], y[n + 3]
    accelerations(body, th, y[0], vx, vy, w, tau, friction, points, c, s, factor, dy[n + 2 :])
    for j in range(n - 1):
        if side[j] != 0:
            hold(body, c, s, factor, dy[n + 4 :], side)
            break


@kernel
def rk4(body, y, tau, h, friction, points, side):
    """Return y after h [s]."""
    slope = np.empty(y.shape[0])
    stage = y.copy()
    end = y.copy()
    for k in range(4):
        derivative(body, stage, tau, friction, points, side, slope)
        rk4_stage(k, h, y, slope, stage, end)
    return end
