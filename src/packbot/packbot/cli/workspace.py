"""`accord packbot workspace`: what an arm with failed joints still reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from roboaccord.cli import pieces
from roboaccord.cli.command import Result
from roboaccord.cli.console import file_line, make_table, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Changes, Force, Out, Seed, load_setup
from roboaccord.cli.rendering import tables_of
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, parse_fault
from roboaccord.contract.files import check_target
from roboaccord.contract.results import IF_ANY, Kilograms, Quantity, Ratio
from roboaccord.scenario.setup import Setup

from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import FailedArm
from packbot.source.failure_figures import draw_kept, draw_torques, draw_workspace
from packbot.source.workspace import (
    ANGLES,
    PLANE,
    POSES,
    Guard,
    Kept,
    angles_of,
    guard,
    kept,
    loads,
)

PAYLOADS = (0.0, 5.0, 10.0)  # kg, of the study

Failing = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="JOINT=KIND",
        help="frozen:RAD or loose; frozen alone stands for angles over the joint's range, and "
        "the median over them. May be repeated. By default each joint that moves the arm in "
        "its plane, frozen.",
    ),
]
Keep = Annotated[
    Ratio | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Find the limits of the joint within which, wherever it freezes, this share is "
        "kept, and what they cost before.",
    ),
]


@pieces.in_pieces(own=True)
def workspace_command(
    faults: Failing = None,
    payload: Annotated[Kilograms, typer.Option(min=0.0, help="At the finger tips.")] = 0.0,
    poses: Annotated[int, typer.Option(min=100, help="Drawn of a failed arm.")] = POSES,
    angles: Annotated[int, typer.Option(min=1, help="At which a joint freezes.")] = ANGLES,
    keep: Keep = None,
    sight: Annotated[
        bool, typer.Option("--sight", help="Find what the camera still sees.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the cells, as .svg or .png.")
    ] = None,
    torques: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the torques needed over their limits.")
    ] = None,
    study: Annotated[
        bool,
        typer.Option(
            "--study",
            help="Measure every joint frozen at the angles, with 0, 5 and 10 kg; cases and "
            "pictures are kept in --out.",
        ),
    ] = False,
    seed: Seed = 0,
    changes: Changes = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Measure the share of its workspace that an arm with failed joints keeps.

    In the plane of the arm, in cells of 5 cm: those where a pose drawn at random has the finger
    tips, touches nothing and can be held, over those of the healthy arm, of which four times as
    many poses are drawn. Few poses miss cells: --poses 60000 hardly misses any. A study that was
    ended goes on in the same --out.

    Examples:

      accord packbot workspace --fault elbow1=frozen

      accord packbot workspace --fault elbow2=loose --payload 5 --json

      accord packbot workspace --fault elbow1=frozen --poses 60000 --keep 0.5

      accord packbot workspace --fault pan=frozen:0.5 --sight

      accord packbot workspace --plot kept.svg --torques torques.svg

      accord packbot workspace --study --poses 60000 --out workspaces
    """
    setup = load_setup("packbot", "collapse", changes)
    how = How(poses, seed, sight)
    if study:
        if faults or payload or plot or torques or keep is not None:
            raise AccordError("--study has joints, payloads and pictures of its own")
        return _study(setup, angles, how, folder, force=force)
    if folder or force:
        raise AccordError("--out and --force go with --study")
    given = [parse_fault(text) for text in faults or ()]
    setup.failing(given)
    cases = _cases(setup, given, angles)
    if keep is not None and (len(given) != 1 or len(cases) < 2):
        raise AccordError("--keep takes one --fault JOINT=frozen")
    for picture in (plot, torques):
        check_target(picture)
    found = _measured(setup, cases, [payload], how, workers=1)  # of some seconds in all
    if plot:
        (draw_workspace if given else draw_kept)(found, plot)
    if torques:
        arms = [FailedArm(setup, case, payload=payload) for case in cases]
        failed = [loads(arm, max(poses // len(arms), 1), seed) for arm in arms]
        draw_torques(loads(FailedArm(setup, ()), poses, seed), np.concatenate(failed), torques)
    limits = None if keep is None else guard(setup, given[0].joint, found, keep, poses)
    workspace = Workspace.of(found, limits)
    return Result(workspace, shown_of(workspace))


@dataclass(frozen=True)
class How:
    """Say how workspaces are measured: poses drawn, their seed, and whether with the camera."""

    poses: int
    seed: int
    sight: bool


@dataclass(frozen=True)
class Case:
    """Hold what an arm with failed joints keeps, and what its camera sees."""

    faults: Annotated[list[str], Quantity("", name="failed")]
    retained: Annotated[float, Quantity("1", name="kept", form=".3f")]
    seen: Annotated[float | None, Quantity("1", form=".2f")] = None


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """Hold the median and each case; with the camera also what both arms see."""

    retained: Ratio
    cases: list[Case]
    seen: float | None = field(default=None, metadata=IF_ANY)
    sees: float | None = field(default=None, metadata=IF_ANY)
    cells: int
    guard: Guard | None = field(default=None, metadata=IF_ANY)

    @classmethod
    def of(cls, found: list[Kept], limits: Guard | None) -> Workspace:
        """Return it, the first of what was found being the healthy arm."""
        healthy, *failed = found
        seen = [each.seen for each in failed if each.seen is not None]
        return cls(
            retained=float(np.median([each.retained for each in failed])),
            cases=[Case([*map(str, each.faults)], each.retained, each.seen) for each in failed],
            seen=None if healthy.seen is None else float(np.mean(seen)),
            sees=healthy.seen,
            cells=len(healthy.cells),
            guard=limits,
        )


def _measured(
    setup: Setup, cases: list[list[Fault]], payloads: Sequence[float], how: How,
    workers: int | None = None,
) -> list[Kept]:  # fmt: skip
    """Return the workspaces of `kept`, and show how far they are."""
    with progress() as bar:
        task = bar.add_task("workspaces", total=1 + len(cases) * len(payloads))
        return kept(
            setup,
            cases,
            payloads=payloads,
            workers=workers,
            **vars(how),
            done=lambda _: bar.advance(task),
        )


def _study(setup: Setup, angles: int, how: How, folder: Path | None, *, force: bool) -> Result:
    """Measure all joints with all payloads, or what is left of them, and draw pictures."""
    cases = [[one] for joint in JOINTS for one in angles_of(setup, Fault(joint, "frozen"), angles)]
    files = list[Path]()
    with results(folder, "packbot_workspace", force=force) as place, pieces.kept(place):
        healthy, *found = _measured(setup, cases, PAYLOADS, how)
        for payload in PAYLOADS:
            some = [healthy, *(each for each in found if each.payload == payload)]
            files += [place / f"{name}_{payload:g}kg.svg" for name in ("cells", "kept")]
            draw_workspace(some, files[-2])
            draw_kept(some, files[-1])
    title = "workspace kept in the arm's plane, median over angles"
    table = make_table("frozen", *(f"{payload:g} kg" for payload in PAYLOADS), title=title)
    medians = dict[str, dict[str, float]]()
    for joint in JOINTS:
        of_joint = [each for each in found if each.faults[0].joint == joint]
        medians[joint] = {
            f"{payload:g}": float(
                np.median([each.retained for each in of_joint if each.payload == payload])
            )
            for payload in PAYLOADS
        }
        table.add_row(joint, *(f"{share:.3f}" for share in medians[joint].values()))
    return Result(Study(medians, len(healthy.cells), files), [table, file_line(files)])


@dataclass(frozen=True)
class Study:
    """Hold the median share by frozen joint and payload [kg], and the pictures."""

    medians: Mapping[str, Mapping[str, float]]
    cells: int
    files: list[Path]


def _cases(setup: Setup, given: list[Fault], angles: int) -> list[list[Fault]]:
    """Return all combinations of faults, a joint frozen anywhere at so many angles."""
    if not given:
        joints = [Fault(JOINTS[i], "frozen") for i in PLANE]
        return [[one] for fault in joints for one in angles_of(setup, fault, angles)]
    anywhere = [fault.kind == "frozen" and fault.angle is None for fault in given]
    spread = (angles_of(setup, f, angles) if wide else [f] for f, wide in zip(given, anywhere))
    return [list(case) for case in product(*spread)]


def shown_of(found: Workspace) -> list[RenderableType]:
    """Return the figures for people."""
    rows = [*found.cases, Case(["median"], found.retained)]
    lines = tables_of(rows, title="workspace kept in the arm's plane")
    if found.seen is not None:
        words = f"the camera sees {found.seen:.2f} of targets, that of the healthy arm"
        lines.append(f"{words} {found.sees:.2f}")
    if limits := found.guard:
        lines.append(
            f"limits {limits.lower:.3f} to {limits.upper:.3f} rad keep that; they cost "
            f"{100.0 * limits.cost:.1f} % of the healthy workspace"
        )
    return lines
