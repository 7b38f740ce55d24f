"""Convex solids as vertices and faces; faces run counter-clockwise seen from outside."""

from __future__ import annotations

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array

SIDES = 24  # of a cylinder, and meridians of a sphere: round at the sizes that are drawn
PARALLELS = 10

Faces = tuple[tuple[int, ...], ...]
ALIKE = 6  # digits to which normals of triangles in one facet agree


def box(size: Array) -> tuple[Array, Faces]:
    """Return vertices and faces of a box with sides `size` (3,) [m]."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return 0.5 * size * corners, faces


def cylinder(radius: float, length: float) -> tuple[Array, Faces]:
    """Return vertices and faces of a cylinder along z [m]."""
    angle = np.arange(SIDES) * 2 * np.pi / SIDES
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle])
    half = np.array([0.0, 0.0, 0.5 * length])
    wall = tuple((i, (i + 1) % SIDES, (i + 1) % SIDES + SIDES, i + SIDES) for i in range(SIDES))
    caps = (tuple(range(SIDES))[::-1], tuple(range(SIDES, 2 * SIDES)))
    return np.vstack([ring - half, ring + half]), wall + caps


def sphere(radius: float) -> tuple[Array, Faces]:
    """Return vertices and faces of a sphere [m]."""
    polar, turn = np.meshgrid(
        np.linspace(np.pi, 0, PARALLELS + 1), np.arange(SIDES) * 2 * np.pi / SIDES, indexing="ij"
    )
    directions = [np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)]
    faces = tuple(
        (r + i, r + (i + 1) % SIDES, r + (i + 1) % SIDES + SIDES, r + i + SIDES)
        for r in range(0, PARALLELS * SIDES, SIDES)
        for i in range(SIDES)
    )
    return radius * np.stack(directions, axis=-1).reshape(-1, 3), faces


def facets(vertices: Array, triangles: Index) -> Faces:
    """Return the plane facets of a convex mesh: triangles (f, 3) in one plane become one face."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    planes: dict[tuple[float, ...], list[int]] = {}
    for index, normal in enumerate(normals):
        planes.setdefault(tuple((normal + 0.0).round(ALIKE)), []).append(index)
    return tuple(
        _ring(vertices, np.unique(triangles[members]), normals[members[0]])
        for members in planes.values()
    )


def _ring(vertices: Array, corners: Index, normal: Array) -> tuple[int, ...]:
    """Return the corners of a convex face in order about its normal."""
    arms = vertices[corners] - vertices[corners].mean(axis=0)
    across = arms[0] / np.linalg.norm(arms[0])
    up = np.cross(normal, across)
    turn = np.arctan2(arms @ up, arms @ across)
    return tuple(int(corner) for corner in corners[np.argsort(turn)])
