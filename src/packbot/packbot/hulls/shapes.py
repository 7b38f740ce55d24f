"""The Packbot's convex solids, as `config/shapes.yaml` has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.run.output import make_folder, write_text

from packbot.hulls.solids import Hull, write_obj

HEAD = """\
# Volume [m^3], centre [m] and second moments (mean of x x^T about the frame's origin) [m^2]
# of meshes/*.obj, each in its own frame. Made of config/shapes.yaml by `accord packbot shapes`; the
# xacro reads it."""
SIDES = 12  # of a prism; its flats face along the axes


def shape_vertices() -> dict[str, Array]:
    """Return the vertices of every solid, each in its own frame (v, 3) [m]."""
    described = read_yaml(share("packbot") / "config" / "shapes.yaml")
    return {name: vertices_of(shape, name) for name, shape in described.items()}


def write_shapes(folder: Path) -> list[Path]:
    """Write the hulls as meshes/*.obj and their moments as config/hulls.yaml; return the files."""
    meshes, table = make_folder(folder, "meshes"), make_folder(folder, "config") / "hulls.yaml"
    lines, files = [HEAD], []
    for name, vertices in shape_vertices().items():
        hull = Hull.around(vertices, name)
        files.append(meshes / f"{name}.obj")
        write_obj(hull, files[-1], f"{name}: made of config/shapes.yaml by `accord packbot shapes`")
        places = dict(zip("xyz", hull.centre, strict=True))
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        moments = {"xyz"[i] + "xyz"[j]: hull.moments[i, j] for i, j in pairs}
        words = [f"{key}: {_number(value)}" for key, value in (places | moments).items()]
        lines.append(f"{name}: {{volume: {hull.volume!r}, {', '.join(words)}}}")
    write_text(table, "\n".join(lines) + "\n")
    return [*files, table]


def _number(value: float) -> str:
    """Return a number with all digits, round-off replaced by 0."""
    return repr(float(value) if abs(value) > 1e-15 else 0.0)


def vertices_of(shape: Mapping[str, Any], name: str) -> Array:
    """Return the vertices of a solid described by `box`, `prism` or `hull` (v, 3) [m].

    Raises:
        AccordError: if it is none of them.
    """
    at = np.array(shape.get("at", (0.0, 0.0, 0.0)), dtype=float)
    if "box" in shape:
        corners = box_corners(np.array(shape["box"], dtype=float))
        return np.asarray(at + corners)
    if "prism" in shape:
        prism = shape["prism"]
        corners = prism_corners(prism["axis"], prism["radius"], prism["length"], SIDES)
        return np.asarray(at + corners)
    if "hull" in shape:
        parts = [vertices_of(part, name) for part in shape["hull"]]
        return np.asarray(at + np.concatenate(parts))
    raise AccordError(f"shape {name} is no box, prism or hull")


def box_corners(size: Array) -> Array:
    """Return the corners of a box about the origin (8, 3) [m]."""
    signs = [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    return np.asarray(np.array(signs) * size)


def prism_corners(axis: str, radius: float, length: float, sides: int) -> Array:
    """Return the corners of a regular prism about the origin, flats across the other axes.

    Args:
        axis: x, y or z.
        radius: of the circle about its cross section [m].
        length: along the axis [m].
        sides: of the cross section.
    """
    turn = (np.arange(sides) + 0.5) * 2.0 * np.pi / sides
    along = "xyz".index(axis)
    rings = np.zeros((2, sides, 3))
    rings[:, :, along] = [[-0.5 * length], [0.5 * length]]
    rings[:, :, (along + 1) % 3] = radius * np.cos(turn)
    rings[:, :, (along + 2) % 3] = radius * np.sin(turn)
    return rings.reshape(-1, 3)
