"""`accord packbot look --hulls`: links as rigid bodies of convex hulls, of any URDF or meshes.

The command reads collision shapes from a URDF, or from a folder of meshes (shapes.py). Each shape
becomes a convex hull, and the hulls of a link become a body of uniform density. It writes each hull
as an OBJ file, and hulls.yaml with volumes, centres of mass and inertias (docs/packbot_hulls.md).
HULLS adds the mode to `accord packbot look` by an entry point.

MIN_FIT may be tuned. HEADER and the keys of `figures_of` are output and must stay. test_hulls
compares volumes, centres and inertias with sums over parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
import yaml
from packbot.contact.solids import Hull, write_obj
from rich.table import Table
from roboaccord.cli import Force, Out, Result, counted, grid_of, quantity, results, warn
from roboaccord.contract import AccordError, AddedMode, Array, check_known, is_file, read_text
from roboaccord.contract import results as si
from roboaccord.description import FORMATS, mesh_path, read_mesh
from roboaccord.run import make_folder, write_text

from roboaccord_studies.packbot.shapes import Shape, mesh_shape, read_collisions, split

# Volume of a mesh over that of its hull, below which the mesh counts as far from convex. By choice:
# it only decides whether a note is printed, and a hull that is 10 % too large moves its contacts by
# some 3 % of its size (the cube root).
MIN_FIT = 0.9
# Beginning of hulls.yaml.
HEADER = """\
# Convex hulls of links, made by `accord packbot look --hulls`: m, kg, kg m^2, in the links' frames.
# Inertia is about the centre of mass; fit is the volume of a shape over its hull's.
"""


class Body(NamedTuple):
    """A link as a rigid body of convex hulls of one density; all lengths in the link's frame.

    Args:
        name: of the link.
        shapes: shapes whose hulls make the body.
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
    def volume(self) -> float:
        """Sum over all hulls; what two of them share counts twice [m^3]."""
        return sum(hull.volume for hull in self.hulls)

    @property
    def centre(self) -> Array:
        """Centre of mass (3,) [m]."""
        return np.asarray(sum(hull.volume * hull.centre for hull in self.hulls) / self.volume)

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass, in the axes of its frame (3, 3) [kg m^2]."""
        # Mean of x x^T over the body, about the frame's origin and then about the centre of mass.
        second = sum(hull.volume * hull.moments for hull in self.hulls) / self.volume
        second = second - np.outer(self.centre, self.centre)
        return np.asarray(self.mass * (np.trace(second) * np.eye(3) - second))


def make_bodies(
    shapes: Iterable[Shape], *, density: float, masses: Mapping[str, float]
) -> list[Body]:
    """Return the bodies of links, each with the hulls of its shapes.

    Args:
        shapes: of all links.
        density: of links whose mass is not given [kg/m^3].
        masses: of links by name [kg].

    Raises:
        AccordError: for a shape without volume, or a mass of a link that is not there.
    """
    by_link = dict[str, list[Shape]]()
    for shape in shapes:
        by_link.setdefault(shape.link, []).append(shape)
    check_known("no link ", masses, by_link)
    bodies = []
    for link, of_link in by_link.items():
        volume = sum(shape.hull.volume for shape in of_link)
        bodies.append(Body(link, of_link, masses.get(link, density * volume)))
    return bodies


def hull_warnings(bodies: Iterable[Body]) -> list[str]:
    """Return a line for every shape that its convex hull approximates badly."""
    lines = []
    for body in bodies:
        for shape in body.shapes:
            if np.isnan(shape.fit):
                lines.append(f"{shape.name} of {body.name} is not closed: its fit is not known")
            elif shape.fit < MIN_FIT:
                lines.append(
                    f"{shape.name} of {body.name} is far from convex: it fills "
                    f"{100.0 * shape.fit:.0f} % of its hull; split it"
                )
    return lines


def read_shapes(source: Path) -> list[Shape]:
    """Return the collision shapes of a URDF; or the meshes of a folder, each as a link.

    Raises:
        AccordError: if there is none, or one cannot be read.
    """
    if source.is_dir():
        files = sorted(path for path in source.iterdir() if path.suffix.lower() in FORMATS)
        shapes = [mesh_shape(path.stem, path.stem, *read_mesh(path)) for path in files]
    else:
        shapes = read_collisions(read_text(source), partial(_mesh_file, source), source.name)
    if not shapes:
        raise AccordError(f"{source} has no {'mesh' if source.is_dir() else 'collision shape'}")
    return shapes


def write_bodies(bodies: Sequence[Body], folder: Path) -> dict[str, si.Json]:
    """Write every hull as OBJ, and hulls.yaml with all figures; return these by link."""
    make_folder(folder)
    figures: dict[str, si.Json] = {}
    used_names = set[str]()
    for body in bodies:
        files = [_file_name(shape, used_names) for shape in body.shapes]
        for file, hull in zip(files, body.hulls, strict=True):
            write_obj(hull, folder / file, f"convex hull, in the frame of {body.name}, in m")
        figures[body.name] = figures_of(body, files)
    write_text(folder / "hulls.yaml", HEADER + yaml.safe_dump(si.to_json(figures), sort_keys=False))
    return figures


def figures_of(body: Body, files: Sequence[str]) -> dict[str, si.Json]:
    """Return the figures of a body by name, and those of its hulls, which are in `files`."""
    corners = np.concatenate([hull.vertices for hull in body.hulls])
    box = {"lower": corners.min(axis=0).tolist(), "upper": corners.max(axis=0).tolist()}
    inertia = body.inertia[np.triu_indices(3)].tolist()
    hulls: list[si.Json] = []
    for file, shape in zip(files, body.shapes, strict=True):
        volume, centre = shape.hull.volume, shape.hull.centre.tolist()
        hulls.append({"file": file, "volume": volume, "centre": centre, "fit": shape.fit})
    return {
        "mass": body.mass,
        "volume": body.volume,
        "centre": body.centre.tolist(),
        "inertia": dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), inertia, strict=True)),
        "box": box,
        "hulls": hulls,
    }


def _file_name(shape: Shape, used_names: set[str]) -> str:
    """Return a file name for a hull that is not used yet, and add it to those used."""
    plain_name = "".join(c if c.isalnum() or c in "-_." else "_" for c in shape.name)
    name, number = plain_name, 1
    while name in used_names:
        number += 1
        name = f"{plain_name}_{number}"
    used_names.add(name)
    return f"{name}.obj"


def _mesh_file(urdf: Path, name: str) -> Path:
    """Return the path of a mesh of a URDF: in its folder, in one above it, or in packages."""
    candidates = [urdf.parent / name.removeprefix("file://")]
    if name.startswith("package://"):
        path_in_package = name.removeprefix("package://").partition("/")[2]
        candidates = [folder / path_in_package for folder in urdf.resolve().parents[:3]]
    return next((path for path in candidates if is_file(path)), None) or mesh_path(name)


# Options of the mode.
SOURCE = typer.Option(
    metavar="URDF", help="Make the hulls of a URDF, or of a folder of meshes, each a link."
)
DENSITY = typer.Option(help="Density of all links.")
MASS = typer.Option(
    "--mass", metavar="LINK=KG", help="Mass of a link, in place of the density; may be repeated."
)
WHOLE = typer.Option("--whole", help="Make one hull of each mesh, not one of each connected part.")


def hulls_of(
    hulls: Annotated[Path | None, SOURCE] = None,
    density: Annotated[float, si.Quantity("kg/m^3"), DENSITY] = 1000.0,
    masses: Annotated[list[str] | None, MASS] = None,
    whole: Annotated[bool, WHOLE] = False,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """--hulls: the convex hulls of every link of any robot, and hulls.yaml with their figures.

    One hull is made of each collision shape of a URDF: of a box; of a cylinder or a ball, whose
    hull is a polyhedron inside it; of each connected part of a mesh. Files are in the frame of the
    link. A warning names each mesh that is far from convex. STL, DAE and others need trimesh.

    Examples:

      accord packbot look --hulls robot.urdf --mass link1_link=2.0 --out hulls
    """
    assert hulls is not None  # that selects the mode
    if not (math.isfinite(density) and density > 0.0):
        raise AccordError(f"--density is {density:g}, and must be positive")
    mass_of_link, shapes = dict(map(_mass, masses or ())), read_shapes(hulls)
    with (
        results(folder, "packbot_hulls", force=force) as out_folder,
        counted(len(shapes), "hulls") as advance,
    ):
        pieces = list[Shape]()
        for shape in shapes:
            pieces += [shape] if whole else split(shape)
            advance(1)
        bodies = make_bodies(pieces, density=density, masses=mass_of_link)
        links = write_bodies(bodies, out_folder)
    for line in hull_warnings(bodies):
        warn(line)
    explained = "inertia: about the centre; fit: how much of its hull a shape fills, the least"
    files = f"in {out_folder}: hulls.yaml, and an OBJ of each hull"
    return Result({"out": str(out_folder), "links": links}, [_table(bodies), explained, files])


def _table(bodies: Iterable[Body]) -> Table:
    """Return the figures of bodies as a table, a row for each."""
    rows = dict[str, tuple[float, ...]]()
    for body in bodies:
        fit = min(shape.fit for shape in body.shapes)
        rows[body.name] = (len(body.shapes), body.mass, *body.inertia.diagonal(), fit)
    headings = ("link", "hulls", "kg", "Ixx", "Iyy", "Izz [kg m^2]", "fit [1]")
    return grid_of(headings, rows, si.Quantity("", form=".3g"))


def _mass(text: str) -> tuple[str, float]:
    """Return link and mass [kg] of a value LINK=KG of --mass."""
    link, _, number = text.partition("=")
    mass = quantity(number)
    if not mass > 0.0:
        raise AccordError(f"--mass takes LINK=KG, KG positive, not {text!r}")
    return link, mass


def _is_asked(given: Mapping[str, object]) -> bool:
    """Return whether the options of `accord packbot look` ask for hulls."""
    return bool(given.get("hulls"))


HULLS = AddedMode(_is_asked, "hulls density mass whole out force", hulls_of)
