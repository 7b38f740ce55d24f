"""`accord packbot hulls`: convex hulls, boxes and inertias of any URDF or folder of meshes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table, progress, warn
from roboaccord.cli.folder import results
from roboaccord.cli.gathering import quantity
from roboaccord.cli.options import Force, Out
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity

from packbot.hulls.bodies import complaints, make_bodies, read_shapes, write_bodies


def hulls_command(
    source: Annotated[Path, typer.Argument(help="URDF, or folder of meshes, each a link.")],
    folder: Out = None,
    force: Force = False,
    density: Annotated[float, Quantity("kg/m^3"), typer.Option(help="Of all links.")] = 1000.0,
    masses: Annotated[
        list[str] | None,
        typer.Option("--mass", metavar="LINK=KG", help="Of a link instead; may be repeated."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="One hull a mesh, not one a connected part of it.")
    ] = False,
) -> Result:
    """Make the convex hulls of every link, with its box, volume, centre and inertia.

    Writes hulls.yaml and an OBJ of each hull.

    One hull is made of each collision shape of a URDF: of a box; of a cylinder or a ball, whose
    hull is a polyhedron inside it; of each connected part of a mesh. Files are in the frame of the
    link. A warning tells which mesh is far from convex. STL, DAE and others need trimesh.

    Examples:

      accord packbot hulls robot.urdf --out hulls

      accord packbot hulls meshes/ --density 2700 --json

      accord packbot hulls robot.urdf --mass link1_link=2.0 --mass link2_link=1.9
    """
    if not (math.isfinite(density) and density > 0.0):
        raise AccordError(f"--density is {density:g}, and must be positive")
    given = dict(map(_mass, masses or ()))
    shapes = read_shapes(source)
    with results(folder, "packbot_hulls", force=force) as place, progress() as bar:
        task = bar.add_task("hulls", total=len(shapes))
        bodies = make_bodies(
            shapes, density=density, masses=given, whole=whole, done=lambda: bar.advance(task)
        )
        links = write_bodies(bodies, place)
    for line in complaints(bodies):
        warn(line)
    return Result({"out": str(place), "links": links}, shown_of(links, place))


def shown_of(links: dict[str, Any], folder: Path) -> list[RenderableType]:
    """Return the figures for people."""
    table = make_table(
        "link", "hulls", "mass\n[kg]", "box\n[mm]", "ixx iyy izz\n[kg m^2]", "fit\n[1]"
    )
    for name, link in links.items():
        size = 1e3 * (link["box"]["upper"] - link["box"]["lower"])
        table.add_row(
            name, str(len(link["hulls"])), f"{link['mass']:.4g}",
            " ".join(f"{v:.0f}" for v in size),
            " ".join(f"{link['inertia'][key]:.3g}" for key in ("ixx", "iyy", "izz")),
            f"{np.min([hull['fit'] for hull in link['hulls']]):.2f}",
        )  # fmt: skip
    explained = "inertia: about the centre; fit: how much of its hull a shape fills, the least"
    return [table, Text(explained), f"in {folder}: hulls.yaml, and an OBJ of each hull"]


def _mass(words: str) -> tuple[str, float]:
    link, _, number = words.partition("=")
    mass = quantity(number)
    if not mass > 0.0:
        raise AccordError(f"--mass takes LINK=KG, KG positive, not {words!r}")
    return link, mass
