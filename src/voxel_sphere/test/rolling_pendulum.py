"""The heavy ball that is released in the bowl, by the closed form of the rolling pendulum."""

import math

import numpy as np
from scipy.integrate import solve_ivp

R, G = 0.1, 9.81  # m, m/s^2


def in_the_bowl(time):
    """Return its centre (k, 3) [m] at times (k,) in the scenario `bowl`.

    (1 + 2/5) length angle'' = -g sin(angle); the centre moves on 4 r, and starts 1 r off.
    """
    length = 4.0 * R
    swing = solve_ivp(
        lambda _, y: [y[1], -G / 1.4 / length * math.sin(y[0])],
        (0.0, 4.0), [math.asin(0.25), 0.0], t_eval=time, rtol=1e-10, atol=1e-12,
    ).y[0]  # fmt: skip
    return np.array([0.5, 0.5, 6.0 * R]) + length * np.stack(
        [np.sin(swing), 0.0 * swing, -np.cos(swing)], axis=1
    )
