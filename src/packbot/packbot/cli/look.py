"""`accord packbot look`: the arm in one pose, with a frozen joint, and the shapes of its links.

The options choose a mode (MODES): named poses, one pose, a pose at a target, distances, line of
sight, the arm with a frozen joint (frozen.py), or the meshes of the package. Each mode is a
function, with a dataclass of its results.

MOST_ROWS may be tuned. Fields are keys of `--json` and must stay (test_packbot_sight,
test_packbot_kinematics).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from roboaccord import cli, description
from roboaccord.contract import AccordError, Array, Modes, Quantity, to_json
from roboaccord.contract import results as si
from roboaccord.scenario import Setup
from typer import Argument, Option

from packbot.cli.frozen import frozen_at
from packbot.cli.options import Pitch, ScenarioName, Target, joint_values, point
from packbot.contact.clearance import Clearance
from packbot.contact.solids import write_shapes
from packbot.model.arm import Kinematics
from packbot.model.parameters import JOINTS, check_limits, named_poses, pose
from packbot.planning.inverse import Inverse
from packbot.planning.sight import Sight

MOST_ROWS = 10  # number of pairs of hulls in the table, of 126, so that it fits a terminal
POSES = "named poses"  # the mode without arguments
# Names of the options that each mode takes; others are refused.
MODES = {
    "with --distances": "distances name q scenario set",
    "with --sight": "sight name q scenario set width view-deg",
    "with --joint": "joint angle knots set out force",
    "with --shapes": "shapes out force",
    "with --target": "target pitch near margin scenario set",
    "with NAME or --q": "name q scenario set",
    POSES: "",
}
Angles = Option("--q", metavar="Q1 .. Q7", help="Joint angles.")
DISTANCES_HELP = "Measure the distances of all pairs of hulls."
SIGHT_HELP = "Point that the camera is to see."
VIEW_HELP = "Angle of the camera's field of view. Default: all that is ahead of it."
ViewAngle = Option("--view-deg", min=0.0, max=180.0, help=VIEW_HELP)
JOINT_HELP = "Joint that is frozen, its two links one."
KNOTS_HELP = "Number of angles of the report's interpolation."
SHAPES_HELP = "Make the package's meshes of config/shapes.yaml."


def _modes(arguments: Mapping[str, Any]) -> list[str]:
    """Return the mode that the arguments choose, as a list of one.

    That of an option, "with --NAME", is chosen if its argument NAME is given; the first one counts.
    """
    chosen = (mode for mode in MODES if arguments.get(mode.rpartition("--")[2]))
    return [next(chosen, "with NAME or --q" if arguments["name"] else POSES)]


@Modes(_modes, MODES)
@cli.gathers("--q", "--target", "--sight")
def look_command(
    name: Annotated[str, Argument(metavar="NAME", help="Name of a pose.")] = "",
    q: Annotated[str, Quantity("rad"), Angles] = "",
    target: Target = "",
    pitch: Pitch = None,
    near: Annotated[str, Option(metavar="NAME", help="Pose to stay near to.")] = "drive",
    margin: Annotated[si.Metres, Option(min=0.0, help="Clearance to keep.")] = 0.0,
    distances: Annotated[bool, Option("--distances", help=DISTANCES_HELP)] = False,
    sight: Annotated[str, Quantity("m"), Option(metavar="X Y Z", help=SIGHT_HELP)] = "",
    width: Annotated[si.Metres, Option(min=0.0, help="Width of that.")] = 0.0,
    view: Annotated[si.Degrees, ViewAngle] = 180.0,
    joint: Annotated[str, Option(metavar="JOINT", help=JOINT_HELP)] = "",
    angle: Annotated[si.Radians, Option(metavar="RAD", help="Angle at which it is frozen.")] = 0.0,
    knots: Annotated[int, Option(min=2, help=KNOTS_HELP)] = 12,
    shapes: Annotated[bool, Option("--shapes", help=SHAPES_HELP)] = False,
    scenario: ScenarioName = "collapse",
    changes: cli.Changes = None,
    folder: cli.Out = None,
    force: cli.Force = False,
) -> cli.Result:
    """Show the arm in a pose, its distances and its sight, a frozen joint, or its hulls.

    Of a pose, NAME, --q, or that of --target nearest to --near: where finger tips and camera are,
    and how clear it is. Without any the named poses are listed. --distances: of all pairs of hulls
    that can touch, minus the depth where they overlap. --sight: whether all of the lens sees all
    of the target, and which hulls block the view. Both start from the scenario's pose.

    --joint: DH tables, and merged inertia beside the report's interpolation over the angle of the
    joint, whose error is drawn. --shapes: meshes/*.obj and config/hulls.yaml of config/shapes.yaml,
    after a change of that; of this package without --out.

    Examples:

      accord packbot look

      accord packbot look drive --json

      accord packbot look --target 1.2 0.3 0.15 --pitch -0.5

      accord packbot look --distances --scenario shelf

      accord packbot look --sight 0 -1 0 --q 0 1.2 -0.5 0.3 0.4 -1.5 0 --view-deg 60

      accord packbot look --joint elbow2 --angle -1.2 --knots 24

      accord packbot look --shapes --out tried
    """
    if shapes:
        if folder is None:
            return files_of(write_shapes(description.share("packbot")))
        with cli.results(folder, "packbot_shapes", force=force) as out_folder:
            return files_of(write_shapes(out_folder))
    if name and q:
        raise AccordError("look takes NAME or --q, one of the two")
    if not (name or q or target or distances or sight or joint):
        poses, form = named_poses(), Quantity("rad", form="g")
        table = cli.grid_of(("pose", *JOINTS), poses, form, "named poses [rad]")
        return cli.Result({"poses": to_json(poses)}, [table])
    setup = cli.load_setup("packbot", scenario, changes)
    if joint:
        return frozen_at(setup, joint, angle, knots, folder, force)
    angles = setup.initial.q
    if name or q:
        angles = pose(name) if name else joint_values(q, "--q")
    if target:
        inverse = Inverse(setup.parameters, Clearance.of(setup))
        angles = inverse.solve(point(target), near=pose(near), pitch=pitch, margin=margin)
    check_limits(setup.parameters, angles)
    if distances:
        return distances_at(setup, angles)
    if sight:
        camera = Sight.of(setup, math.radians(view), width)
        return cli.Result(camera.look(angles, point(sight, "--sight")))
    return pose_at(setup, angles, name)


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Angles of a pose [rad], where finger tips and camera are, and how clear it is."""

    name: str | None
    joints: Sequence[str] = JOINTS
    q: Annotated[Array, Quantity("rad", form=".6f")]
    tip: Annotated[Array, Quantity("m", "finger tips", form=".4f")]
    hand: Annotated[Array, Quantity("1", "its direction", form=".4f")]
    camera: Annotated[Array, Quantity("m", form=".4f")]
    sight: Annotated[Array, Quantity("1", "its direction", form=".4f")]
    clearance: Annotated[float, Quantity("m", "of the closest pair", form=".2f", shown="mm")]
    closest: Annotated[tuple[str, str], Quantity("")]


def pose_at(setup: Setup, q: Array, name: str) -> cli.Result:
    """Return where the arm is at angles q (7,) [rad]."""
    kinematics, clearance = Kinematics(setup), Clearance.of(setup)
    tip, camera = (kinematics.placement(frame, q) for frame in ("tip", "camera"))
    pair, distance = clearance.closest(q)
    shown = Pose(
        name=name or None,
        q=q,
        tip=tip.position,
        hand=tip.rotation[:, 0],
        camera=camera.position,
        sight=camera.rotation[:, 0],
        clearance=distance,
        closest=clearance.pair_names(pair),
    )
    return cli.Result(shown)


@dataclass(frozen=True)
class Pair:
    """Signed distance of two hulls."""

    a: Annotated[str, Quantity("", name="hull")]
    b: Annotated[str, Quantity("", name="other hull", form="s")]
    distance: Annotated[float, Quantity("m", form=".3f", shown="mm")]


def distances_at(setup: Setup, q: Array) -> cli.Result:
    """Return the distances of all pairs of hulls at angles q (7,) [rad], the closest first."""
    clearance = Clearance.of(setup)
    distances = clearance.distances(q)
    order = distances.argsort(kind="stable").tolist()
    pairs = [Pair(*clearance.pair_names(i), float(distances[i])) for i in order]
    title = f"the closest of {len(pairs)} pairs"
    data = {"min": float(distances.min()), "pairs": to_json(pairs)}
    return cli.Result(data, cli.tables_of(pairs[:MOST_ROWS], title=title))


def files_of(files: Sequence[Path]) -> cli.Result:
    """Return the names of files that were written."""
    names = [str(path) for path in files]
    return cli.Result({"files": names}, names)
