"""Montana's contact coordinates of ground and ball, and the contact angle.

Chart of the ball (Murray, Li and Sastry 5.6): r (cu cv, -cu sv, su). Its poles are singular; there
are three such charts, with the poles on the ball's z, x and y, and one is left before |u| = 80 deg.
The ground is a graph over (x, y); psi turns its x tangent into the ball's u tangent.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import quaternion_matrix

LIMIT = math.radians(80.0)
GRAPH = 0.05  # z of the normal below which the ground is no graph
# Row k of a chart is the ball's axis that serves as its k-th.
CHARTS = tuple(np.roll(np.eye(3), shift, axis=1) for shift in (0, 1, 2))


def chart_coordinates(contact: Array, n: Array, rotation: Array, chart: int) -> Array:
    """Return [x, y, u, v, psi] in a chart; all nan where the ground is no graph.

    Args:
        contact: (3,) [voxels].
        n: the ground's unit normal (3,).
        rotation: the ball's orientation (3, 3).
        chart: 0, 1 or 2.
    """
    if n[2] < GRAPH:
        return np.full(5, np.nan)
    axes = rotation @ CHARTS[chart].T  # of the chart, in the world
    p = axes.T @ -n
    u, v = math.asin(min(max(p[2], -1.0), 1.0)), math.atan2(-p[1], p[0])
    e_u = axes @ np.array([-math.sin(u) * math.cos(v), math.sin(u) * math.sin(v), math.cos(u)])
    e_v = axes @ np.array([-math.sin(v), -math.cos(v), 0.0])
    f_x = np.array([n[2], 0.0, -n[0]])  # along (1, 0, z_x), z_x = -n_x / n_z
    # f_x = cos(psi) e_u - sin(psi) e_v, the first column of (5.26)
    return np.array([contact[0], contact[1], u, v, math.atan2(-(f_x @ e_v), f_x @ e_u)])


def best_chart(n: Array, rotation: Array, chart: int) -> int:
    """Return the chart to be used next: the same below 80 deg, else the one with the least |u|."""
    heights = [abs(math.asin(min(max(float(row @ (rotation.T @ -n)), -1.0), 1.0)))
               for row in (axes[2] for axes in CHARTS)]  # fmt: skip
    return chart if heights[chart] < LIMIT else int(np.argmin(heights))


def coordinates(contact: Array, normal: Array, orientation: Array) -> tuple[Array, Array]:
    """Return [x, y, u, v, psi] (k, 5) and the chart (k,) along a path.

    Args:
        contact: (k, 3) [voxels].
        normal: of the ground (k, 3).
        orientation: of the ball, (k, 4), x y z w.
    """
    chart, rows, charts = 0, [], []
    for p, n, rotation in zip(contact, normal, quaternion_matrix(orientation)):
        chart = best_chart(n, rotation, chart)
        rows.append(chart_coordinates(p, n, rotation, chart))
        charts.append(chart)
    return np.array(rows).reshape(-1, 5), np.array(charts, dtype=int)
