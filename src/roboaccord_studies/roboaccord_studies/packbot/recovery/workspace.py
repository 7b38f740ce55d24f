"""Workspace that the arm retains with failed joints, measured in the plane of the arm.

The plane is divided into cells of 5 cm. A cell is reached if one of many random poses has its
finger tips there, touches nothing, can be held against gravity, and has its loose joints (without
drive) at rest. The turret points straight ahead; camera and wrist are as at the start. The result
is the fraction of the healthy arm's cells that the failed arm reaches. Cells that few poses reach
can be missed, so that the result grows with the number of poses, up to about 60,000.

The numbers of poses and angles may be changed, but figures of docs/packbot_recovery.md depend on
them. The order of random draws must stay. test_workspace compares with the closed form of two
links.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
from packbot.contact.clearance import Clearance
from packbot.model.parameters import JOINTS, PackbotParameters
from packbot.planning.failed_arm import FailedArm
from packbot.planning.sight import Sight
from roboaccord.contract import LEFT_OUT, Array, Fault, Quantity
from roboaccord.report import BLUE, RED, RULE, SQUARE, legend, picture
from roboaccord.run import run_pieces
from roboaccord.scenario import Setup, make_scenario

CELL = 0.05  # m; width of a cell: 4 % of the arm's reach
POSES = 5_000  # number of random poses of a failed arm; see above for more
# Factor on this number for the healthy arm, which has one more joint, and is what the others are
# divided by.
HEALTHY = 4
# Bound of this number if loose joints must be brought to rest, which takes long: POSES and HEALTHY
# times POSES are within it.
HUNG = 20_000
FALLEN = 4  # one of so many poses is let fall onto something, as each takes a simulation
# Number of angles at which a joint freezes, evenly between its limits: 15 degrees at most.
ANGLES = 25
# Numbers of random poses and targets for the camera, 24 for each target.
CAMERA_POSES, TARGETS = 600, 25
# Number of poses per target, those that look most directly at it, that are evaluated; others see
# less.
BEST = 8
# rad; opening angle of the camera's cone of view, an estimate: wide-angle lenses have 50 to 90.
VIEW = np.radians(60.0)
WIDTH = 0.1  # m; width of a target, two cells
ROOM = np.array([-1.0, -1.0, 0.0]), np.array([2.0, 1.0, 1.0])  # m; corners of the targets' box
PLANE = (1, 2, 3)  # indices of the joints that move the hand in the plane: shoulder, both elbows

Cells = frozenset[tuple[int, int]]  # indices along the horizontal and the vertical


@dataclass(frozen=True)
class Kept:
    """Workspace that an arm with failed joints retains, and what its camera sees.

    Args:
        faults: faults in words.
        retained: fraction of the healthy arm's cells that are reached.
        seen: visible fraction of targets; None if that was not asked for.
        failed: the faults themselves.
        payload: payload at the finger tips [kg].
        cells: cells that its finger tips reach.
    """

    faults: Annotated[list[str], Quantity("", name="failed")]
    retained: Annotated[float, Quantity("1", name="kept", form=".3f")]
    seen: Annotated[float | None, Quantity("1", form=".2f")]
    failed: tuple[Fault, ...] = field(metadata=LEFT_OUT)
    payload: float = field(metadata=LEFT_OUT)
    cells: Cells = field(metadata=LEFT_OUT)


def tips(p: PackbotParameters, q: Array) -> Array:
    """Return the finger tips in the plane (k, 2) [m]: from the turret's axis, above the ground."""
    angles = np.cumsum(q[:, PLANE], axis=1)
    lengths = np.array([p.shoulder_a, p.elbow1_a, p.wrist_x + p.gripper_length])
    r, z = np.cos(angles) @ lengths, np.sin(angles) @ lengths
    return np.column_stack([r, z + p.base_z + p.turret_d])


def workspace(arm: FailedArm, poses: int, seed: int = 0) -> Cells:
    """Return the cells that the finger tips reach in a number of random poses."""
    reached = set[tuple[int, int]]()
    rng = np.random.default_rng(seed)
    for q in _drawn(arm, poses, rng):
        cells = np.floor(tips(arm.setup.parameters, q) / CELL).astype(int)
        for cell, pose in zip(map(tuple, cells.tolist()), q, strict=True):
            if cell not in reached and not arm.clearance.touches(pose) and arm.bears(pose):
                reached.add(cell)
    return frozenset(reached)


