"""Bodies of hulls from files and to files: any URDF, or a folder of meshes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import yaml
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import is_file, read_text
from roboaccord.contract.results import Json, to_json
from roboaccord.description.meshes import FORMATS, mesh_path, read_mesh
from roboaccord.run.output import make_folder, write_text

from packbot.hulls.bodies import Body, fit
from packbot.hulls.collisions import Shape, mesh_shape, read_collisions
from packbot.hulls.solids import write_obj

HEAD = """\
# Convex hulls of links, made by `accord packbot hulls`: m, kg, kg m^2, in the links' frames.
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
                "volume": hull.volume,
                "centre": hull.centre.tolist(),
                "fit": fit(shape, hull),
            }
            for file, shape, hull in zip(files, body.shapes, body.hulls, strict=True)
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
