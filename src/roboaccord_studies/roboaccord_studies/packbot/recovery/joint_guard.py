"""Limits of a joint within which it may freeze anywhere, without too much loss of workspace.

A joint of the Packbot's arm may fail by freezing, at the angle that it then has. If a joint is kept
within narrower limits, it can only freeze within these, at angles that leave a failed arm most of
its workspace; but the healthy arm reaches less. `guard` finds the widest limits that keep enough,
and what they cost. The keys of Guard are JSON output and stay (test_workspace).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import FailedArm
from roboaccord.contract import Quantity
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.recovery.workspace import HEALTHY, RetainedWorkspace, workspace


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


def guard(
    setup: Setup, joint: str, workspaces: Sequence[RetainedWorkspace], keep: float, poses: int
) -> Guard:
    """Return the widest limits of a joint within which every angle of freezing keeps enough.

    Args:
        setup: robot and scenario.
        joint: its name.
        workspaces: the healthy workspace, and those of the joint frozen at ascending angles.
        keep: share of the healthy workspace that is to be kept.
        poses: number of random poses with which a failed arm is measured.
    """
    healthy, frozen = workspaces[0].cells, workspaces[1:]
    angles = [case.failed[0].angle or 0.0 for case in frozen]
    half_spacing = 0.5 * (angles[1] - angles[0]) if len(angles) > 1 else 0.0
    # Runs of angles that keep enough, each from `begin` up to but without `end`.
    keeps_enough = [False, *(case.retained >= keep for case in frozen), False]
    runs = np.flatnonzero(np.diff(keeps_enough)).reshape(-1, 2).tolist()
    if not runs:
        return Guard(0.0, 0.0, 1.0)
    begin, end = max(runs, key=lambda run: run[1] - run[0])
    lower = max(angles[begin] - half_spacing, getattr(setup.parameters, f"lower_{joint}"))
    upper = angles[end - 1] + half_spacing
    arm = FailedArm(setup, ())
    arm.lower[JOINTS.index(joint)] = lower
    arm.upper[JOINTS.index(joint)] = upper
    within = workspace(arm, HEALTHY * poses) & healthy
    return Guard(lower, upper, 1.0 - len(within) / len(healthy))
