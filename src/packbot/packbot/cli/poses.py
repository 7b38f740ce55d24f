"""Commands `accord packbot pose`, `dynamics`, `distance` and `sight`: the arm in one pose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer
from roboaccord.cli import (
    Changes,
    Result,
    gathers,
    grid_of,
    lines_of,
    load_setup,
    quantity,
    tables_of,
)
from roboaccord.contract import (
    AccordError,
    Array,
    Degrees,
    Metres,
    Modes,
    Quantity,
    Radians,
    check_known,
    to_json,
)
from roboaccord.scenario import Setup
from typer.models import OptionInfo

from packbot.contact.clearance import Clearance
from packbot.model.arm import Arm, Kinematics
from packbot.model.parameters import JOINTS, check_limits, named_poses, pose
from packbot.planning.inverse import Inverse
from packbot.planning.sight import Sight

Angles = Annotated[
    str | None,
    Quantity("rad"),
    typer.Option("--q", metavar="Q1 ... Q7", help="Joint angles. Default: the scenario's start."),
]
ScenarioName = Annotated[
    str,
    typer.Option("--scenario", metavar="NAME", help="Scenario with the terrain and the arm."),
]
Target = Annotated[
    str, Quantity("m"), typer.Option("--target", metavar="X Y Z", help="Target of the finger tips.")
]
Pitch = Annotated[
    Radians | None, typer.Option(help="Pitch of the hand above the horizontal. Default: any.")
]


def angles_of(setup: Setup, words: str | None) -> Array:
    """Return joint angles (7,) [rad]: those in words, else those that the scenario starts from.

    Raises:
        AccordError: if they are not seven numbers, or one is outside its joint's limits.
    """
    if words is None:
        return setup.initial.q
    q = joint_values(words, "--q")
    check_limits(setup.parameters, q)
    return q


def joint_values(words: str, option: str) -> Array:
    """Return the values of all joints (7,): of 7 numbers, or of NAME=VALUE,.. and 0 else.

    Raises:
        AccordError: naming the joint that is missing, unknown, there twice or no finite number.
    """
    parts = words.replace(",", " ").split()
    if any("=" in part for part in parts):
        pairs = [part.partition("=")[::2] for part in parts]
        for name, _ in pairs:
            check_known(f"{option}: unknown joint ", name, JOINTS)
            if [other for other, _ in pairs].count(name) > 1:
                raise AccordError(f"{option}: {name} is given twice")
    else:
        if len(parts) != len(JOINTS):
            lacks = f"; {JOINTS[len(parts)]} is missing" if len(parts) < len(JOINTS) else ""
            raise AccordError(f"{option} takes {len(JOINTS)} numbers, not {len(parts)}{lacks}")
        pairs = list(zip(JOINTS, parts, strict=True))
    values = np.zeros(len(JOINTS))
    for name, text in pairs:
        value = quantity(text)
        if math.isnan(value):
            raise AccordError(f"{option}: {name} is {text!r}, and must be a finite number")
        values[JOINTS.index(name)] = value
    return values


def point(words: str, option: str = "--target") -> Array:
    """Return the point (3,) [m] that words give.

    Raises:
        AccordError: unless they are three finite numbers.
    """
    values = [quantity(part) for part in words.replace(",", " ").split()]
    if len(values) != 3 or any(map(math.isnan, values)):
        raise AccordError(f"{option} takes x, y, z in m, not {words!r}")
    return np.array(values)


def draws(what: str) -> OptionInfo:
    """Return an option that names the file of a picture."""
    found: OptionInfo = typer.Option(metavar="FILE", help=f"Draw {what}, as .svg or .png.")
    return found


NONE = " ".join("0" for _ in JOINTS)
SHOWN = 10  # pairs of hulls


def _modes(given: Mapping[str, Any]) -> list[str]:
    if given["target"]:
        return ["with --target"]
    return ["with NAME or --q" if given["name"] or given["q"] else "without a pose"]


@Modes(_modes, {
    "with --target": "target q scenario set pitch near margin",
    "with NAME or --q": "q scenario set",
})  # fmt: skip
@gathers("--q", "--target")
def pose_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a pose.")] = "",
    target: Target = "",
    q: Annotated[
        str, Quantity("rad"), typer.Option("--q", metavar="Q1 .. Q7", help="Joint angles.")
    ] = "",
    pitch: Pitch = None,
    near: Annotated[str, typer.Option(metavar="NAME", help="Pose to stay near to.")] = "drive",
    margin: Annotated[Metres, typer.Option(min=0.0, help="Clearance to keep.")] = 0.0,
    scenario: ScenarioName = "collapse",
    changes: Changes = None,
) -> Result:
    """Print the angles of a pose, where finger tips and camera are, and how clear it is.

    With --target the pose is found in closed form: of all that are clear, the one soonest reached
    from the pose --near. Without NAME, --target and --q the names are listed.

    Examples:

      accord packbot pose

      accord packbot pose drive --json

      accord packbot pose --target 1.2 0.3 0.15 --pitch -0.5

      accord packbot pose --q shoulder=1.2,elbow1=-0.8 --scenario shelf
    """
    if sum(map(bool, (name, target, q))) > 1:
        raise AccordError("pose takes one of NAME, --target and --q")
    if not (name or target or q):
        named = named_poses()
        table = grid_of(("pose", *JOINTS), named, Quantity("rad", form="g"), "named poses [rad]")
        return Result({"poses": to_json(named)}, [table])
    setup = load_setup("packbot", scenario, changes)
    if target:
        inverse = Inverse(setup.parameters, Clearance.of(setup))
        angles = inverse.solve(point(target), near=pose(near), pitch=pitch, margin=margin)
    else:
        angles = pose(name) if name else joint_values(q, "--q")
        check_limits(setup.parameters, angles)
    kinematics, clearance = Kinematics(setup), Clearance.of(setup)
    tip, camera = (kinematics.placement(frame, angles) for frame in ("tip", "camera"))
    pair, distance = clearance.closest(angles)
    found = Pose(
        name=name or None,
        q=angles,
        tip=tip.position,
        hand=tip.rotation[:, 0],
        camera=camera.position,
        sight=camera.rotation[:, 0],
        clearance=distance,
        closest=clearance.pair_names(pair),
    )
    rows = {joint: (angle, math.degrees(angle)) for joint, angle in zip(JOINTS, angles.tolist())}
    table = grid_of(("joint", "rad", "degrees"), rows, Quantity("", form=".6f"))
    return Result(found, [table, *lines_of(found)])


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Hold the angles of a pose [rad], where finger tips and camera are, and how clear it is."""

    name: str | None
    joints: Sequence[str] = JOINTS
    q: Array
    tip: Annotated[Array, Quantity("m", "finger tips", form=".4f")]
    hand: Annotated[Array, Quantity("1", "its direction", form=".4f")]
    camera: Annotated[Array, Quantity("m", form=".4f")]
    sight: Annotated[Array, Quantity("1", "its direction", form=".4f")]
    clearance: Annotated[float, Quantity("m", "of the closest pair", form=".2f", shown="mm")]
    closest: Annotated[tuple[str, str], Quantity("")]


