"""Equations of motion of a pendulum with a motor at its joint.

    (I + m c^2) qdd = tau - m g c sin q

with mass m, inertia I about the centre of mass, which is at c from the joint; q = 0 hangs down.
"""

from __future__ import annotations

import numpy as np
from roboaccord import Array, Parameters


def joint_accelerations(
    p: Parameters,
    q: Array,
    qd: Array,  # noqa: ARG001 - a single pendulum has no forces that depend on it
    effort: Array,
) -> Array:
    """Return the angular acceleration (1,) [rad/s^2] at q (1,) [rad] under an effort (1,) [N m]."""
    moment = effort - p.mass * p.gravity * p.centre * np.sin(q)
    return np.asarray(moment / (p.inertia + p.mass * p.centre**2))
