"""`accord voxel-sphere make`: generate a workspace from a named surface or from expressions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli import Result, counted, is_own, results
from roboaccord.contract import AccordError, Degrees, Metres, Quantity, Ratio
from typer.models import OptionInfo

from voxel_sphere.cli.terrain import Replace
from voxel_sphere.terrain.generate import Part, check_place, place, surface_parts
from voxel_sphere.terrain.recipes import Recipe, sheet_of, surface_of
from voxel_sphere.terrain.settings import KINDS, SIZE_WORKSPACE, VOXEL_SIZE
from voxel_sphere.terrain.slices import Done
from voxel_sphere.terrain.surfaces import SURFACES

Interval = tuple[str, str]


def of_named(text: str) -> OptionInfo:
    """Return an option for a parameter of the named surfaces."""
    found: OptionInfo = typer.Option(help=text, rich_help_panel="Named surfaces")
    return found


@dataclass(frozen=True)
class Shape:
    """Parameters of the named surfaces; lengths in radii r of the sphere."""

    angle_deg: Annotated[Degrees | None, of_named("Of the incline.")] = None
    direction_deg: Annotated[
        Degrees | None, of_named("In which incline or waves run; 0 is +x.")
    ] = None
    amplitude: Annotated[float | None, Quantity("r"), of_named("Of the waves.")] = None
    wavelength: Annotated[float | None, Quantity("r"), of_named("Of the waves.")] = None
    bowl_radius: Annotated[
        float | None, Quantity("r"), of_named("Of the bowl; the ball's centre moves on 1 r less.")
    ] = None
    rim: Annotated[Ratio | None, of_named("Where the bowl ends, in its radii.")] = None
    saddle_radius: Annotated[float | None, Quantity("r"), of_named("Of both curvatures.")] = None
    rise: Annotated[float | None, Quantity("r"), of_named("Of the ramp.")] = None
    length: Annotated[float | None, Quantity("r"), of_named("Of the ramp.")] = None
    half_width: Annotated[
        float | None, Quantity("r"), of_named("From the middle to the walls.")
    ] = None
    wall_height: Annotated[float | None, Quantity("r"), of_named("Of the walls.")] = None
    tunnel_radius: Annotated[float | None, Quantity("r"), of_named("Of the tunnel.")] = None
    turn_deg: Annotated[Degrees | None, of_named("Turns the arena in plan.")] = None
    base: Annotated[float | None, Quantity("r"), of_named("Height of the ground.")] = None


NAMED = Shape()


@dataclass(frozen=True)
class Made:
    """Hold what was made: its folder, n and radius [voxels], and its volumes with their recipe."""

    path: Annotated[str, Quantity("")]
    n: Annotated[int, Quantity("voxels", "along each edge of the grid")]
    radius: Annotated[float, Quantity("voxels", "of the sphere")]
    voxel_size: Metres
    volumes: Annotated[list[str], Quantity("")]
    recipe: Recipe


def make_command(
    surface: Annotated[str | None, typer.Argument(help=f"One of {', '.join(SURFACES)}.")] = None,
    height: Annotated[
        str | None, Quantity("voxels"), typer.Option(metavar="EXPR", help="z of x, y, n and r.")
    ] = None,
    xyz: Annotated[
        tuple[str, str, str] | None,
        Quantity("voxels"),
        typer.Option(metavar="EX EY EZ", help="X, Y, Z of s, t, n and r."),
    ] = None,
    s: Annotated[Interval, typer.Option("--s", metavar="A B", help="Of --xyz.")] = ("0", "1"),
    t: Annotated[Interval, typer.Option("--t", metavar="A B", help="Of --xyz.")] = ("0", "1"),
    thickness: Annotated[
        float, Quantity("voxels"), typer.Option(help="Of --xyz, behind dP/ds x dP/dt.")
    ] = 6.0,
    kind: Annotated[
        str, typer.Option(metavar="surface|walls|workspace", help="What --xyz makes.")
    ] = "surface",
    n: Annotated[int, typer.Option("--n", help="Voxels along each edge of the grid.")] = 100,
    folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Bitmaps_n goes here, or is this folder.")
    ] = Path("runs/terrain"),
    name: Annotated[str | None, typer.Option(help="Of the volume's folder.")] = None,
    binary: Annotated[bool, typer.Option("--binary", help="Black and white, no grey.")] = False,
    force: Replace = False,
    size_workspace: Annotated[Ratio, typer.Option(help="n / r.")] = SIZE_WORKSPACE,
    voxel_size: Annotated[Metres, typer.Option(help="Edge of a voxel.")] = VOXEL_SIZE,
    shape: Shape = NAMED,
) -> Result:
    """Generate a surface, with its walls if it has some, and the robot, as slices.

    Lengths of named surfaces are in radii r of the sphere; those of expressions in voxels.

    Examples:

      accord voxel-sphere make bowl --n 100 --out terrains

      accord voxel-sphere make arena --turn-deg 30 --n 100 --out terrains

      accord voxel-sphere make --height "2*r + 0.3*r*sin(2*pi*x/(5*r))" --n 100 --out terrains

      accord voxel-sphere make --xyz "n/2 + 4*r*cos(t)" "n/2 + 4*r*sin(t)" "s" --s r 6*r --t 0 2*pi
      --kind walls --n 100 --out terrains
    """
    parameters = {key: value for key, value in vars(shape).items() if value is not None}
    sheet: Recipe | None = (
        None if xyz is None else {"xyz": [*xyz], "s": [*s], "t": [*t], "thickness": thickness}
    )
    recipe = recipe_of(surface, height, sheet, parameters)
    name = name or surface or kind
    scale = {"size_workspace": size_workspace, "voxel_size": voxel_size}
    target = check_place(folder, n, [name], **scale, replace=force)
    known = target == folder or is_own(folder) or any(folder.glob("Bitmaps_*"))
    radius = n / size_workspace
    with (
        results(folder, "terrain", force=force, known=known),
        counted(6 * n, f"making {name}") as done,
    ):
        parts = filled(recipe, n, radius, name=name, kind=kind, binary=binary, done=done)
        workspace = place(folder, n, parts, **scale, binary=binary, replace=force, done=done)
    volumes = [part.name for part in parts]
    made = Made(str(workspace.path), n, radius, voxel_size, volumes, recipe)
    unused = ("s", "t", "thickness", "kind") if xyz is None else ()
    return Result(made, used=dict.fromkeys(unused))


def recipe_of(
    surface: str | None, height: str | None, sheet: Recipe | None, parameters: dict[str, float]
) -> Recipe:
    """Return the recipe that the command line states.

    Raises:
        AccordError: unless it is exactly one.
    """
    if [surface, height, sheet].count(None) != 2:
        raise AccordError(f"give one of --height, --xyz, or a surface of {', '.join(SURFACES)}")
    if surface is not None:
        return {"surface": surface, "parameters": parameters}
    if parameters:
        raise AccordError(f"--{next(iter(parameters)).replace('_', '-')} is of a named surface")
    return sheet or {"height": height}


def filled(
    recipe: Recipe, n: int, radius: float, *, name: str, kind: str, binary: bool, done: Done
) -> list[Part]:
    """Return the volumes of a recipe; `kind` is that of a sheet, others have their own.

    Raises:
        AccordError: if they cannot be made.
    """
    if kind not in KINDS[1:]:
        raise AccordError(f"--kind is one of {', '.join(KINDS[1:])}, not {kind}")
    if "xyz" in recipe:
        volume = sheet_of(recipe, n, radius).fill(n, binary=binary, done=done)
        return [Part(name, kind, volume, recipe, not binary)]
    if kind != KINDS[1]:
        raise AccordError("--kind is for --xyz; named surfaces and heights are surfaces")
    surface = surface_of(recipe, n, radius)
    return surface_parts(surface, n, name=name, recipe=recipe, binary=binary, done=done)
