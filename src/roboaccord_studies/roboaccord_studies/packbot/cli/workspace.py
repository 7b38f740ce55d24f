"""`accord packbot workspace`: the part of its workspace that an arm with failed joints retains.

A case is a set of failures with a payload; `recovery.workspace` measures the retained workspace of
each. With `--study`, failures of all joints are measured with all PAYLOADS. The results are saved
in a file, from which an interrupted study resumes; everything that a result depends on must
therefore be an argument of `ResultsFile.run`.

PAYLOADS and the fields of `Workspace` and `Study` are keys of the JSON output and must stay
(test_workspace).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import FailedArm
from roboaccord.cli import Changes, Force, Out, Result, Seed, counted, load_setup, options, results
from roboaccord.contract import AccordError, Fault, by_option, check_target, parse_fault
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.cli.options import PAYLOAD, draws
from roboaccord_studies.packbot.recovery import pictures, workspace
from roboaccord_studies.packbot.recovery.joint_guard import Guard, guard
from roboaccord_studies.packbot.recovery.workspace import RetainedWorkspace
from roboaccord_studies.results_file import FILE, ResultsFile

PAYLOADS = (0.0, 5.0, 10.0)  # kg; payloads of the study: none, and two that differ by a factor of 2

# Options of the command.
FAULT = typer.Option(
    "--fault",
    metavar="JOINT=KIND",
    help="frozen:RAD or loose; frozen alone stands for angles over the joint's range, and the "
    "median over them. May be repeated. By default each joint that moves the arm in its plane, "
    "frozen.",
)
POSES = typer.Option(min=100, help="Number of random poses of a failed arm.")
ANGLES = typer.Option(min=1, help="Number of angles at which a joint freezes.")
KEEP = typer.Option(
    min=0.0,
    max=1.0,
    help="Find the joint limits within which this share is kept wherever the joint freezes, and "
    "what they cost the healthy arm.",
)
SIGHT = typer.Option("--sight", help="Measure what the camera can still see.")
TORQUES = typer.Option(metavar="FILE", help="Draw the torques needed, relative to the limits.")
STUDY = typer.Option(
    "--study",
    help="Measure every joint frozen at the angles, with 0, 5 and 10 kg; cases and pictures are "
    "kept in --out.",
)


@by_option(
    "study", "out force cluster", "fault payload keep sight plot torques", "poses angles seed set"
)
@options.in_pieces()
def workspace_command(
    faults: Annotated[list[str] | None, FAULT] = None,
    payload: Annotated[si.Kilograms, PAYLOAD] = 0.0,
    poses: Annotated[int, POSES] = workspace.POSES,
    angles: Annotated[int, ANGLES] = workspace.ANGLES,
    keep: Annotated[si.Ratio | None, KEEP] = None,
    sight: Annotated[bool, SIGHT] = False,
    plot: Annotated[Path | None, draws("the cells")] = None,
    torques: Annotated[Path | None, TORQUES] = None,
    study: Annotated[bool, STUDY] = False,
    seed: Seed = 0,
    changes: Changes = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Measure the share of its workspace that an arm with failed joints keeps.

    In the plane of the arm, in cells of 5 cm: the number of cells that the finger tips reach in
    random poses that are clear and can be held, divided by that of the healthy arm, for which four
    times as many poses are drawn. With few poses, cells are missed; with --poses 60000, hardly any.
    An interrupted study resumes in the same --out.

    Examples:

      accord packbot workspace --fault elbow1=frozen

      accord packbot workspace --fault elbow2=loose --payload 5 --json

      accord packbot workspace --fault elbow1=frozen --poses 60000 --keep 0.5

      accord packbot workspace --fault pan=frozen:0.5 --sight

      accord packbot workspace --plot kept.svg --torques torques.svg

      accord packbot workspace --study --poses 60000 --out workspaces
    """
    setup = load_setup("packbot", "collapse", changes)
    measure = partial(workspace.retained_workspaces, setup, poses=poses, seed=seed, sight=sight)
    if study:
        keys = {"poses": poses, "angles": angles, "seed": seed, "set": changes}
        with results(folder, "packbot_workspace", force=force) as out_folder:
            file = ResultsFile(out_folder / FILE, {"study": "accord packbot workspace", **keys})
            with closing(file):
                measure = partial(measure, run=file.run)
                return Result(_study(measure, _frozen_cases(setup, JOINTS, angles), out_folder))
    failures = [parse_fault(text) for text in faults or ()]
    setup.failing(failures)  # refuses what is no failure of this arm
    if failures:
        cases = _combinations(setup, failures, angles)
    else:
        cases = _frozen_cases(setup, [JOINTS[i] for i in workspace.PLANE_INDICES], angles)
    if keep is not None and (len(failures) != 1 or len(cases) < 2):
        raise AccordError("--keep takes one --fault JOINT=frozen")
    check_target(plot)
    check_target(torques)
    with counted(1 + len(cases), "workspaces") as advance:  # of some seconds in all
        workspaces = measure(cases, payloads=[payload], workers=1, done=lambda _: advance(1))
    if plot:
        draw = pictures.draw_workspace if failures else pictures.draw_shares
        draw(workspaces, plot)
    if torques:
        arms = [FailedArm(setup, case, payload=payload) for case in cases]
        count = max(poses // len(arms), 1)  # number of poses of each arm
        efforts = [workspace.relative_efforts(arm, count, seed) for arm in arms]
        of_healthy = workspace.relative_efforts(FailedArm(setup, ()), poses, seed)
        pictures.draw_torques(of_healthy, np.concatenate(efforts), torques)
    healthy, *failed = workspaces
    seen = [case.seen for case in failed if case.seen is not None]
    limits = None if keep is None else guard(setup, failures[0].joint, workspaces, keep, poses)
    retained = Workspace(
        retained=float(np.median([case.retained for case in failed])),
        cases=failed,
        seen=float(np.mean(seen)) if sight else None,
        sees=healthy.seen,
        cells=len(healthy.cells),
        guard=limits,
    )
    return Result(retained)


def _combinations(setup: Setup, failures: list[Fault], angles: int) -> list[list[Fault]]:
    """Return all combinations of failures, where a frozen joint may have several angles.

    Args:
        setup: robot and scenario.
        failures: of one joint each; a frozen joint without an angle stands for several angles.
        angles: number of these.
    """
    alternatives = list[list[Fault]]()  # of each joint
    for fault in failures:
        has_no_angle = fault == Fault(fault.joint, "frozen")
        frozen = workspace.angles_of(setup, fault, angles) if has_no_angle else [fault]
        alternatives.append(frozen)
    return [list(case) for case in product(*alternatives)]


def _frozen_cases(setup: Setup, joints: Iterable[str], angles: int) -> list[list[Fault]]:
    """Return cases in which one joint is frozen, each joint at `angles` angles."""
    frozen = (workspace.angles_of(setup, Fault(joint, "frozen"), angles) for joint in joints)
    return [[fault] for faults in frozen for fault in faults]


Seen = Annotated[float | None, si.Quantity("1", "of targets", form=".2f")]
Sees = Annotated[float | None, si.Quantity("1", "by the healthy arm", form=".2f")]
Limits = Annotated[Guard | None, si.Quantity("", "limits that keep that")]


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """The retained workspace of failed arms.

    Args:
        retained: share of the healthy workspace, the median over all cases.
        cases: results of each case.
        seen, sees: share of targets that failed arms (mean) and the healthy one see; None unless
            it was asked for.
        cells: number of cells that the healthy arm reaches.
        guard: limits of the joint that keep enough; None unless they were asked for.
    """

    retained: Annotated[float, si.Quantity("1", "median", name="kept", form=".3f")]
    cases: Annotated[list[RetainedWorkspace], si.Quantity("", "workspace kept in the arm's plane")]
    seen: Seen = field(metadata=si.IF_ANY)
    sees: Sees = field(metadata=si.IF_ANY)
    cells: Annotated[int, si.Quantity("", "of the healthy arm")]
    guard: Limits = field(metadata=si.IF_ANY)


def _study(
    measure: Callable[..., list[RetainedWorkspace]], cases: list[list[Fault]], out_folder: Path
) -> Study:
    """Measure all cases with all PAYLOADS, but for those in the file of results; draw pictures.

    Args:
        measure: `workspace.retained_workspaces` of a setup.
        cases: faults of each arm.
        out_folder: for the pictures.
    """
    files = list[Path]()
    medians = dict[str, dict[str, float]]()  # by joint and payload
    with counted(1 + len(cases) * len(PAYLOADS), "workspaces") as advance:
        healthy, *failed = measure(cases, payloads=PAYLOADS, done=lambda _: advance(1))
    for payload in PAYLOADS:
        loaded = [case for case in failed if case.payload == payload]
        cells_file = out_folder / f"cells_{payload:g}kg.svg"
        shares_file = out_folder / f"kept_{payload:g}kg.svg"
        pictures.draw_workspace([healthy, *loaded], cells_file)
        pictures.draw_shares([healthy, *loaded], shares_file)
        files += [cells_file, shares_file]
        for joint in JOINTS:
            of_joint = [case.retained for case in loaded if case.failed[0].joint == joint]
            medians.setdefault(joint, {})[f"{payload:g}"] = float(np.median(of_joint))
    return Study(medians, len(healthy.cells), files)


MEDIANS = si.Quantity("1", "workspace kept in the arm's plane by payload in kg, median", form=".3f")


@dataclass(frozen=True)
class Study:
    """The median share by frozen joint and payload [kg], and the pictures."""

    medians: Annotated[Mapping[str, Mapping[str, float]], MEDIANS]
    cells: Annotated[int, si.Quantity("", "of the healthy arm")]
    files: list[Path]
