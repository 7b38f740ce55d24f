"""Scene graph: the visual or the collision shapes of a URDF, and their motion.

Boxes, cylinders, spheres and meshes are drawn, these in the colours of their files. Where a visual
cannot be read the collision shapes of its link stand in for it.
"""

from __future__ import annotations

import logging
import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.state import STATE_ARRAYS, Aim, Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.meshes import Part, mesh_path, read_parts
from roboaccord.description.solids import Faces, Geometry, box, cylinder, read_geometry, sphere
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import quaternion_matrix, quaternion_product, turn_quaternion

GREY = (0.55, 0.60, 0.66, 1.0)
VISUAL, COLLISION = "visual shapes", "collision shapes"
MIXED = "visual and collision shapes"
DIRECTIONS, GOLDEN = 192, math.pi * (3.0 - math.sqrt(5.0))  # of outlines, on Fibonacci's sphere
SAMPLES = 300  # at least, of a motion whose paths are compared
MOMENT = 1e-6  # s: of the difference that makes a speed of velocities
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shape:
    """Hold what is drawn of a link in one colour.

    Args:
        link: index of the link in the tree.
        vertices: in the link's frame (v, 3) [m].
        faces: convex polygons as indices of vertices.
        colour: red, green, blue in 0..1 (3,).
        opacity: 0..1.
    """

    link: int
    vertices: Array
    faces: Faces | Index
    colour: Array
    opacity: float = 1.0

    @cached_property
    def outline(self) -> Array:
        """The vertices that are outermost in some direction (k, 3): those of the convex hull."""
        if len(self.vertices) <= DIRECTIONS:
            return self.vertices
        k = np.arange(DIRECTIONS)
        z, turn = 1.0 - (2.0 * k + 1.0) / DIRECTIONS, GOLDEN * k
        flat = np.sqrt(1.0 - z * z)
        outwards = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), z])
        return np.asarray(self.vertices[np.unique((self.vertices @ outwards.T).argmax(axis=0))])


@dataclass(frozen=True)
class Scene:
    """Hold a robot's name, kinematic tree and shapes, and which these are."""

    name: str
    tree: Tree
    shapes: tuple[Shape, ...]
    kind: str = VISUAL

    @classmethod
    def parse(cls, urdf: str, *, collision: bool = False) -> Scene:
        """Read the tree and the shapes of a URDF.

        Args:
            urdf: description of the robot.
            collision: take the collision shapes, not the visual ones.

        Raises:
            AccordError: if the URDF is broken, or has nothing that can be drawn.
        """
        tree = Tree.parse(urdf)
        root = ET.fromstring(urdf)
        palette = {m.get("name", ""): _colour(m, {}) for m in root.findall("material")}
        elements = {e.get("name"): e for e in root.findall("link")}
        found = [
            _link_shapes(elements[link.name], index, palette, collision)
            for index, link in enumerate(tree.links)
        ]
        shapes, name = (
            tuple(shape for each, _ in found for shape in each),
            root.get("name", "robot"),
        )
        if not shapes and not collision:
            return cls.parse(urdf, collision=True)
        if not shapes:
            raise AccordError(f"{name} has no box, cylinder, sphere or mesh to draw")
        kind = COLLISION if collision else MIXED if any(mixed for _, mixed in found) else VISUAL
        return cls(name, tree, shapes, kind)

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
    element: ET.Element, link: int, palette: Mapping[str, Array], collision: bool
) -> tuple[list[Shape], bool]:
    """Return the shapes of a link, and whether collision shapes are among them."""
    visuals, solids = element.findall("visual"), element.findall("collision")
    colour = next((_colour(v.find("material"), palette) for v in visuals), np.array(GREY))
    shapes = list[Shape]()
    if not collision:
        drawn = [_shapes(v, link, _colour(v.find("material"), palette)) for v in visuals]
        shapes, collision = [shape for each in drawn for shape in each], not all(drawn)
    if collision:
        shapes += [shape for each in solids for shape in _shapes(each, link, colour)]
    return shapes, collision and bool(solids)


def _shapes(element: ET.Element, link: int, colour: Array) -> list[Shape]:
    """Return what can be drawn of an element: of a mesh, a shape of each colour."""
    try:
        form = read_geometry(element)
    except ValueError:
        return []
    if form.form == "mesh":
        return _mesh(form, link, colour)
    if form.form == "box":
        vertices, faces = box(form.size)
    elif form.form == "cylinder":
        vertices, faces = cylinder(form.radius, form.length)
    elif form.form == "sphere":
        vertices, faces = sphere(form.radius)
    else:
        return []
    return [Shape(link, form.placed(vertices), faces, colour[:3], float(colour[3]))]


def _mesh(form: Geometry, link: int, colour: Array) -> list[Shape]:
    """Return the shapes of a mesh in the colours of its file, or else in that of the URDF.

    What is translucent is painted, and has that colour throughout.
    """
    try:
        parts = _read(form.file)
    except AccordError as error:
        _log.warning("a mesh is left out: %s", error)
        return []
    opacity = float(colour[3])
    return [
        Shape(
            link,
            form.placed(vertices * form.scale),
            triangles,
            colour[:3] if own is None or opacity < 1.0 else own,
            opacity,
        )
        for vertices, triangles, own in parts
    ]


@cache
def _read(name: str) -> list[Part]:
    return read_parts(mesh_path(name))


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


def outlines(scene: Scene, origins: Array, rotations: Array) -> Array:
    """Return the outermost vertices of all shapes in a motion of the links (t, k, 3) [m]."""
    return np.concatenate(
        [
            np.einsum("tij,vj->tvi", rotations[:, s.link], s.outline) + origins[:, None, s.link]
            for s in scene.shapes
        ],
        axis=1,
    )


def tip(scene: Scene, motion: Trajectory) -> Aim | None:
    """Return the point of a robot on a fixed base that goes the longest path; None of another.

    The centre of mass of an arm shows little of its motion.
    """
    if motion.twist.any() or np.ptp(motion.position, axis=0).any() or not motion.qd.any():
        return None
    every = max(1, len(motion) // SAMPLES)
    pose = (motion.q[::every], motion.position[::every], motion.orientation[::every])
    origins, rotations = scene.tree.forward(motion.joints, *pose)
    points = outlines(scene, origins, rotations)
    links = np.repeat([s.link for s in scene.shapes], [len(s.outline) for s in scene.shapes])
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=2).sum(axis=0)
    lengths[~np.isin(links, _last_links(scene.tree))] = 0.0
    best = int(lengths.argmax())
    link = int(links[best])
    offset = (points[0, best] - origins[0, link]) @ rotations[0, link]
    name = scene.tree.links[link].name
    return Aim(f"tip of {name}", name, offset)


def _last_links(tree: Tree) -> list[int]:
    """Return the links that a joint moves, and beyond which none moves any."""
    moving = {joint.name for joint in tree.moving}
    body = {link.name: "" for link in tree.links}  # by the link that a joint moves with it
    for joint in tree.joints:  # parents first
        body[joint.child] = joint.child if joint.name in moving else body[joint.parent]
    inner = {"", *(body[joint.parent] for joint in tree.moving)}
    return [i for i, link in enumerate(tree.links) if body[link.name] not in inner]


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

    shift = moved(MOMENT) - moved(-MOMENT)
    return np.asarray(np.linalg.norm(shift, axis=1) / (2.0 * MOMENT))
