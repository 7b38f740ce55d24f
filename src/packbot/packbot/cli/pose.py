"""`accord packbot pose`: a named pose, or inverse kinematics of the finger tips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.table import Table
from roboaccord.cli.command import Result
from roboaccord.cli.console import make_table
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, load_setup
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Metres, Quantity, to_json
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.cli.options import Pitch, ScenarioName, Target, joint_values, point
from packbot.model.parameters import JOINTS, check_limits, named_poses, pose

UNUSED = ("near", "margin", "scenario")  # where the names are listed


@gathers("--q", "--target")
def pose_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of a pose.")] = "",
    target: Target = "",
    q: Annotated[
        str, Quantity("rad"), typer.Option("--q", metavar="Q1 .. Q7", help="Angles.")
    ] = "",
    pitch: Pitch = None,
    near: Annotated[str, typer.Option(metavar="NAME", help="Pose to be near to.")] = "drive",
    margin: Annotated[Metres, typer.Option(min=0.0, help="Kept from touching.")] = 0.0,
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
        return Result(
            {"poses": to_json(named_poses())}, [names_table()], used=dict.fromkeys(UNUSED)
        )
    setup = load_setup("packbot", scenario, changes)
    angles = find(setup, name, target, q, pitch, near, margin)
    found = pose_of(setup, name or None, angles)
    used = {} if target else {"near": None, "margin": None}
    return Result(found, shown_of(found), used=used)


def find(
    setup: Setup, name: str, target: str, q: str, pitch: float | None, near: str, margin: float
) -> Array:
    """Return the angles (7,) [rad] that words ask for."""
    from packbot.contact.clearance import Clearance
    from packbot.planning.inverse import Inverse

    if pitch is not None and (not target or not np.isfinite(pitch)):
        raise AccordError("--pitch takes a finite number, and goes with --target")
    if target:
        inverse = Inverse(setup.parameters, Clearance.of(setup))
        return inverse.solve(point(target), near=pose(near), pitch=pitch, margin=margin)
    angles = pose(name) if name else joint_values(q, "--q")
    check_limits(setup.parameters, angles)
    return angles


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Hold the angles of a pose, where finger tips and camera are, and how clear it is."""

    name: str | None
    joints: Sequence[str] = JOINTS
    q: Annotated[Array, Quantity("rad")]
    tip: Annotated[Array, Quantity("m")]
    hand: Array
    camera: Annotated[Array, Quantity("m")]
    sight: Array
    clearance: Metres
    closest: tuple[str, str]


def pose_of(setup: Setup, name: str | None, q: Array) -> Pose:
    """Return what is said of angles."""
    from packbot.contact.clearance import Clearance
    from packbot.model.arm import Kinematics

    kinematics, clearance = Kinematics(setup), Clearance.of(setup)
    tip, camera = (kinematics.placement(frame, q) for frame in ("tip", "camera"))
    pair, distance = clearance.closest(q)
    return Pose(
        name=name,
        q=q,
        tip=tip.position,
        hand=tip.rotation[:, 0],
        camera=camera.position,
        sight=camera.rotation[:, 0],
        clearance=distance,
        closest=clearance.pair_names(pair),
    )


def shown_of(found: Pose) -> list[RenderableType]:
    """Return a pose for people."""

    def words(values: Array) -> str:
        return ", ".join(f"{x:.4f}" for x in np.round(values, 4) + 0.0)

    table = make_table("joint", "rad", "degrees")
    for joint, angle in zip(JOINTS, found.q, strict=True):
        table.add_row(joint, f"{angle + 0.0:.6f}", f"{np.degrees(angle) + 0.0:.3f}")
    a, b = found.closest
    return [
        table,
        f"finger tips at {words(found.tip)} m, the hand along {words(found.hand)}",
        f"camera at {words(found.camera)} m, sees along {words(found.sight)}",
        f"clearance {1e3 * found.clearance:.2f} mm, {a} to {b}",
    ]


def names_table() -> Table:
    """Return the named poses for people."""
    table = make_table("pose", *JOINTS, title="named poses [rad]")
    for name, q in named_poses().items():
        table.add_row(name, *(f"{angle:g}" for angle in q))
    return table
