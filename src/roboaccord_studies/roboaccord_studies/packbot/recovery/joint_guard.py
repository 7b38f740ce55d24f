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
