"""A robot in the browser: shapes of its links, posed by its kinematic tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.state import Array
from roboaccord.contract.surface import Surface
from roboaccord.numerics.rotations import matrix_quaternion
from roboaccord.view.scene import Scene

if TYPE_CHECKING:
    from viser import FrameHandle, MeshHandle, SceneApi

Ghost = tuple[tuple[int, int, int], float]  # colour and opacity


class Figure:
    """Show the visual geometry of a description, link by link.

    Args:
        scene: viser's.
        path: name of its node in the scene.
        urdf: description of the robot.
        ghost: colour and opacity instead of the description's colours.

    Attributes:
        tree: of the description.
        meshes: of each the index of its link, vertices in the link's frame (v, 3) [m], triangles.
        frames: viser's node of each link with a mesh, by its index.

    Raises:
        AccordError: if the description is broken, or has nothing that can be drawn.
    """

    def __init__(self, scene: SceneApi, path: str, urdf: str, ghost: Ghost | None = None) -> None:
        parsed = Scene.parse(urdf, convex=False)
        self.tree = parsed.tree
        self.meshes: list[tuple[int, Array, Index]] = []
        self._joints = tuple(joint.name for joint in self.tree.moving)
        self.frames: dict[int, FrameHandle] = {}
        for number, shape in enumerate(parsed.shapes):
            name = f"{path}/{self.tree.links[shape.link].name}"
            if shape.link not in self.frames:
                self.frames[shape.link] = scene.add_frame(name, show_axes=False)
            surface = Surface(f"{name}/{number}", shape.vertices, shape.faces, shape.colour)
            add_surface(scene, surface.name, surface, ghost)
            self.meshes.append((shape.link, shape.vertices, surface.triangles))

    def forward(
        self, angles: Mapping[str, float], position: Array, orientation: Array
    ) -> tuple[Array, Array]:
        """Return origins (k, 3) [m] and rotations (k, 3, 3) of the links in a pose."""
        q = np.array([angles.get(name, 0.0) for name in self._joints])
        return self.tree.forward(self._joints, q, position, orientation)

    def pose(self, angles: Mapping[str, float], position: Array, orientation: Array) -> None:
        """Put the robot in a pose: joints by name [rad], base [m], quaternion x y z w."""
        origins, rotations = self.forward(angles, position, orientation)
        for i, frame in self.frames.items():
            frame.position = origins[i]
            frame.wxyz = np.roll(matrix_quaternion(rotations[i]), 1)

    def points(self, angles: Mapping[str, float], position: Array, orientation: Array) -> Array:
        """Return all vertices (v, 3) [m] in a pose."""
        origins, rotations = self.forward(angles, position, orientation)
        return np.concatenate([v @ rotations[i].T + origins[i] for i, v, _ in self.meshes])


def add_surface(
    scene: SceneApi, path: str, surface: Surface, ghost: Ghost | None = None
) -> MeshHandle:
    """Add a surface to viser's scene, and return its node."""
    colour, opacity = ghost or (tuple(round(255 * part) for part in surface.colour), None)
    return scene.add_mesh_simple(
        path, surface.vertices, surface.triangles, color=colour, opacity=opacity,
        flat_shading=True, cast_shadow=ghost is None,
    )  # fmt: skip
