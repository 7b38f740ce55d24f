"""Pictures of failed arms: workspaces, equilibria, recovery."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.report.colours import BLUE, GREEN, RED, RULE
from roboaccord.report.drawing import SQUARE, legend, picture

from packbot.model.parameters import JOINTS

if TYPE_CHECKING:
    from roboaccord.contract.state import Array

    from packbot.planning.equilibria import Equilibria
    from packbot.planning.failed_arm import FailedArm
    from packbot.source.recovery import Counts
    from packbot.source.workspace import Kept


def draw_workspace(found: Sequence[Kept], path: Path) -> None:
    """Draw the cells of the healthy arm, and those kept: the darker, the more cases keep them.

    Args:
        found: the healthy arm, and the cases.
        path: of the picture.
    """
    from packbot.source.workspace import CELL

    healthy, cases = found[0].cells, found[1:]
    with picture(path, SQUARE) as axes:
        corners = np.array(sorted(healthy)) * CELL
        axes.scatter(*(corners + 0.5 * CELL).T, s=9.0, marker="s", color=RULE, linewidths=0)
        count = {cell: sum(cell in each.cells for each in cases) for cell in sorted(healthy)}
        kept = [cell for cell, n in count.items() if n]
        if kept:
            shade = [count[cell] / len(cases) for cell in kept]
            places = (np.array(kept) + 0.5) * CELL
            axes.scatter(*places.T, s=9.0, marker="s", color=BLUE, alpha=shade, linewidths=0)
        axes.set(xlabel="from the turret's axis [m]", ylabel="height [m]", aspect="equal")


def draw_kept(found: Sequence[Kept], path: Path) -> None:
    """Draw the share of the workspace that is kept over the angle at which a joint is frozen."""
    lines = dict[str, list[tuple[float, float]]]()
    for each in found[1:]:
        (fault,) = each.faults
        lines.setdefault(fault.joint, []).append((fault.angle or 0.0, each.retained))
    with picture(path) as axes:
        for joint, points in lines.items():
            axes.plot(*zip(*points, strict=True), label=joint)
        axes.set(xlabel="frozen at [rad]", ylabel="share of the workspace", ylim=(0.0, 1.0))
        legend(axes)


def draw_torques(healthy: Array, failed: Array, path: Path) -> None:
    """Draw the torques of poses at rest over the joints' limits (k, 7): median, 95 % and most."""
    with picture(path) as axes:
        for loads, colour, name in ((healthy, RULE, "healthy"), (failed, BLUE, "failed")):
            for part, width in ((1.0, 2.0), (0.95, 6.0), (0.5, 12.0)):
                ends = np.quantile(loads, part, axis=0)
                places = np.arange(len(ends)) + (0.2 if loads is failed else -0.2)
                axes.vlines(places, 0.0, ends, colors=colour, lw=width, label=name * (part == 0.5))
        axes.axhline(1.0, color=RED, lw=0.8)
        axes.set_xticks(np.arange(healthy.shape[1]), JOINTS)
        axes.set(ylabel="torque over its limit")
        legend(axes)


def draw_recovery(found: Sequence[Counts], path: Path) -> None:
    """Draw how many targets of each case are reachable, recovered, and reached by the baseline."""
    with picture(path, (7.5, 1.5 + 0.24 * len(found))) as axes:
        places = np.arange(len(found))[::-1]
        kinds = (("reachable", RULE, 0.8), ("recovered", BLUE, 0.5), ("baseline", RED, 0.2))
        for key, colour, height in kinds:
            values = [getattr(case, key) for case in found]
            axes.barh(places, values, height=height, color=colour, label=key)
        axes.set_yticks(places, [", ".join(case.faults) for case in found])
        axes.set(xlabel="targets")
        legend(axes, 3)


def draw_equilibria(arm: FailedArm, found: Equilibria, path: Path) -> None:
    """Draw the finger tips of equilibria from the side, and the ways from rest to rest."""
    tip, axis = arm.kinematics.tip, arm.setup.parameters.base_x
    colours = {"stable": BLUE, "unstable": RED, "propped": GREEN}

    def side(q: Array) -> tuple[float, float]:
        x, y, z = tip(q)
        return float(np.hypot(x - axis, y)), float(z)

    with picture(path, SQUARE) as axes:
        if found.tree:
            for i, q in enumerate(found.tree.nodes[1:], 1):
                before = found.tree[found.tree.parent(i)]
                axes.plot(*zip(side(before), side(q)), color=RULE, lw=0.7)
        for kind, colour in colours.items():
            places = [side(q) for q in getattr(found, kind)]
            if places:
                axes.scatter(*zip(*places), s=12.0, color=colour, label=kind, zorder=3)
        axes.set(xlabel="from the turret's axis [m]", ylabel="height [m]", aspect="equal")
        legend(axes, 3)
