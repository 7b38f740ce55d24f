"""Workspace that the arm retains with failed joints, measured in the plane of the arm.

A failed joint of the Packbot's arm is frozen at an angle, or loose. The plane is divided into cells
of 5 cm. A cell is reached if one of many random poses has its finger tips there, touches nothing,
can be held against gravity, and has its loose joints (without drive) at rest. The turret points
straight ahead; camera and wrist are as at the start. The result is the fraction of the healthy
arm's cells that the failed arm reaches. Cells that few poses reach can be missed, so that the
result grows with the number of poses, up to about 60,000.

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
from typing import Annotated

import numpy as np
from packbot.contact.clearance import Clearance
from packbot.model.parameters import JOINTS, PackbotParameters
from packbot.planning.failed_arm import FailedArm
from packbot.planning.sight import Sight
from roboaccord.contract import LEFT_OUT, Array, Fault, Quantity
from roboaccord.run import run_pieces
from roboaccord.scenario import Setup, make_scenario

# m; width of a cell: 4 % of the arm's reach. By choice: smaller ones would need more than POSES.
CELL = 0.05
# Number of random poses of a failed arm. By choice: they take seconds; 60,000 reach nearly all
# cells.
POSES = 5_000
# Factor on the number of poses for the healthy arm, which has one more joint, and is what the
# others are divided by.
HEALTHY = 4
# Bound of the number of poses if loose joints must be brought to rest, which takes long: POSES and
# HEALTHY times POSES are within it.
MOST_HANGING = 20_000
# One of so many poses is let fall onto something, as each takes a simulation. By choice: it bounds
# the time, and the other poses add cells without contact.
FALLING_EVERY = 4
# Number of angles at which a joint freezes, evenly between its limits: 15 degrees apart at most. By
# choice: each costs POSES poses, and a curve over the angle shows no more.
ANGLES = 25
# Numbers of random poses and targets for the camera, 24 for each target: by choice, for each
# pose must be brought to rest.
CAMERA_POSES, TARGETS = 600, 25
# Number of poses per target, those that look most directly at it, that are evaluated; others see
# less. By choice: each is a computation of what is in view.
POSES_PER_TARGET = 8
# rad; opening angle of the camera's cone of view, an estimate: wide-angle lenses have 50 to 90.
VIEW_ANGLE = np.radians(60.0)
TARGET_WIDTH = 0.1  # m; width of a target, two cells
# m; corners of the targets' box. By choice: about the arm's reach to either side, and more ahead.
LOW_TARGET, HIGH_TARGET = (-1.0, -1.0, 0.0), (2.0, 1.0, 1.0)
# Indices of the joints that move the hand in the plane: shoulder, both elbows.
PLANE_INDICES = (1, 2, 3)

Cells = frozenset[tuple[int, int]]  # indices along the horizontal and the vertical
Measured = tuple[Cells, float | None]  # cells that an arm reaches, and the visible fraction


@dataclass(frozen=True)
class RetainedWorkspace:
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


def retained_workspaces(
    setup: Setup,
    cases: Iterable[Sequence[Fault]],
    *,
    payloads: Sequence[float] = (0.0,),
    poses: int = POSES,
    seed: int = 0,
    sight: bool = False,
    workers: int | None = None,
    done: Callable[[Measured], None] = lambda measured: None,
    run: Callable[..., list[Measured]] = run_pieces,
) -> list[RetainedWorkspace]:
    """Return the workspace of the healthy arm, and then that of every case with every payload.

    Args:
        setup: robot and scenario.
        cases: faults of each.
        payloads: at the finger tips [kg]; the healthy arm has none.
        poses: drawn of each, and four times as many of the healthy arm.
        seed: of the poses.
        sight: whether the visible fraction of targets is measured, too.
        workers: processes; as many as there are cores by default.
        done: called with the result of each arm.
        run: calls a function with each tuple of arguments, as `run_pieces` or `ResultsFile.run` do.
    """
    data = json.dumps(setup.scenario.data(), sort_keys=True)
    arms = [(tuple[Fault, ...](), 0.0), *product(map(tuple, cases), payloads)]
    counts = [HEALTHY * poses, *[poses] * (len(arms) - 1)]
    calls = [(data, *arm, count, seed, sight) for arm, count in zip(arms, counts, strict=True)]
    results = run(_measure, calls, workers=workers, done=done)
    healthy, _ = results[0]
    workspaces = list[RetainedWorkspace]()
    for (faults, payload), (cells, seen) in zip(arms, results, strict=True):
        names, retained = [str(fault) for fault in faults], len(cells & healthy) / len(healthy)
        workspaces.append(RetainedWorkspace(names, retained, seen, faults, payload, cells))
    return workspaces


def _measure(
    data: str, faults: tuple[Fault, ...], payload: float, poses: int, seed: int, sight: bool
) -> Measured:
    """Return the workspace of an arm, and what its camera sees if that is asked."""
    setup, clearance = _loaded(data)
    arm = FailedArm(setup, faults, payload=payload, clearance=clearance)
    return workspace(arm, poses, seed), visible_fraction(arm, seed) if sight else None


@lru_cache(maxsize=1)
def _loaded(data: str) -> tuple[Setup, Clearance]:
    """Return the setup of a scenario, as JSON, and its clearance, once in a process."""
    setup = Setup.of(make_scenario(json.loads(data)))
    return setup, Clearance.of(setup)


def tips(p: PackbotParameters, q: Array) -> Array:
    """Return the finger tips in the plane (k, 2) [m]: from the turret's axis, above the ground."""
    angles = np.cumsum(q[:, PLANE_INDICES], axis=1)
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
            if cell not in reached and not arm.clearance.touches(pose) and arm.can_hold(pose):
                reached.add(cell)
    return frozenset(reached)