@gathers("--q", "--qd", "--tau")
def dynamics_command(
    q: Annotated[
        str, Quantity("rad"), typer.Option("--q", metavar="Q1 .. Q7", help="Joint angles.")
    ],
    qd: Annotated[
        str, Quantity("rad/s"), typer.Option("--qd", metavar="V1 .. V7", help="Joint rates.")
    ] = NONE,
    tau: Annotated[
        str, Quantity("N m"), typer.Option("--tau", metavar="T1 .. T7", help="Joint efforts.")
    ] = NONE,
    changes: Changes = None,
) -> Result:
    """Print accelerations, mass matrix and bias efforts in a state, without friction or contact.

    Seven values in the order turret shoulder elbow1 elbow2 tilt pan wrist, or NAME=VALUE,.. for
    some of them and 0 for the others; rates and efforts that are not given are 0. The bias is what
    keeps the rates as they are: gravity, Coriolis and centrifugal efforts.

    Examples:

      accord packbot dynamics --q 0 1.2 -0.8 0.3 0 0 0

      accord packbot dynamics --q shoulder=1.2,elbow1=-0.8 --tau shoulder=60 --json

      accord packbot dynamics --q 0 1 0 0 0 0 0 --set parameters.reflected_inertia_shoulder=0.5
    """
    setup = load_setup("packbot", "collapse", changes)
    angles, rates = joint_values(q, "--q"), joint_values(qd, "--qd")
    efforts = joint_values(tau, "--tau")
    check_limits(setup.parameters, angles)
    arm = Arm.of(setup)
    found = Dynamics(
        qdd=arm.acceleration(angles, rates, efforts),
        mass_matrix=arm.mass_matrix(angles),
        bias=arm.bias(angles, rates),
    )
    both = dict(zip(JOINTS, zip(found.qdd, found.bias), strict=True))
    matrix = dict(zip(JOINTS, found.mass_matrix, strict=True))
    title, form = "mass matrix [kg m^2]", Quantity("", form=".6f")
    return Result(found, [
        grid_of(("joint", "qdd [rad/s^2]", "bias [N m]"), both, form), "",
        grid_of(("", *JOINTS), matrix, Quantity("", form=".5f"), title),
    ])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Dynamics:
    """Hold accelerations, mass matrix and bias in a state."""

    joints: Sequence[str] = JOINTS
    qdd: Annotated[Array, Quantity("rad/s^2")]
    mass_matrix: Annotated[Array, Quantity("kg m^2")]
    bias: Annotated[Array, Quantity("N m")]


