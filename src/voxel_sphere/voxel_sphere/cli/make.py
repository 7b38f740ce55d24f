"""Command `accord voxel-sphere make`: makes terrain as slices from a surface, a height or a sheet.

`make_command` describes the terrain as a recipe (terrain/recipes.py), fills its volumes of voxels,
and writes them into a workspace, a folder of slices (terrain/generate.py). A surface of
terrain/surfaces.py is a name of `make` without further changes; parameters with a new name become
fields of Shape.

Keys of Made stay, and so do the defaults, for scripts rely on them: 100 voxels and a thickness of 6
are our choice, n / r = 10 is that of the source (the description of a MATLAB program,
docs/voxel_sphere.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from roboaccord import cli
from roboaccord.contract import AccordError, Degrees, Metres, Modes, Quantity, Ratio
from typer import Argument, Option
from typer.models import OptionInfo

from voxel_sphere.cli.options import Replace
from voxel_sphere.terrain.generate import Part, check_workspace, surface_parts, write_workspace
from voxel_sphere.terrain.recipes import Recipe, sheet_of, surface_of
from voxel_sphere.terrain.settings import KINDS, SIZE_WORKSPACE, VOXEL_SIZE
from voxel_sphere.terrain.surfaces import SURFACES

Interval = tuple[str, str]  # first and last value, as expressions
UNIT_INTERVAL: Interval = ("0", "1")
Voxels = Annotated[float, Quantity("voxels")]
Radii = Annotated[float | None, Quantity("r")]
Angle = Degrees | None
BOWL_HELP = "Radius of the bowl; the ball's centre moves on 1 r less."
HEIGHT_HELP = "Height z as an expression of x, y, n and r."
THICKNESS_HELP = "Thickness of --xyz, opposite to dP/ds x dP/dt."
KIND_HELP = "Kind of volume that --xyz makes."
OUT_HELP = "Folder for Bitmaps_n, or Bitmaps_n itself."
BINARY_HELP = "Write black and white slices, without grey."
XYZ_HELP = "Surface X, Y, Z as expressions of s, t, n and r."
Texts = tuple[str, str, str]  # expressions of X, Y and Z
SheetTexts = Annotated[Texts | None, Quantity("voxels"), Option(metavar="EX EY EZ", help=XYZ_HELP)]
HeightText = Annotated[str | None, Quantity("voxels"), Option(metavar="EXPR", help=HEIGHT_HELP)]


def parameter(text: str) -> OptionInfo:
    """Return an option for a parameter of the named surfaces."""
    option: OptionInfo = Option(help=text, rich_help_panel="Named surfaces")
    return option


@dataclass(frozen=True)
class Shape:
    """Parameters of the named surfaces; lengths in radii r of the sphere."""

    angle_deg: Annotated[Angle, parameter("Angle of the incline.")] = None
    direction_deg: Annotated[Angle, parameter("Direction of the incline or waves; 0 is +x.")] = None
    amplitude: Annotated[Radii, parameter("Amplitude of the waves.")] = None
    wavelength: Annotated[Radii, parameter("Wavelength of the waves.")] = None
    bowl_radius: Annotated[Radii, parameter(BOWL_HELP)] = None
    rim: Annotated[Ratio | None, parameter("Rim of the bowl, in its radii.")] = None
    saddle_radius: Annotated[Radii, parameter("Radius of both curvatures.")] = None
    rise: Annotated[Radii, parameter("Rise of the ramp.")] = None
    length: Annotated[Radii, parameter("Length of the ramp.")] = None
    half_width: Annotated[Radii, parameter("Distance from the middle to the walls.")] = None
    wall_height: Annotated[Radii, parameter("Height of the walls.")] = None
    tunnel_radius: Annotated[Radii, parameter("Radius of the tunnel.")] = None
    turn_deg: Annotated[Angle, parameter("Rotation of the arena in plan.")] = None
    base: Annotated[Radii, parameter("Height of the ground.")] = None


DEFAULT_SHAPE = Shape()


@dataclass(frozen=True)
class Made:
    """A workspace just made: its folder, n and radius [voxels], its volumes and their recipe."""

    path: Annotated[str, Quantity("")]
    n: Annotated[int, Quantity("voxels", "along each edge of the grid")]
    radius: Annotated[float, Quantity("voxels", "of the sphere")]
    voxel_size: Metres
    volumes: Annotated[list[str], Quantity("")]
    recipe: Recipe


def _modes(values: Mapping[str, Any]) -> list[str]:
    """Return the mode of `make`, by which it refuses options of other modes."""
    if values["xyz"]:
        return ["with --xyz"]
    return ["with --height" if values["height"] else "SURFACE"]


# Options by the mode that takes them; those of "" are for all modes.
OPTIONS = {
    "SURFACE": " ".join(field.name.replace("_", "-") for field in fields(Shape)),
    "with --xyz": "s t thickness kind",
    "": "height xyz n out name binary force size-workspace voxel-size",
}


@Modes(_modes, OPTIONS)
def make_command(
    surface: Annotated[str | None, Argument(help=f"One of {', '.join(SURFACES)}.")] = None,
    height: HeightText = None,
    xyz: SheetTexts = None,
    s: Annotated[Interval, Option(metavar="A B", help="Interval of s in --xyz.")] = UNIT_INTERVAL,
    t: Annotated[Interval, Option(metavar="A B", help="Interval of t in --xyz.")] = UNIT_INTERVAL,
    thickness: Annotated[Voxels, Option(help=THICKNESS_HELP)] = 6.0,
    kind: Annotated[str, Option(metavar="surface|walls|workspace", help=KIND_HELP)] = "surface",
    n: Annotated[int, Option("--n", help="Number of voxels along each edge of the grid.")] = 100,
    folder: Annotated[Path, Option("--out", metavar="DIR", help=OUT_HELP)] = Path("runs/terrain"),
    name: Annotated[str | None, Option(help="Name of the volume's folder.")] = None,
    binary: Annotated[bool, Option("--binary", help=BINARY_HELP)] = False,
    force: Replace = False,
    size_workspace: Annotated[Ratio, Option(help="Ratio n / r.")] = SIZE_WORKSPACE,
    voxel_size: Annotated[Metres, Option(help="Edge of a voxel.")] = VOXEL_SIZE,
    shape: Shape = DEFAULT_SHAPE,
) -> cli.Result:
    """Generate a surface, with its walls if it has some, and the robot, as slices.

    Lengths of named surfaces are in radii r of the sphere; those of expressions in voxels.

    Examples:

      accord voxel-sphere make bowl --n 100 --out terrains

      accord voxel-sphere make arena --turn-deg 30 --n 100 --out terrains

      accord voxel-sphere make --height "2*r + 0.3*r*sin(2*pi*x/(5*r))" --n 100 --out terrains

      accord voxel-sphere make --xyz "n/2 + 4*r*cos(t)" "n/2 + 4*r*sin(t)" "s" --s r 6*r --t 0 2*pi
      --kind walls --n 100 --out terrains
    """
    if [surface, height, xyz].count(None) != 2:
        raise AccordError(f"give one of --height, --xyz, or a surface of {', '.join(SURFACES)}")
    if kind not in KINDS[1:]:
        raise AccordError(f"--kind is one of {', '.join(KINDS[1:])}, not {kind}")
    recipe: Recipe = {"height": height}
    if surface is not None:
        given = {key: value for key, value in vars(shape).items() if value is not None}
        recipe = {"surface": surface, "parameters": given}
    elif xyz is not None:
        recipe = {"xyz": [*xyz], "s": [*s], "t": [*t], "thickness": thickness}
    name = name or surface or kind
    radius = n / size_workspace
    scale = {"size_workspace": size_workspace, "voxel_size": voxel_size}
    target = check_workspace(folder, n, [name], **scale, replace=force)
    has_ours = target == folder or cli.is_own(folder) or any(folder.glob("Bitmaps_*"))
    with (
        cli.results(folder, "terrain", force=force, adds=has_ours),
        cli.counted(6 * n, f"making {name}") as done,
    ):
        if xyz:
            volume = sheet_of(recipe, n, radius).fill(n, binary=binary, done=done)
            parts = [Part(name, kind, volume, recipe, not binary)]
        else:
            ground = surface_of(recipe, n, radius)
            parts = surface_parts(ground, n, name=name, recipe=recipe, binary=binary, done=done)
        workspace = write_workspace(
            folder, n, parts, **scale, binary=binary, replace=force, done=done
        )
    volumes = [part.name for part in parts]
    return cli.Result(Made(str(workspace.path), n, radius, voxel_size, volumes, recipe))
