"""The signed distance of two convex polyhedra by trying all of their features: slow, and exact.

Apart, the distance is the smallest of all corners of one from all faces of the other, and of all
edges from all edges. Overlapping, the depth is the smallest overlap along the normals of all faces
of one, of the other, and along the cross products of all edges: the normals of the Minkowski
difference [Cameron and Culley 1986]. No GJK, no support function, and nothing of the package.
"""

from dataclasses import dataclass

import numpy as np

SLACK = 1e-12  # m: a point above the line where a flat face is cut in two is above one of both


@dataclass
class Solid:
    """Corners (v, 3), triangles' corners (f, 3, 3), edges' ends (e, 2, 3).

    And what differs of the faces' normals (n, 3), and of the edges' directions (d, 3).
    """

    corners: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    normals: np.ndarray
    directions: np.ndarray

    @classmethod
    def of(cls, vertices, faces):
        triangles = vertices[faces]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        beside = {}
        for number, (a, b, c) in enumerate(faces):
            for side in ((a, b), (b, c), (c, a)):
                beside.setdefault(tuple(sorted(side)), []).append(number)
        bent = [side for side, (f, g) in beside.items() if normals[f] @ normals[g] < 1 - 1e-12]
        edges = vertices[np.array(bent)]
        along = edges[:, 1] - edges[:, 0]
        along /= np.linalg.norm(along, axis=1)[:, None]
        return cls(vertices, triangles, edges, distinct(normals), distinct(along, sign=-1.0))

    def moved(self, turn, by):
        """The solid turned, then moved."""
        return Solid(
            self.corners @ turn.T + by, self.triangles @ turn.T + by, self.edges @ turn.T + by,
            self.normals @ turn.T, self.directions @ turn.T,
        )  # fmt: skip


def distinct(directions, sign=1.0):
    """Unit vectors without those that are there already, or are `sign` times one that is."""
    kept = []
    for d in directions:
        if all(np.abs(d - k).max() > 1e-12 and np.abs(d - sign * k).max() > 1e-12 for k in kept):
            kept.append(d)
    return np.array(kept)


def signed_distance(a, b):
    """Distance of two solids in one frame [m]: minus the depth where they overlap."""
    overlap = least_overlap(a, b)
    if overlap >= 0.0:
        return -overlap
    squared = min(
        corners_to_faces(a.corners, b.triangles),
        corners_to_faces(b.corners, a.triangles),
        edges_to_edges(a.edges, b.edges),
    )
    return np.sqrt(squared)


def least_overlap(a, b):
    """Least translation that separates `b` from `a`; negative if they are apart."""
    crossed = np.cross(a.directions[:, None], b.directions[None]).reshape(-1, 3)
    size = np.sqrt((crossed * crossed).sum(axis=1))
    crossed = crossed[size > 1e-9] / size[size > 1e-9, None]
    normals = np.concatenate([a.normals, -b.normals, crossed, -crossed])
    return ((normals @ a.corners.T).max(axis=1) - (normals @ b.corners.T).min(axis=1)).min()


def corners_to_faces(points, triangles):
    """Smallest squared distance of points from triangles above or below whose inside they are."""
    sides = np.roll(triangles, -1, axis=1) - triangles
    normals = np.cross(sides[:, 0], sides[:, 1])
    inward = np.cross(normals[:, None], sides)
    inward /= np.linalg.norm(inward, axis=2)[:, :, None]
    reached = np.einsum("fki,pi->fkp", inward, points)
    sides = np.einsum("fki,fki->fk", inward, triangles)
    inside = (reached >= sides[:, :, None] - SLACK).all(axis=1)
    heights = normals @ points.T - np.einsum("fi,fi->f", normals, triangles[:, 0])[:, None]
    squared = heights**2 / (normals * normals).sum(axis=1)[:, None]
    return squared[inside].min(initial=np.inf)


def edges_to_edges(first, second):
    """Smallest squared distance of segments, ends included [Ericson 2005, 5.1.9]."""
    p, q = first[:, None, 0], second[None, :, 0]
    u, v = first[:, None, 1] - p, second[None, :, 1] - q
    r = p - q
    uu, vv, uv = (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
    ur, vr = (u * r).sum(-1), (v * r).sum(-1)
    rest = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(rest > 1e-14 * uu * vv, np.clip((uv * vr - ur * vv) / rest, 0.0, 1.0), 0.0)
    t = np.clip((uv * s + vr) / vv, 0.0, 1.0)
    s = np.clip((uv * t - ur) / uu, 0.0, 1.0)
    gaps = r + s[..., None] * u - t[..., None] * v
    return (gaps * gaps).sum(-1).min()
