"""A robot in the browser: meshes of its links, posed by its kinematic tree."""

from __future__ import annotations

import io
import logging
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.meshes import local_files
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import matrix_quaternion

Ghost = tuple[tuple[int, int, int], float]  # colour and opacity
_log = logging.getLogger(__name__)


class Figure:
    """Show the visual geometry of a description, link by link.

    Args:
        scene: viser's.
        path: name of its node in the scene.
        urdf: description of the robot.
        yourdfpy: the library that reads the geometry.
        ghost: colour and opacity instead of the description's colours.

    Attributes:
        tree: of the description.
        meshes: of each the index of its link, vertices in the link's frame (v, 3) [m], triangles.
        frames: viser's node of each link with a mesh, by its index.
    """

    def __init__(
        self, scene: Any, path: str, urdf: str, yourdfpy: Any, ghost: Ghost | None = None
    ) -> None:
        self.tree = Tree.parse(urdf)
        self.meshes: list[tuple[int, Array, Index]] = []
        self._joints = tuple(joint.name for joint in self.tree.moving)
        index = {link.name: i for i, link in enumerate(self.tree.links)}
        model = yourdfpy.URDF.load(io.StringIO(_with_files(rooted_at_base(urdf))))
        graph, self.frames = model.scene.graph, dict[int, Any]()
        for number, node in enumerate(sorted(graph.nodes_geometry)):
            link = graph.transforms.parents[node]
            matrix, key = graph.get(node, link)
            mesh = model.scene.geometry[key].copy()
            mesh.apply_transform(matrix)
            name, i = f"{path}/{link}", index[link]
            if i not in self.frames:
                self.frames[i] = scene.add_frame(name, show_axes=False)
            if ghost:
                colour, opacity = ghost
                scene.add_mesh_simple(
                    f"{name}/{number}", mesh.vertices, mesh.faces, color=colour, opacity=opacity,
                    cast_shadow=False,
                )  # fmt: skip
            else:
                scene.add_mesh_trimesh(f"{name}/{number}", mesh)
            self.meshes.append((i, np.array(mesh.vertices), np.array(mesh.faces)))

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
        placed = [v @ rotations[i].T + origins[i] for i, v, _ in self.meshes]
        return np.concatenate(placed) if placed else np.array([position])


def _with_files(urdf: str) -> str:
    """Return a URDF with its meshes by file; as it is, with a line in the log, where one lacks."""
    try:
        return local_files(urdf)
    except AccordError as error:
        _log.warning("meshes are left out: %s", error)
        return urdf


def rooted_at_base(urdf: str) -> str:
    """Return a URDF without the world: what joins the robot to it is the view's to move."""
    root = ET.fromstring(urdf)
    for element in [*root.findall("joint"), *root.findall("link")]:
        parent = element.find("parent")
        if element.get("name") == "world" or (parent is not None and parent.get("link") == "world"):
            root.remove(element)
    return ET.tostring(root, encoding="unicode")
