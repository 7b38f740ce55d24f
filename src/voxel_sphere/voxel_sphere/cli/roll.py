"""`accord voxel-sphere roll`: roll the sphere over a workspace."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, command_line, figure_lines, log, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_target
from roboaccord.run.output import make_folder
from roboaccord.run.versions import made_with

from voxel_sphere.rolling.distance import Solid
from voxel_sphere.rolling.field import Field, choose, fields, stages
from voxel_sphere.rolling.motion import SCHEMES, Rolling, check_scheme, roll
from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.rolling.walls import STEEP, WallLaw
from voxel_sphere.source.pages import write_run
from voxel_sphere.source.variants import roll_as_described
from voxel_sphere.terrain.workspace import Terrain

SAMPLES = 500


def roll_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="With a folder Bitmaps_n.")],
    omega: Annotated[
        tuple[float, float],
        typer.Option(metavar="WX WY", help="Angular velocity, world frame, in rad/s; w_z is 0."),
    ],
    time: Annotated[float, typer.Option(metavar="T", help="To roll, in s.")] = 1.0,
    start: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="X Y", help="Of the centre, in voxels; the middle by default."),
    ] = None,
    surface: Annotated[str | None, typer.Option(metavar="S", help="Volume of the ground.")] = None,
    walls: Annotated[str | None, typer.Option(metavar="W", help="Volume of the walls.")] = None,
    workspace: Annotated[
        str | None, typer.Option(metavar="N", help="Volume with ground and walls in one.")
    ] = None,
    start_z: Annotated[
        float | None, typer.Option(metavar="Z", help="Of the centre, where there are two floors.")
    ] = None,
    scheme: Annotated[
        str, typer.Option(metavar="exact|local_plane|as_described", help="How it rolls.")
    ] = "exact",
    after: Annotated[
        str, typer.Option(metavar="parallel|reflected", help="How it goes on after a wall.")
    ] = "parallel",
    steep: Annotated[
        float, typer.Option(help="From here on a face of --workspace is wall, in deg from level.")
    ] = STEEP,
    step: Annotated[
        float | None, typer.Option(help="Of the integration, in s; 0.02 rad of turn by default.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Intervals of the path that is written.")] = SAMPLES,
    normalised: Annotated[
        bool, typer.Option("--normalised", help="Lengths in radii, times in T: r = 1, t_final = 1.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE|DIR", help="For the path: .csv, .npz, or a folder."),
    ] = None,
    force: Force = False,
) -> Result:
    """Roll the sphere without slipping, with a constant angular velocity until it meets a wall.

    Lengths in voxels from the grid's corner, or in radii with --normalised, where --omega is in rad
    per run and --time is not used. The file has all samples; without --out the JSON's `path` is the
    list of centres. A folder gets path.csv, path.svg, and a page to look at, index.html. A run that
    the theory does not cover ends there, is saved, and exits with 1.

    Examples:

      accord voxel-sphere roll terrain --omega 0 1 --time 5 --start 30 50

      accord voxel-sphere roll terrain --workspace arena --omega 2 9 --time 5 --out path.csv --json

      accord voxel-sphere roll terrain --omega 6 3 --out run
    """
    check_file(file)
    check_scheme(scheme, (*SCHEMES, "as_described"))
    law = WallLaw(after=after)  # type: ignore[arg-type]
    with place_for(file, force), progress() as bar:
        opened, terrain = choose(folder, surface=surface, walls=walls, workspace=workspace)
        r = terrain.radius
        length, duration = (r, 1.0) if normalised else (1.0, time)
        middle = terrain.n / (2 * length)
        x, y = (length * value for value in start or (middle, middle))
        building = bar.add_task("distances", total=stages(opened, terrain))
        ground, of_walls = fields(
            opened, terrain, steep=steep, done=lambda count: bar.advance(building, count)
        )
        centre = ground.place(x, y, None if start_z is None else length * start_z)
        rolling = bar.add_task(COMPILING, total=samples)
        path = run(
            scheme, terrain.solid, ground, of_walls, centre=centre, omega=(*omega, 0.0),
            duration=duration, law=law, step=step, samples=samples,
            done=lambda count: bar.update(rolling, advance=count, description="rolling"),
        )  # fmt: skip
        files = [] if file is None else save(path, terrain, file)
    data = figures(path, length, str(files[0]) if files else None)
    data["files"] = [str(name) for name in files]
    if path.failed:
        log.print(f"accord: {path.message}", style="red", soft_wrap=True)
    used = {"time": None} if normalised else {}
    shown = lines_of(data, "r" if normalised else "voxels")
    return Result(data, shown, used=used, ok=not path.failed)


def run(
    scheme: str, solid: Solid, ground: Field, walls: Field | None, **options: Any
) -> RolledPath:  # fmt: skip
    """Roll by the scheme of a name; `as_described` takes the voxels themselves."""
    if scheme != "as_described":
        done = options.pop("done")
        return roll(Rolling(ground, walls=walls, scheme=scheme, **options), done)
    if options.pop("step") is not None:
        raise AccordError("as_described has steps of a voxel of travel: leave --step out")
    if options.pop("law").after != "parallel":
        raise AccordError("as_described turns parallel to a wall: leave --after out")
    return roll_as_described(solid, ground.radius, **options)


def check_file(file: Path | None) -> None:
    """Refuse a file that cannot be written, before the work."""
    if file is None:
        return
    if not is_folder(file) and file.suffix not in (".csv", ".npz"):
        raise AccordError(f"{file}: the path is written as .csv or .npz, or into a folder")
    if not is_folder(file):
        make_folder(file.parent)
        check_target(file)


def place_for(file: Path | None, force: bool) -> AbstractContextManager[Any]:
    """Return the context in which results are written: the folder's, where it is one."""
    if file is None or not is_folder(file):
        return nullcontext()
    return results(file, "", force=force)


