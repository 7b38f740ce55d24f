"""Scene graph: the visual shapes of a URDF as convex solids, and their motion.

Boxes, cylinders, spheres and convex meshes are drawn, in the browser other meshes too. Where a
link's visual is a mesh that is not drawn, or not there, its collision shapes stand in for it, and
where it has none that can be drawn, the convex hulls of its meshes.
"""

from __future__ import annotations

import logging
import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.state import STATE_ARRAYS, Aim, Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.meshes import mesh_path, read_mesh
from roboaccord.description.solids import (
    Faces,
    Geometry,
    box,
    cylinder,
    facets,
    read_geometry,
    sphere,
)
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import quaternion_matrix, quaternion_product, turn_quaternion

GREY = (0.55, 0.60, 0.66, 1.0)
FLAT = 1e-5  # of a mesh's size: how far a vertex may be outside a face of a convex one
MOST = 10_000_000  # vertices times triangles of a mesh that may be asked whether it is convex
MOMENT = 1e-6  # s: of the difference that makes a speed of velocities
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shape:
    """Hold a convex solid fixed to a link.

    Args:
        link: index of the link in the tree.
        vertices: in the link's frame (v, 3) [m].
        faces: indices of vertices, counter-clockwise seen from outside.
        colour: red, green, blue in 0..1 (3,).
        opacity: 0..1.
    """

    link: int
    vertices: Array
    faces: Faces
    colour: Array
    opacity: float = 1.0


