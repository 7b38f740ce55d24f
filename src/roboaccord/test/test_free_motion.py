"""A floating joint as a chain of slides and hinges: where it leads, and how fast."""

from __future__ import annotations

import numpy as np
from roboaccord.engines.charts import free_motion


def test_the_motion_of_a_floating_joint_is_the_slope_of_its_pose() -> None:
    rng, h = np.random.default_rng(1), 1e-6
    for _ in range(20):
        q, qd = rng.uniform(-1.2, 1.2, 6), rng.normal(size=6)
        _, rotation, jacobian, drift = free_motion(q, qd)
        ends = [free_motion(q + s * h * qd, qd) for s in (-1.0, 1.0)]
        turning = rotation.T @ (ends[1][1] - ends[0][1]) / (2 * h)
        spin = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        slope = np.concatenate([spin, rotation.T @ (ends[1][0] - ends[0][0]) / (2 * h)])
        np.testing.assert_allclose(jacobian @ qd, slope, atol=1e-8)
        rate = (ends[1][2] @ qd - ends[0][2] @ qd) / (2 * h)
        np.testing.assert_allclose(drift, rate, atol=1e-8)