def is_folder(file: Path) -> bool:
    """Return whether a name is that of a folder: it is one, or has no ending."""
    return file.is_dir() or not file.suffix


def save(path: RolledPath, terrain: Terrain, file: Path) -> list[Path]:
    """Write the path, and into a folder pictures of it, too; return the files, the path first."""
    if is_folder(file):
        command = command_line()
        return write_run(
            path,
            terrain,
            file,
            command=command,
            versions=made_with("roboaccord-voxel_sphere", "scipy"),
        )
    path.save(file)
    return [file]


def figures(path: RolledPath, length: float, file: str | None) -> dict[str, Any]:
    """Return what is said of a run, in units of `length` voxels."""
    montana, chart = path.montana
    last = montana[-1] / np.array([length, length, 1.0, 1.0, 1.0])
    events = [{**event.row(), "centre": np.array(event.centre) / length} for event in path.events]
    return {
        "centre": path.centre[-1] / length,
        "contact": path.contact[-1] / length,
        "orientation": path.orientation[-1],
        "montana": last,
        "chart": int(chart[-1]),
        "radius": path.radius / length,
        "events": events,
        "status": path.status,
        "message": path.message,
        "time": path.time[-1],
        "travel": path.travel / length,
        "path": file or path.centre / length,
    }


def lines_of(data: dict[str, Any], unit: str) -> list[str]:
    """Return it for people."""

    def words(values: Any) -> str:
        return " ".join(f"{value:.4g}" for value in values)

    rows = {
        "status": (f"{data['status']}: {data['message']}", ""),
        "time": (f"{data['time']:.4g}", "s" if unit == "voxels" else "of the run"),
        "centre": (words(data["centre"]), unit),
        "contact": (words(data["contact"]), unit),
        "orientation": (words(data["orientation"]), "(x y z w)"),
        "montana": (words(data["montana"]), f"(x y in {unit}; u v psi in rad)"),
        "chart": (f"{data['chart']}", ""),
        "radius": (f"{data['radius']:.4g}", unit),
        "travel": (f"{data['travel']:.4g}", unit),
        "events": (f"{len(data['events'])}", ""),
    }
    events = [f"  {e['time']:.4f}  {e['kind']}: {e['detail']}" for e in data["events"]]
    files = [f"files        {', '.join(data['files'])}"] if data["files"] else []
    return [*figure_lines(rows), *events, *files]