@dataclass(frozen=True)
class Scene:
    """Hold a robot's name, kinematic tree and shapes."""

    name: str
    tree: Tree
    shapes: tuple[Shape, ...]

    @classmethod
    def parse(cls, urdf: str, *, convex: bool = True) -> Scene:
        """Read the tree and the shapes of a URDF.

        Args:
            urdf: description of the robot.
            convex: leave out meshes that are not convex.

        Raises:
            AccordError: if the URDF is broken, or has nothing that can be drawn.
        """
        tree = Tree.parse(urdf)
        root = ET.fromstring(urdf)
        palette = {m.get("name", ""): _colour(m, {}) for m in root.findall("material")}
        elements = {e.get("name"): e for e in root.findall("link")}
        shapes: list[Shape] = []
        for index, link in enumerate(tree.links):
            shapes += _link_shapes(elements[link.name], index, palette, convex)
        name = root.get("name", "robot")
        if not shapes:
            mesh = "convex mesh" if convex else "mesh"
            raise AccordError(f"{name} has no box, cylinder, sphere or {mesh} to draw")
        return cls(name, tree, tuple(shapes))

    def motion(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """Return origins (t, k, 3) [m] and rotations (t, k, 3, 3) of the links in a motion.

        Raises:
            AccordError: if the motion lacks a joint of the description.
        """
        for joint in self.tree.moving:
            if joint.name not in trajectory.joints:
                raise AccordError(f"the motion has no joint {joint.name} of {self.name}")
        t = trajectory
        return self.tree.forward(t.joints, t.q, t.position, t.orientation)


def _link_shapes(
    element: ET.Element, link: int, palette: Mapping[str, Array], convex: bool
) -> list[Shape]:
    visuals = element.findall("visual")
    colour = next((_colour(v.find("material"), palette) for v in visuals), np.array(GREY))
    shapes = [_shape(v, link, _colour(v.find("material"), palette), convex) for v in visuals]
    if None in shapes:
        shapes += [_shape(c, link, colour, convex) for c in element.findall("collision")]
    if convex and not any(shapes):
        shapes = [_hull(_shape(v, link, colour, convex=False)) for v in visuals]
    return [shape for shape in shapes if shape is not None]


def _shape(element: ET.Element, link: int, colour: Array, convex: bool) -> Shape | None:
    """Return what can be drawn of an element, None where nothing can."""
    try:
        form = read_geometry(element)
    except ValueError:
        return None
    if form.form == "box":
        vertices, faces = box(form.size)
    elif form.form == "cylinder":
        vertices, faces = cylinder(form.radius, form.length)
    elif form.form == "sphere":
        vertices, faces = sphere(form.radius)
    else:
        mesh = _mesh(form, convex) if form.form == "mesh" else None
        if mesh is None:
            return None
        vertices, faces = mesh
    return Shape(link, form.placed(vertices), faces, colour[:3], float(colour[3]))


def _hull(shape: Shape | None) -> Shape | None:
    """Return the convex hull of a shape, None where it has no volume."""
    if shape is None:
        return None
    from scipy.spatial import (  # which takes long to load, and is rarely needed
        ConvexHull,
        QhullError,
    )

    try:
        hull = ConvexHull(shape.vertices)
    except QhullError:
        return None
    a, b, c = np.moveaxis(shape.vertices[hull.simplices], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, corners = np.unique(faces, return_inverse=True)
    return replace(
        shape,
        vertices=shape.vertices[used],
        faces=tuple(map(tuple, corners.reshape(faces.shape).tolist())),
    )


def _mesh(form: Geometry, convex: bool) -> tuple[Array, Faces] | None:
    """Return a mesh that is at hand, and convex where that is asked for; else None."""
    try:
        vertices, triangles = _read(form.file)
    except AccordError as error:
        _log.warning("a mesh is left out: %s", error)
        return None
    vertices = vertices * form.scale
    if not convex:
        return vertices, tuple(map(tuple, triangles.tolist()))
    if len(vertices) * len(triangles) > MOST:
        return None
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    heights = (vertices - corners[:, :1]) @ normals[:, :, None]
    size = float(np.ptp(vertices, axis=0).max())
    if float(heights.max()) > FLAT * size**3:
        return None
    return vertices, facets(vertices, triangles)


@cache
def _read(name: str) -> tuple[Array, Index]:
    return read_mesh(mesh_path(name))


def _colour(material: ET.Element | None, palette: Mapping[str, Array]) -> Array:
    if material is None:
        return np.array(GREY)
    colour = material.find("color")
    if colour is not None:
        return np.array([float(word) for word in colour.get("rgba", "0 0 0 1").split()])
    return palette.get(material.get("name", ""), np.array(GREY))


def resample(trajectory: Trajectory, step: float) -> Trajectory:
    """Return a motion at every `step` [s] from its start, linear between samples."""
    start, stop = trajectory.time[0], trajectory.time[-1]
    time = start + step * np.arange(math.floor((stop - start) / step + 1e-6) + 1)

    def at(values: Array) -> Array:
        columns = [np.interp(time, trajectory.time, column) for column in values.T]
        return np.column_stack(columns) if columns else np.empty((len(time), 0))

    turns = trajectory.orientation.copy()
    flips = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    turns[1:] *= np.cumprod(flips)[:, None]  # q and -q are one rotation, but do not average
    arrays = {name: at(getattr(trajectory, name)) for name in STATE_ARRAYS}
    turns = arrays["orientation"] = at(turns)
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return replace(trajectory, time=time, switches={}, wrench=None, **arrays)  # type: ignore[arg-type]


def path(scene: Scene, motion: Trajectory, aim: Aim | None = None) -> Array:
    """Return where the point of an aim is, by default the centre of mass (t, 3) [m].

    Raises:
        AccordError: if the description has no such link.
    """
    origins, rotations = scene.motion(motion)
    if aim is None:
        return scene.tree.centres(origins, rotations)
    links = [link.name for link in scene.tree.links]
    check_known(f"{scene.name} has no link ", aim.link, links)
    i = links.index(aim.link)
    return np.asarray(origins[:, i] + rotations[:, i] @ aim.offset)


def speeds(scene: Scene, motion: Trajectory, aim: Aim | None = None) -> Array:
    """Return the speed of what `path` is of (t,) [m/s], of the velocities alone: at rest, 0."""
    frames = quaternion_matrix(motion.orientation)
    velocity = (frames @ motion.twist[:, :3, None])[..., 0]

    def moved(time: float) -> Array:
        turns = np.array([turn_quaternion(time * spin) for spin in motion.twist[:, 3:]])
        other = replace(
            motion,
            q=motion.q + time * motion.qd,
            position=motion.position + time * velocity,
            orientation=quaternion_product(motion.orientation.T, turns.T).T,
        )
        return path(scene, other, aim)

    way = moved(MOMENT) - moved(-MOMENT)
    return np.asarray(np.linalg.norm(way, axis=1) / (2.0 * MOMENT))