def _drawn(arm: FailedArm, poses: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield arrays of random poses (k, 7) with loose joints at rest."""
    heavy = [i for i in arm.loose.tolist() if i in PLANE]
    moving = [i for i in arm.active.tolist() if i in PLANE]
    start = arm.setup.initial.q.copy()
    start[0] = 0.0
    count = min(poses, HUNG) if heavy else poses
    q = np.tile(np.where(arm.lower == arm.upper, arm.lower, start), (count, 1))
    q[:, moving] = rng.uniform(arm.lower[moving], arm.upper[moving], (count, len(moving)))
    if not heavy:
        yield q
        return
    yield np.array([arm.hang(pose) for pose in q])
    fallen = q[: count // FALLEN]
    fallen[:, heavy] = rng.uniform(arm.lower[heavy], arm.upper[heavy], (len(fallen), len(heavy)))
    settled = (arm.rest(pose) for pose in fallen if not arm.clearance.touches(pose))
    yield np.array([pose for pose in settled if pose is not None]).reshape(-1, len(JOINTS))


def angles_of(setup: Setup, fault: Fault, count: int = ANGLES) -> list[Fault]:
    """Return a fault frozen at `count` angles in the middle of equal parts of its range."""
    low, high = setup.parameters.limits[:, JOINTS.index(fault.joint)]
    parts = (np.arange(count) + 0.5) / count
    return [replace(fault, angle=float(low + part * (high - low))) for part in parts]


def loads(arm: FailedArm, poses: int, seed: int = 0) -> Array:
    """Return the efforts that hold k poses without contact, over the effort limits (k, 7)."""
    drawn = np.concatenate([*_drawn(arm, poses, np.random.default_rng(seed))])
    efforts = [arm.holding(q) for q in drawn if not arm.clearance.touches(q)]
    return np.asarray(np.abs(np.array(efforts).reshape(-1, len(JOINTS))) / arm.efforts)


def seen(arm: FailedArm, seed: int = 0) -> float:
    """Return the mean visible fraction of targets, each from the best of random poses.

    The poses touch nothing and can be held, with loose joints at rest; the camera sees a cone.
    """
    rng, sight = np.random.default_rng(seed), Sight(arm.clearance, VIEW)
    targets, drawn = rng.uniform(*ROOM, (TARGETS, 3)), rng.uniform(size=(CAMERA_POSES, len(JOINTS)))
    angles = arm.lower + drawn * (arm.upper - arm.lower)
    settled = (arm.rest(q) for q in angles if not arm.clearance.touches(q))
    poses = [q for q in settled if q is not None and arm.bears(q)]
    eyes, axes = np.array([sight.eye(q) for q in poses]).reshape(-1, 2, 3).swapaxes(0, 1)
    best = list[float]()
    for target in targets:
        lines = target - eyes
        ahead = np.einsum("ij,ij->i", lines, axes) / np.linalg.norm(lines, axis=1)
        order = (-ahead).argsort(kind="stable")[:BEST].tolist()
        best.append(max((sight.fraction(poses[i], target, WIDTH) for i in order), default=0.0))
    return float(np.mean(best))


def kept(
    setup: Setup, cases: Iterable[Sequence[Fault]], *, payloads: Sequence[float] = (0.0, ),
    poses: int = POSES, seed: int = 0, sight: bool = False, workers: int | None = None,
    done: Callable[[tuple[Cells, float | None]], None] = lambda results: None, run: Callable[...,
    list[tuple[Cells, float | None]]] = run_pieces,
) -> list[Kept]:  # fmt: skip
    """Return the workspace of the healthy arm, and then that of every case with every payload.

    Args:
        setup: robot and scenario.
        cases: faults of each.
        payloads: at the finger tips [kg]; the healthy arm has none.
        poses: drawn of each, and four times as many of the healthy arm.
        seed: of the poses.
        sight: whether what the camera sees is looked for.
        workers: processes; as many as there are cores by default.
        done: called with each that is measured.
        run: does the pieces, as `run_pieces` or `ResultsFile.run` do.
    """
    data = json.dumps(setup.scenario.data(), sort_keys=True)
    arms = [(tuple[Fault, ...](), 0.0), *product(map(tuple, cases), payloads)]
    drawn = [HEALTHY * poses, *[poses] * (len(arms) - 1)]
    calls = ((data, *arm, count, seed, sight) for arm, count in zip(arms, drawn))
    results = run(_measure, calls, workers=workers, done=done)
    healthy = results[0][0]
    return [
        Kept([*map(str, arm[0])], len(cells & healthy) / len(healthy), sees, *arm, cells)
        for arm, (cells, sees) in zip(arms, results, strict=True)
    ]


def _measure(
    data: str, faults: tuple[Fault, ...], payload: float, poses: int, seed: int, sight: bool
) -> tuple[Cells, float | None]:
    """Return the workspace of an arm, and what its camera sees if that is asked."""
    setup, clearance = _bench(data)
    arm = FailedArm(setup, faults, payload=payload, clearance=clearance)
    return workspace(arm, poses, seed), seen(arm, seed) if sight else None


@lru_cache(maxsize=1)
def _bench(data: str) -> tuple[Setup, Clearance]:
    """Return the setup of a scenario, as JSON, and its clearance, once in a process."""
    setup = Setup.of(make_scenario(json.loads(data)))
    return setup, Clearance.of(setup)


@dataclass(frozen=True)
class Guard:
    """Limits of a joint within which it may freeze anywhere, and their cost.

    Args:
        lower, upper: limits [rad]; equal where no angle keeps enough.
        cost: share of the healthy workspace that is lost by them, before anything fails.
    """

    lower: Annotated[float, Quantity("rad", form=".3f")]
    upper: Annotated[float, Quantity("rad", form=".3f")]
    cost: Annotated[float, Quantity("1", "of the healthy workspace", form=".1f", shown="%")]


def guard(setup: Setup, joint: str, workspaces: Sequence[Kept], keep: float, poses: int) -> Guard:
    """Return the widest limits of a joint within which every angle of freezing keeps enough.

    Args:
        setup: robot and scenario.
        joint: its name.
        workspaces: the healthy workspace, and those of the joint frozen at ascending angles.
        keep: share of the healthy workspace that is to be kept.
        poses: drawn of a failed arm.
    """
    p, frozen = setup.parameters, workspaces[1:]
    angles = [workspace.failed[0].angle or 0.0 for workspace in frozen]
    half = 0.5 * (angles[1] - angles[0]) if len(angles) > 1 else 0.0
    # The longest run of angles that keep enough, from `first` up to but without `last`.
    (first, last), start = (0, 0), 0
    for end in range(len(frozen) + 1):
        if end == len(frozen) or frozen[end].retained < keep:
            first, last = max((first, last), (start, end), key=lambda span: span[1] - span[0])
            start = end + 1
    if first == last:
        return Guard(0.0, 0.0, 1.0)
    lower, upper = angles[first] - half, angles[last - 1] + half
    lower = max(lower, getattr(p, f"lower_{joint}"))
    arm, i = FailedArm(setup, ()), JOINTS.index(joint)
    arm.lower[i], arm.upper[i] = lower, upper
    healthy = workspaces[0].cells
    within = workspace(arm, HEALTHY * poses) & healthy
    return Guard(lower, upper, 1.0 - len(within) / len(healthy))


def draw_workspace(workspaces: Sequence[Kept], path: Path) -> None:
    """Draw the cells of the healthy arm, and those kept: the darker, the more cases keep them.

    Args:
        workspaces: the healthy arm, and the cases.
        path: of the picture.
    """
    healthy, cases = workspaces[0].cells, workspaces[1:]
    with picture(path, SQUARE) as axes:
        corners = np.array(sorted(healthy)) * CELL
        axes.scatter(*(corners + 0.5 * CELL).T, s=9.0, marker="s", color=RULE, linewidths=0)
        count = {cell: sum(cell in case.cells for case in cases) for cell in sorted(healthy)}
        reached = [cell for cell, number in count.items() if number]
        if reached:
            shade = [count[cell] / len(cases) for cell in reached]
            centres = (np.array(reached) + 0.5) * CELL
            axes.scatter(*centres.T, s=9.0, marker="s", color=BLUE, alpha=shade, linewidths=0)
        axes.set(xlabel="from the turret's axis [m]", ylabel="height [m]", aspect="equal")


def draw_kept(workspaces: Sequence[Kept], path: Path) -> None:
    """Draw the share of the workspace that is kept over the angle at which a joint is frozen."""
    lines = dict[str, list[tuple[float, float]]]()
    for case in workspaces[1:]:
        (fault,) = case.failed
        lines.setdefault(fault.joint, []).append((fault.angle or 0.0, case.retained))
    with picture(path) as axes:
        for joint, points in lines.items():
            axes.plot(*zip(*points, strict=True), label=joint)
        axes.set(
            xlabel="angle of the frozen joint [rad]", ylabel="workspace retained", ylim=(0.0, 1.0)
        )
        legend(axes)


def draw_torques(healthy: Array, failed: Array, path: Path) -> None:
    """Draw the torques of poses at rest over the joints' limits (k, 7): median, 95 % and most."""
    with picture(path) as axes:
        for loads, colour, name in ((healthy, RULE, "normal arm"), (failed, BLUE, "failed arm")):
            for rank, width in ((1.0, 2.0), (0.95, 6.0), (0.5, 12.0)):
                ends = np.quantile(loads, rank, axis=0)
                x = np.arange(len(ends)) + (0.2 if loads is failed else -0.2)
                axes.vlines(x, 0.0, ends, colors=colour, lw=width, label=name * (rank == 0.5))
        axes.axhline(1.0, color=RED, lw=0.8)
        axes.set_xticks(np.arange(healthy.shape[1]), JOINTS)
        axes.set(ylabel="joint torque over torque limit")
        legend(axes)
