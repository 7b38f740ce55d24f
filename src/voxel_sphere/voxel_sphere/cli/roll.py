"""Command `accord voxel-sphere roll`: rolls the sphere over the terrain of a workspace.

A workspace is a folder of terrain as slices. `roll_command` reads the terrain, puts the sphere on
it, rolls it by one of the schemes (rolling/motion.py, source/described.py), and writes and prints
the path; `Rolled` is what it prints. Schemes are added in rolling/motion.py (SCHEMES) and named in
the metavar of Scheme. A run that the theory does not cover exits with 1 (test_voxel_walls). Fields
of Rolled are keys of `--json` and stay; others may be added in `Rolled.of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from roboaccord import cli
from roboaccord.contract import AccordError, Array, Modes, Quantity, check_target
from roboaccord.contract import results as si
from roboaccord.run import made_with, make_folder
from typer import Argument, Option

from voxel_sphere.cli.options import DEFAULT_NAMES, VolumeNames
from voxel_sphere.rolling.ball import RollEvent
from voxel_sphere.rolling.motion import SCHEMES, Roller, check_scheme, roll
from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.rolling.scene import Scene
from voxel_sphere.rolling.walls import STEEP_ANGLE
from voxel_sphere.source.described import DESCRIBED, roll_as_described
from voxel_sphere.source.pages import write_run
from voxel_sphere.terrain.workspace import Terrain, open_workspace

SAMPLES = 500  # intervals of a path, as many as a plot, 720 pixels wide, shows
STEPPED = f"--scheme {' or '.join(SCHEMES)}"  # mode of the schemes that have an integration step
OMEGA_HELP = "Angular velocity, world frame; w_z is 0."
START_HELP = "Start of the centre. Default: the middle."
FLOOR_HELP = "Height of the centre, where there are two floors."
STEEP_HELP = "Smallest slope of a face of --workspace that counts as a wall."
STEP_HELP = "Step of the integration. Default: 0.02 rad of turn."
SAMPLES_HELP = "Number of intervals of the path that is written."
NORMALISED_HELP = "Lengths in radii, times in T: r = 1, t_final = 1."
FILE_HELP = "File for the path, .csv or .npz, or a folder."
XY = tuple[float, float]  # components along x and y
FloorZ = Annotated[float | None, Quantity("voxels"), Option(metavar="Z", help=FLOOR_HELP)]
Scheme = Annotated[str, Option(metavar="exact|local_plane|as_described", help="Rolling model.")]
After = Annotated[str, Option(metavar="parallel|reflected", help="Motion after a wall.")]
PathFile = Annotated[Path | None, Option("--out", metavar="FILE|DIR", help=FILE_HELP)]


def _modes(values: Mapping[str, Any]) -> list[str]:
    """Return the names of the modes of a call, by which it refuses options of other modes."""
    scheme = f"--scheme {DESCRIBED}" if values["scheme"] == DESCRIBED else STEPPED
    return [scheme, "with --normalised" if values["normalised"] else "without --normalised"]


# Options by the mode that takes them; those of "" are for all modes.
OPTIONS = {
    STEPPED: "step after",
    "without --normalised": "time",
    "": "omega start surface walls workspace start-z scheme steep samples normalised out force",
}


@Modes(_modes, OPTIONS)
def roll_command(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder with a folder Bitmaps_n.")],
    omega: Annotated[XY, Quantity("rad/s"), Option(metavar="WX WY", help=OMEGA_HELP)],
    time: Annotated[si.Seconds, Option(metavar="T", help="Time to roll.")] = 1.0,
    start: Annotated[XY | None, Quantity("voxels"), Option(metavar="X Y", help=START_HELP)] = None,
    names: VolumeNames = DEFAULT_NAMES,
    start_z: FloorZ = None,
    scheme: Scheme = "exact",
    after: After = "parallel",
    steep: Annotated[si.Degrees, Option(help=STEEP_HELP)] = STEEP_ANGLE,
    step: Annotated[si.Seconds | None, Option(help=STEP_HELP)] = None,
    samples: Annotated[int, Option(help=SAMPLES_HELP)] = SAMPLES,
    normalised: Annotated[bool, Option("--normalised", help=NORMALISED_HELP)] = False,
    file: PathFile = None,
    force: cli.Force = False,
) -> cli.Result:
    """Roll the sphere without slipping, with a constant angular velocity until it meets a wall.

    Lengths in voxels from the grid's corner, or in radii with --normalised, where --omega is in rad
    per run and --time is not used. The file has all samples; without --out the JSON's `path` is the
    list of centres. A folder gets path.csv, path.svg, and a page to look at, index.html. A run that
    the theory does not cover ends there, is saved, and exits with 1.

    Examples:

      accord voxel-sphere roll terrain --omega 0 1 --time 5 --start 30 50

      accord voxel-sphere roll terrain --workspace arena --omega 2 9 --time 5 --out path.csv --json

      accord voxel-sphere roll terrain --omega 6 3 --out run

      accord voxel-sphere roll terrain --omega 0 4 --normalised --scheme as_described
    """
    check_scheme(scheme, (*SCHEMES, DESCRIBED))
    with writing_to(file, force):
        scene = Scene.of(open_workspace(folder), **vars(names))
        spin = (*omega, 0.0)
        with cli.counted(scene.stages, "distances") as done:
            ground, walls = scene.build(steep=steep, done=done)
        terrain = scene.terrain
        unit = terrain.radius if normalised else 1.0  # of the lengths [voxels]
        duration = 1.0 if normalised else time  # s
        middle = terrain.n / (2 * unit)
        x, y = (unit * value for value in start or (middle, middle))
        centre = ground.place(x, y, None if start_z is None else unit * start_z)
        with cli.counted(samples, "rolling") as done:
            if scheme == DESCRIBED:
                path = roll_as_described(
                    terrain.solid,
                    terrain.radius,
                    centre=centre,
                    omega=spin,
                    duration=duration,
                    samples=samples,
                    done=done,
                )
            else:
                roller = Roller(
                    ground, centre=centre, walls=walls, after=after, step=step, scheme=scheme
                )
                path = roll(roller, spin, duration, samples, done)
        files = [] if file is None else save(path, terrain, file)
    if path.failed:
        cli.log.print(f"accord: {path.message}", style="red", soft_wrap=True)
    rolled = Rolled.of(path, unit, files, "r" if normalised else "voxels")
    return cli.Result(rolled, ok=not path.failed)


def writing_to(file: Path | None, force: bool) -> AbstractContextManager[Path | None]:
    """Return the context in which results are written: a folder of results, or nothing to do.

    Raises:
        AccordError: for a file that cannot be written, before the work.
    """
    if file is None:
        return nullcontext()
    if is_folder(file):
        return cli.results(file, "", force=force)
    if file.suffix not in (".csv", ".npz"):
        raise AccordError(f"{file}: the path is written as .csv or .npz, or into a folder")
    make_folder(file.parent)
    check_target(file)
    return nullcontext()


def is_folder(file: Path) -> bool:
    """Return whether a path names a folder: it is one, or has no ending."""
    return file.is_dir() or not file.suffix


def save(path: RolledPath, terrain: Terrain, file: Path) -> list[Path]:
    """Write the path, into a folder with pictures of it; return the files, the path first."""
    if is_folder(file):
        versions = made_with("roboaccord-voxel_sphere", "scipy")
        return write_run(path, terrain, file, command=cli.command_line(), versions=versions)
    path.save(file)
    return [file]


@dataclass(frozen=True, kw_only=True)
class Rolled:
    """The end of a run, for printing and `--json`; lengths in voxels, or in radii of the sphere."""

    lengths: Annotated[str, Quantity("", "unit of all lengths")] = field(metadata=si.LEFT_OUT)
    centre: Annotated[Array, Quantity("", "of the sphere at the end")]
    contact: Annotated[Array, Quantity("", "with the ground")]
    orientation: Annotated[Array, Quantity("", "quaternion x y z w")]
    montana: Annotated[Array, Quantity("", "x and y of the contact; u, v and psi in rad")]
    chart: Annotated[int, Quantity("", "of the sphere, in which u and v are")]
    radius: Annotated[float, Quantity("", "of the sphere")]
    events: list[RollEvent]
    status: Annotated[str, Quantity("")]
    message: Annotated[str, Quantity("")]
    time: Annotated[float, Quantity("s", "or, with --normalised, of the run")]
    travel: Annotated[float, Quantity("", "of the centre")]
    path: Path | Array
    files: list[Path]

    @classmethod
    def of(cls, path: RolledPath, length: float, files: list[Path], unit: str) -> Rolled:
        """Return the end of a path, in a unit of `length` voxels that is named `unit`."""
        montana, chart = path.montana
        centres = [tuple(np.divide(event.centre, length).tolist()) for event in path.events]
        pairs = zip(path.events, centres, strict=True)
        events = [replace(event, centre=centre) for event, centre in pairs]
        return cls(
            lengths=unit,
            centre=path.centre[-1] / length,
            contact=path.contact[-1] / length,
            orientation=path.orientation[-1],
            montana=montana[-1] / np.array([length, length, 1.0, 1.0, 1.0]),
            chart=int(chart[-1]),
            radius=path.radius / length,
            events=events,
            status=path.status,
            message=path.message,
            time=path.time[-1],
            travel=path.travel / length,
            path=files[0] if files else path.centre / length,
            files=files,
        )
