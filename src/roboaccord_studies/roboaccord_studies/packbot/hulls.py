"""Links as rigid bodies of convex hulls, from any URDF or folder of meshes.

The report's createCollisionBodies asks for the points of every polyhedron and boxes those of a
frame; here they are read, and volume, centre and inertia come with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from packbot.contact.solids import Hull, write_obj
from roboaccord.contract import AccordError, Array, Json, check_known, is_file, read_text, to_json
from roboaccord.description import FORMATS, mesh_path, read_mesh
from roboaccord.run import make_folder, write_text

from roboaccord_studies.packbot.shapes import Shape, mesh_shape, read_collisions, split

FAR = 0.9  # of a hull's volume: a mesh that fills less is far from convex


@dataclass(frozen=True)
class Body:
    """Hold a link made of convex hulls of one density.

    Args:
        name: of the link.
        shapes: what the hulls are made of, one each, in the link's frame.
        mass: [kg].
    """

    name: str
    shapes: list[Shape]
    mass: float

    @property
    def hulls(self) -> list[Hull]:
        """The hulls of its shapes."""
        return [shape.hull for shape in self.shapes]

    @property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the bounding box along its frame's axes (3,), (3,) [m]."""
        corners = np.concatenate([hull.vertices for hull in self.hulls])
        return corners.min(axis=0), corners.max(axis=0)

    @property
    def volume(self) -> float:
        """Of all hulls; what two share counts twice [m^3]."""
        return sum(hull.volume for hull in self.hulls)

    @property
    def centre(self) -> Array:
        """Centre of mass (3,) [m]."""
        return np.asarray(sum(hull.volume * hull.centre for hull in self.hulls) / self.volume)

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass, in the axes of its frame (3, 3) [kg m^2]."""
        second = sum(hull.volume * hull.moments for hull in self.hulls) / self.volume
        second = second - np.outer(self.centre, self.centre)
        return np.asarray(self.mass * (np.trace(second) * np.eye(3) - second))


def make_bodies(
    shapes: Iterable[Shape],
    *,
    density: float,
    masses: Mapping[str, float],
    whole: bool = False,
    done: Callable[[], None] = lambda: None,
) -> list[Body]:
    """Make the bodies of links, one hull a shape.

    Args:
        shapes: collision shapes of all links.
        density: of links whose mass is not given [kg/m^3].
        masses: of links by name [kg].
        whole: whether a mesh of several connected parts gets one hull and not one a part.
        done: called after each shape.

    Raises:
        AccordError: for a shape without volume, or a mass of a link that is not there.
    """
    made, volumes = dict[str, list[Shape]](), dict[str, float]()
    for shape in shapes:
        for part in [shape] if whole else split(shape):
            made.setdefault(part.link, []).append(part)
            volumes[part.link] = volumes.get(part.link, 0.0) + part.hull.volume
        done()
    check_known("no link ", masses, made)
    return [
        Body(link, parts, masses.get(link, density * volumes[link])) for link, parts in made.items()
    ]


def complaints(bodies: Iterable[Body]) -> list[str]:
    """Return a line for every shape that its convex hull approximates badly."""
    lines = []
    for body in bodies:
        for shape in body.shapes:
            if np.isnan(shape.fit):
                lines.append(f"{shape.name} of {body.name} is not closed: its fit is not known")
            elif shape.fit < FAR:
                lines.append(
                    f"{shape.name} of {body.name} is far from convex: it fills "
                    f"{100.0 * shape.fit:.0f} % of its hull; split it"
                )
    return lines


HEAD = """\
# Convex hulls of links, made by `accord packbot look --hulls`: m, kg, kg m^2, in the links' frames.
# Inertia is about the centre of mass; fit is the volume of a shape over its hull's.
"""


def read_shapes(source: Path) -> list[Shape]:
    """Return the collision shapes of a URDF, or the meshes of a folder, each a link.

    Raises:
        AccordError: if there is none, or one cannot be read.
    """
    if source.is_dir():
        files = sorted(path for path in source.iterdir() if path.suffix.lower() in FORMATS)
        shapes = [mesh_shape(path.stem, path.stem, *read_mesh(path)) for path in files]
    else:
        shapes = read_collisions(read_text(source), _finder(source), source.name)
    if not shapes:
        raise AccordError(f"{source} has no {'mesh' if source.is_dir() else 'collision shape'}")
    return shapes


def write_bodies(bodies: Sequence[Body], folder: Path) -> dict[str, Json]:
    """Write every hull as OBJ, and hulls.yaml with all figures; return these."""
    make_folder(folder)
    figures: dict[str, Json] = {}
    names = set[str]()
    for body in bodies:
        files = [_file_name(shape, names) for shape in body.shapes]
        for file, hull in zip(files, body.hulls, strict=True):
            write_obj(hull, folder / file, f"convex hull, in the frame of {body.name}, in m")
        figures[body.name] = figures_of(body, files)
    write_text(folder / "hulls.yaml", HEAD + yaml.safe_dump(to_json(figures), sort_keys=False))
    return figures


def figures_of(body: Body, files: Sequence[str]) -> dict[str, Json]:
    """Return the figures of a body whose hulls are in files."""
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    lower, upper = body.box
    return {
        "mass": body.mass,
        "volume": body.volume,
        "centre": body.centre.tolist(),
        "inertia": dict(zip(names, body.inertia[np.triu_indices(3)].tolist(), strict=True)),
        "box": {"lower": lower.tolist(), "upper": upper.tolist()},
        "hulls": [
            {
                "file": file,
                "volume": shape.hull.volume,
                "centre": shape.hull.centre.tolist(),
                "fit": shape.fit,
            }
            for file, shape in zip(files, body.shapes, strict=True)
        ],
    }


def _file_name(shape: Shape, taken: set[str]) -> str:
    """Return a file name for a hull that is not taken yet, and take it."""
    plain_name = "".join(c if c.isalnum() or c in "-_." else "_" for c in shape.name)
    name, number = plain_name, 1
    while name in taken:
        number += 1
        name = f"{plain_name}_{number}"
    taken.add(name)
    return f"{name}.obj"


def _finder(urdf: Path) -> Callable[[str], Path]:
    """Return what finds the meshes of a URDF: beside it, in a folder above it, or in packages."""

    def find(name: str) -> Path:
        inside = name.removeprefix("package://").partition("/")[2]
        beside = [urdf.parent / name.removeprefix("file://")]
        if name.startswith("package://"):
            beside = [folder / inside for folder in urdf.resolve().parents[:3]]
        return next((path for path in beside if is_file(path)), None) or mesh_path(name)

    return find
