"""Montana's contact coordinates [x, y, u, v, psi] of a ball on ground.

x and y are the contact's place on the ground, latitude u and longitude v its place on the ball, and
the angle psi turns the ground's x tangent into the ball's u tangent. The notation is that of
Murray, Li and Sastry, "A Mathematical Introduction to Robotic Manipulation", section 5.6. Their
chart of the ball is r (cu cv, -cu sv, su), with c and s for cosine and sine. It is singular at its
poles, so there are three such charts, with their poles on the ball's z, x and y axes. The ground
must be a graph over (x, y).

MAX_LATITUDE and MIN_NORMAL_Z may be tuned. test_voxel_rolling checks equation (5.28) with these
coordinates.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import quaternion_matrix

# rad; |u| from which on another chart is used. v is singular at the poles, 90 deg; in the best of
# the three charts |u| is at most 35.3 deg, so any limit between the two would do.
MAX_LATITUDE = math.radians(80.0)
# z of the normal; where it is smaller the ground is within 3 deg of upright, and counts as no
# graph: the slope, above 20 there, is then given by the errors of normals, up to some degrees.
MIN_NORMAL_Z = 0.05
# Row k of a chart is the axis of the ball that serves as the chart's k-th axis.
CHARTS = tuple(np.roll(np.eye(3), shift, axis=1) for shift in (0, 1, 2))


def chart_coordinates(contact: Array, n: Array, rotation: Array, chart: int) -> Array:
    """Return [x, y, u, v, psi] in a chart; all are NaN where the ground is not a graph.

    Args:
        contact: contact point (3,) [voxels].
        n: unit normal of the ground (3,).
        rotation: rotation matrix of the ball (3, 3).
        chart: number of the chart: 0, 1 or 2.
    """
    if n[2] < MIN_NORMAL_Z:
        return np.full(5, np.nan)
    axes = rotation @ CHARTS[chart].T  # axes of the chart in the world frame, as columns
    p = axes.T @ -n  # direction from the centre to the contact, in the chart's axes
    u, v = math.asin(min(max(p[2], -1.0), 1.0)), math.atan2(-p[1], p[0])
    e_u = axes @ np.array([-math.sin(u) * math.cos(v), math.sin(u) * math.sin(v), math.cos(u)])
    e_v = axes @ np.array([-math.sin(v), -math.cos(v), 0.0])
    f_x = np.array([n[2], 0.0, -n[0]])  # along (1, 0, z_x), z_x = -n_x / n_z
    # f_x = cos(psi) e_u - sin(psi) e_v, the first column of (5.26)
    return np.array([contact[0], contact[1], u, v, math.atan2(-(f_x @ e_v), f_x @ e_u)])


def best_chart(n: Array, rotation: Array, chart: int) -> int:
    """Return the chart to use next: the present one, or beyond MAX_LATITUDE that of least |u|."""
    contact = rotation.T @ -n  # direction from the centre to the contact, in the ball's axes
    # |u| in each chart, by the chart's third axis.
    latitudes = [abs(math.asin(min(max(float(axes[2] @ contact), -1.0), 1.0))) for axes in CHARTS]
    return chart if latitudes[chart] < MAX_LATITUDE else int(np.argmin(latitudes))


def coordinates(contact: Array, normal: Array, orientation: Array) -> tuple[Array, Array]:
    """Return [x, y, u, v, psi] (k, 5) and the chart (k,) along a path.

    Args:
        contact: (k, 3) [voxels].
        normal: normal of the ground (k, 3).
        orientation: orientation of the ball, (k, 4), x y z w.
    """
    chart, rows, charts = 0, [], []
    for p, n, rotation in zip(contact, normal, quaternion_matrix(orientation)):
        chart = best_chart(n, rotation, chart)
        rows.append(chart_coordinates(p, n, rotation, chart))
        charts.append(chart)
    return np.array(rows).reshape(-1, 5), np.array(charts, dtype=int)