def _drawn(arm: FailedArm, poses: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield arrays of random poses (k, 7) with loose joints at rest."""
    # Joints of the plane that gravity moves, and those that are moved.
    heavy = [i for i in arm.loose.tolist() if i in PLANE_INDICES]
    moving = [i for i in arm.active.tolist() if i in PLANE_INDICES]
    start = arm.setup.initial.q.copy()
    start[0] = 0.0  # the turret points straight ahead
    count = min(poses, MOST_HANGING) if heavy else poses
    q = np.tile(np.where(arm.lower == arm.upper, arm.lower, start), (count, 1))
    q[:, moving] = rng.uniform(arm.lower[moving], arm.upper[moving], (count, len(moving)))
    if not heavy:
        yield q
        return
    yield np.array([arm.hanging_pose(pose) for pose in q])
    # Some are let fall from random angles of the loose joints, until they lean on something.
    fallen = q[: count // FALLING_EVERY]
    fallen[:, heavy] = rng.uniform(arm.lower[heavy], arm.upper[heavy], (len(fallen), len(heavy)))
    settled = (arm.resting_pose(pose) for pose in fallen if not arm.clearance.touches(pose))
    yield np.array([pose for pose in settled if pose is not None]).reshape(-1, len(JOINTS))


def angles_of(setup: Setup, fault: Fault, count: int = ANGLES) -> list[Fault]:
    """Return a fault frozen at `count` angles in the middle of equal parts of its range."""
    low, high = setup.parameters.limits[:, JOINTS.index(fault.joint)]
    parts = (np.arange(count) + 0.5) / count
    return [replace(fault, angle=float(low + part * (high - low))) for part in parts]


def relative_efforts(arm: FailedArm, poses: int, seed: int = 0) -> Array:
    """Return the efforts that hold k poses without contact, over the effort limits (k, 7)."""
    drawn = np.concatenate([*_drawn(arm, poses, np.random.default_rng(seed))])
    efforts = [arm.holding_efforts(q) for q in drawn if not arm.clearance.touches(q)]
    return np.asarray(np.abs(np.array(efforts).reshape(-1, len(JOINTS))) / arm.efforts)


def visible_fraction(arm: FailedArm, seed: int = 0) -> float:
    """Return the mean visible fraction of targets, each from the best of random poses.

    The poses touch nothing and can be held, with loose joints at rest; the camera sees a cone.
    """
    rng, sight = np.random.default_rng(seed), Sight(arm.clearance, VIEW_ANGLE)
    targets = rng.uniform(LOW_TARGET, HIGH_TARGET, (TARGETS, 3))
    drawn = rng.uniform(size=(CAMERA_POSES, len(JOINTS)))
    angles = arm.lower + drawn * (arm.upper - arm.lower)
    settled = (arm.resting_pose(q) for q in angles if not arm.clearance.touches(q))
    poses = [q for q in settled if q is not None and arm.can_hold(q)]
    # The camera's position and the direction of its axis in each of k poses (k, 3).
    eyes, axes = np.array([sight.eye(q) for q in poses]).reshape(-1, 2, 3).swapaxes(0, 1)
    best = list[float]()
    for target in targets:
        lines = target - eyes
        ahead = np.einsum("ij,ij->i", lines, axes) / np.linalg.norm(lines, axis=1)
        order = (-ahead).argsort(kind="stable")[:POSES_PER_TARGET].tolist()
        fractions = (sight.fraction(poses[i], target, TARGET_WIDTH) for i in order)
        best.append(max(fractions, default=0.0))
    return float(np.mean(best))