@dataclass(frozen=True)
class Pair:
    """Hold the signed distance of two hulls."""

    a: Annotated[str, Quantity("", name="hull")]
    b: Annotated[str, Quantity("", name="other hull", form="s")]
    distance: Annotated[float, Quantity("m", form=".3f", shown="mm")]


@dataclass(frozen=True)
class Distances:
    """Hold all pairs, the closest first."""

    min: Metres
    pairs: list[Pair]


@gathers("--q")
def distance_command(
    q: Angles = None,
    scenario: ScenarioName = "collapse",
    changes: Changes = None,
) -> Result:
    """Measure the signed distances of all pairs of hulls that can touch.

    In metres; minus the depth where hulls overlap. A link and its parent are not a pair, nor are
    those that config/packbot.srdf switches off.

    Examples:

      accord packbot distance --q 0 1.2 -0.5 0.3 0 0 0

      accord packbot distance --scenario shelf --json

      accord packbot distance --set "terrain.boxes.wall={size: [0.1, 1, 1], position: [1.5, 0, 0]}"
    """
    setup = load_setup("packbot", scenario, changes)
    clearance = Clearance.of(setup)
    distances = clearance.distances(angles_of(setup, q))
    order = distances.argsort(kind="stable").tolist()
    pairs = [Pair(*clearance.pair_names(i), float(distances[i])) for i in order]
    title = f"the closest of {len(pairs)} pairs"
    return Result(Distances(distances.min(), pairs), tables_of(pairs[:SHOWN], title=title))


@gathers("--q", "--target")
def sight_command(
    target: Annotated[
        str, Quantity("m"), typer.Option("--target", metavar="X Y Z", help="Point in the world.")
    ],
    q: Angles = None,
    scenario: ScenarioName = "collapse",
    width: Annotated[Metres, typer.Option(min=0.0, help="Width of the target.")] = 0.0,
    view: Annotated[
        Degrees,
        typer.Option(
            "--view-deg", min=0.0, max=180.0,
            help="Angle of the camera's field of view. Default: all that is ahead of it.",
        ),
    ] = 180.0,
    changes: Changes = None,
) -> Result:  # fmt: skip
    """Report whether the camera sees a target, and if not, which hulls block the view.

    All of the lens, 10 mm wide, must see all of the target. Hulls that block it are named in
    order, the nearest first. A target on a surface is not hidden by it.

    Examples:

      accord packbot sight --target 1.5 0 0

      accord packbot sight --target 0.9 0 0.61 --scenario shelf --json

      accord packbot sight --target 0 -1 0 --q 0 1.2 -0.5 0.3 0.4 -1.5 0 --view-deg 60
    """
    setup = load_setup("packbot", scenario, changes)
    sight = Sight.of(setup, math.radians(view), width)
    return Result(sight.look(angles_of(setup, q), point(target)))
