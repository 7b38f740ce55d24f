"""`accord packbot look --hulls`: the convex hulls of any robot, a mode that is added to `look`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli import Force, Out, Result, counted, grid_of, quantity, results, warn
from roboaccord.contract import AccordError, AddedMode, Quantity

from roboaccord_studies.packbot.hulls import complaints, make_bodies, read_shapes, write_bodies


def hulls_of(
    hulls: Annotated[
        Path | None,
        typer.Option(
            metavar="URDF", help="Make the hulls of a URDF, or of a folder of meshes, each a link."
        ),
    ] = None,
    density: Annotated[
        float, Quantity("kg/m^3"), typer.Option(help="Density of all links.")
    ] = 1000.0,
    masses: Annotated[
        list[str] | None,
        typer.Option(
            "--mass",
            metavar="LINK=KG",
            help="Mass of a link, in place of the density; may be repeated.",
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Make one hull of each mesh, not one of each connected part."),
    ] = False,
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
    given, shapes = dict(map(_mass, masses or ())), read_shapes(hulls)
    with (
        results(folder, "packbot_hulls", force=force) as place,
        counted(len(shapes), "hulls") as advance,
    ):
        bodies = make_bodies(
            shapes, density=density, masses=given, whole=whole, done=lambda: advance(1)
        )
        links = write_bodies(bodies, place)
    for line in complaints(bodies):
        warn(line)
    rows = {
        b.name: (len(b.hulls), b.mass, *b.inertia.diagonal(), min(s.fit for s in b.shapes))
        for b in bodies
    }
    headings = ("link", "hulls", "kg", "Ixx", "Iyy", "Izz [kg m^2]", "fit [1]")
    return Result({"out": str(place), "links": links}, [
        grid_of(headings, rows, Quantity("", form=".3g")),
        "inertia: about the centre; fit: how much of its hull a shape fills, the least",
        f"in {place}: hulls.yaml, and an OBJ of each hull",
    ])  # fmt: skip


def _mass(words: str) -> tuple[str, float]:
    link, _, number = words.partition("=")
    mass = quantity(number)
    if not mass > 0.0:
        raise AccordError(f"--mass takes LINK=KG, KG positive, not {words!r}")
    return link, mass


HULLS = AddedMode(
    lambda given: bool(given.get("hulls")), "hulls density mass whole out force", hulls_of
)
