"""Pictures of workspaces that failed arms retain: cells, shares over the angle, and torques.

`accord packbot workspace` draws them (cli/workspace.py) from what `workspace` measured. Colours and
sizes may be changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array
from roboaccord.report import BLUE, RED, RULE, SQUARE, legend, picture

from roboaccord_studies.packbot.recovery.workspace import CELL, RetainedWorkspace


def draw_workspace(workspaces: Sequence[RetainedWorkspace], path: Path) -> None:
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


def draw_shares(workspaces: Sequence[RetainedWorkspace], path: Path) -> None:
    """Draw the share of the workspace that is kept over the angle at which a joint is frozen."""
    lines = dict[str, list[tuple[float, float]]]()
    for case in workspaces[1:]:
        (fault,) = case.failed
        lines.setdefault(fault.joint, []).append((fault.angle or 0.0, case.retained))
    with picture(path) as axes:
        for joint, points in lines.items():
            axes.plot(*zip(*points, strict=True), label=joint)
        axes.set(xlabel="angle of the frozen joint [rad]")
        axes.set(ylabel="workspace retained", ylim=(0.0, 1.0))
        legend(axes)


def draw_torques(healthy: Array, failed: Array, path: Path) -> None:
    """Draw the torques of poses at rest over the joints' limits (k, 7): median, 95 % and most."""
    with picture(path) as axes:
        arms = ((healthy, RULE, "normal arm", -0.2), (failed, BLUE, "failed arm", 0.2))
        for efforts, colour, name, shift in arms:
            for rank, width in ((1.0, 2.0), (0.95, 6.0), (0.5, 12.0)):
                ends = np.quantile(efforts, rank, axis=0)
                x, label = np.arange(len(ends)) + shift, name if rank == 0.5 else ""
                axes.vlines(x, 0.0, ends, colors=colour, lw=width, label=label)
        axes.axhline(1.0, color=RED, lw=0.8)
        axes.set_xticks(np.arange(healthy.shape[1]), JOINTS)
        axes.set(ylabel="joint torque over torque limit")
        legend(axes)
