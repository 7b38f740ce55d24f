"""A robot on a page: its shapes, grouped by link and posed by forward kinematics.

A Figure makes one frame of viser (the library that serves pages) for each link with shapes, so that
a pose only moves frames. In viser's scene each object is a node with a path as its name; a node
moves with those above it in the path. stage.py makes the figures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import Array
from roboaccord.description import RED, Scene, Surface
from roboaccord.numerics import matrix_quaternion

from roboaccord_view.drawing.annotations import rgb
from roboaccord_view.motion import outline

if TYPE_CHECKING:
    from viser import FrameHandle, LabelHandle, MeshHandle, SceneApi

# Joint coordinates by name [rad or m], position of the base (3,) [m], its quaternion x y z w (4,).
Pose = tuple[Mapping[str, float], Array, Array]


class Figure:
    """The visual or collision shapes of a robot description on a page, link by link.

    Args:
        scene: viser's scene.
        path: name of the figure's node in the scene.
        urdf: description of the robot.
        collision: whether collision shapes are shown instead of visual ones.

    Attributes:
        parsed: shapes and links of the description.
        frames: viser's node of each link with a shape, by the link's index.

    Raises:
        AccordError: if the description is broken, or has no shape that can be drawn.
    """

    def __init__(self, scene: SceneApi, path: str, urdf: str, collision: bool = False) -> None:
        self._scene, self._path, self._collision = scene, path, collision
        self.parsed = Scene.parse(urdf, collision=collision)
        links = self.parsed.tree.links
        self._joints = tuple(joint.name for joint in self.parsed.tree.moving)
        self.frames: dict[int, FrameHandle] = {}
        self._handles: list[MeshHandle] = []  # viser's handles of the shapes, in their order
        for number, shape in enumerate(self.parsed.shapes):
            name = f"{path}/{links[shape.link].name}"
            if shape.link not in self.frames:
                self.frames[shape.link] = scene.add_frame(name, show_axes=False)
            surface = Surface(f"{name}/{number}", shape.vertices, shape.faces, shape.colour)
            self._handles.append(add_surface(scene, surface.name, surface, shape.opacity))

    def paint(self, urdf: str) -> None:
        """Show the colours and opacities of another description with the same shapes."""
        shapes = Scene.parse(urdf, collision=self._collision).shapes
        for handle, shape in zip(self._handles, shapes, strict=True):
            handle.color, handle.opacity = rgb(255.0 * shape.colour), shape.opacity

    def label(self, link: int, text: str) -> LabelHandle:
        """Add a text at the origin of a link, hidden at first."""
        name = f"{self._path}/{self.parsed.tree.links[link].name}/{text}"
        return self._scene.add_label(name, text, anchor="bottom-left", visible=False)

    def redden(self, shapes: Collection[int]) -> None:
        """Show shapes in red, by their indices, and the others in their own colours."""
        for i, (handle, shape) in enumerate(zip(self._handles, self.parsed.shapes, strict=True)):
            handle.color = rgb(255.0 * np.array(RED if i in shapes else shape.colour))

    def forward(self, pose: Pose) -> tuple[Array, Array]:
        """Return origins (k, 3) [m] and rotations (k, 3, 3) of the links in a pose."""
        angles, position, orientation = pose
        q = np.array([angles.get(name, 0.0) for name in self._joints])
        return self.parsed.tree.forward(self._joints, q, position, orientation)

    def pose(self, pose: Pose) -> None:
        """Put the robot in a pose."""
        origins, rotations = self.forward(pose)
        for i, node in self.frames.items():
            node.position = origins[i]
            node.wxyz = np.roll(matrix_quaternion(rotations[i]), 1)

    def points(self, pose: Pose) -> Array:
        """Return the outermost vertices (v, 3) [m] in a pose."""
        origins, rotations = self.forward(pose)
        shapes = self.parsed.shapes
        placed = [outline(s.vertices) @ rotations[s.link].T + origins[s.link] for s in shapes]
        return np.concatenate(placed)


class BodyFigures:
    """Free bodies on a page.

    Args:
        scene: viser's scene.
        path: name of the node above theirs.
        surfaces: of the bodies, each in its body's frame; other surfaces are left out.
        opacity: of all, 0 to 1.
    """

    def __init__(
        self, scene: SceneApi, path: str, surfaces: Iterable[Surface], opacity: float = 1.0
    ) -> None:
        bodies = [surface for surface in surfaces if surface.frame]
        self._nodes = [add_surface(scene, f"{path}/{s.name}", s, opacity) for s in bodies]

    def pose(self, motions: Iterable[Array]) -> None:
        """Put the bodies where their motions (13,) have them."""
        for node, motion in zip(self._nodes, motions):
            node.position, node.wxyz = motion[:3], np.roll(motion[3:7], 1)


def add_surface(scene: SceneApi, path: str, surface: Surface, opacity: float = 1.0) -> MeshHandle:
    """Add a surface to viser's scene, and return its node."""
    is_opaque = opacity == 1.0
    return scene.add_mesh_simple(
        path,
        surface.vertices,
        surface.triangles,
        color=rgb(255.0 * surface.colour),
        opacity=None if is_opaque else opacity,
        flat_shading=True,
        cast_shadow=is_opaque,
    )
