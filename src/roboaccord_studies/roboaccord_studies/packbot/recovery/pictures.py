"""Pictures of failed arms: the workspace that they retain, and the equilibria of loose joints.

`accord packbot workspace` (cli/workspace.py) draws the cells that a failed arm still reaches, their
shares over the angle of a frozen joint, and joint torques. `accord packbot equilibria`
(equilibria.py) draws the equilibria of random poses, and those over the angles of active joints. A
loose joint has no drive, an active one has not failed. A fold is where a stable equilibrium meets
an unstable one, and both vanish (equilibrium_map.py). Colours and sizes may be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from packbot.model.parameters import JOINTS
from packbot.planning.failed_arm import FailedArm
from packbot.planning.rrt import SearchTree
from roboaccord.contract import Array
from roboaccord.report import BLUE, GREEN, INK, RED, RULE, SIZE, SQUARE, heat_map, legend, picture

from roboaccord_studies.packbot.recovery.equilibrium_map import PLANE, EquilibriumMap
from roboaccord_studies.packbot.recovery.workspace import CELL, RetainedWorkspace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours of the kinds of equilibria, in the order in which a map has them.
COLOURS = {"stable": BLUE, "propped": GREEN, "stop": GREEN, "unstable": RED}
WIDE = (7.5, 4.0)  # inches; size of a picture of two panels: as wide as one of one panel, by eye
# Bars of a joint's torque: quantiles over all poses (all of them, 95 %, median), and the width of
# the bar [points], by eye: the wider the bar, the more often the torque is less.
TORQUE_BARS = ((1.0, 2.0), (0.95, 6.0), (0.5, 12.0))


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
    """Draw the torques of k poses at rest over the joints' limits: median, 95 % and most.

    Args:
        healthy, failed: torques over the limits, of the healthy arm and of failed ones (k, 7).
        path: of the picture.
    """
    with picture(path) as axes:
        arms = ((healthy, RULE, "normal arm", -0.2), (failed, BLUE, "failed arm", 0.2))
        for efforts, colour, name, shift in arms:
            x = np.arange(len(JOINTS)) + shift
            for quantile, width in TORQUE_BARS:
                ends = np.quantile(efforts, quantile, axis=0)
                label = name if quantile == 0.5 else ""  # one entry of the legend
                axes.vlines(x, 0.0, ends, colors=colour, lw=width, label=label)
        axes.axhline(1.0, color=RED, lw=0.8)
        axes.set_xticks(np.arange(len(JOINTS)), JOINTS)
        axes.set(ylabel="joint torque over torque limit")
        legend(axes)


def draw_equilibria(
    arm: FailedArm, poses: Mapping[str, list[Array]], tree: SearchTree | None, path: Path
) -> None:
    """Draw the finger tips of equilibria from the side, and the paths between them.

    Args:
        arm: the arm with its failures.
        poses: angles (7,) [rad] of the equilibria by kind, a key of COLOURS.
        tree: poses that can be reached, if there are any.
        path: of the picture.
    """
    turret_x = arm.setup.parameters.base_x

    def seen_from_side(q: Array) -> tuple[float, float]:
        """Return distance from the turret's axis and height of the finger tips [m]."""
        x, y, z = arm.kinematics.tip(q)
        return float(np.hypot(x - turret_x, y)), float(z)

    with picture(path, SQUARE) as axes:
        if tree:
            for i, q in enumerate(tree.nodes[1:], 1):
                line = np.array([seen_from_side(tree[tree.parents[i]]), seen_from_side(q)])
                axes.plot(*line.T, color=RULE, lw=0.7)
        for kind, of_kind in poses.items():
            if of_kind:
                points = np.array([seen_from_side(q) for q in of_kind])
                axes.scatter(*points.T, s=12.0, color=COLOURS[kind], label=kind, zorder=3)
        axes.set(xlabel="from the turret's axis [m]", ylabel="height [m]", aspect="equal")
        legend(axes, 3)


def draw_map(equilibria: EquilibriumMap, path: Path, run: Array | None = None) -> None:
    """Draw equilibria over the pitch of the link that carries the loose joint.

    Over two active joints the number of stable ones by cell is drawn, too.

    Args:
        equilibria: equilibria over the angles of active joints.
        path: of the picture.
        run: angles (n, 7) [rad] of a motion, drawn with it.
    """
    has_two = len(equilibria.over) == 2
    size, mosaic = (WIDE, "ab") if has_two else (SIZE, "a")
    with picture(path, size, mosaic=mosaic) as panels:
        _draw_angles(panels["a"], equilibria, run)
        if has_two:
            _draw_counts(panels["b"], equilibria, run)


def _draw_angles(axes: Axes, equilibria: EquilibriumMap, run: Array | None) -> None:
    """Draw the angles of equilibria, of folds and of a motion over the pitch of the link before."""
    joint = JOINTS.index(equilibria.joint)
    for kind, colour in COLOURS.items():
        of_kind = [e.q for e in chain(*equilibria.by_cell) if e.kind == kind]
        if of_kind:
            q = np.array(of_kind)
            pitches = q[:, 1:joint].sum(axis=1)
            axes.scatter(pitches, q[:, joint], s=4.0, color=colour, label=kind)
    for fold in equilibria.folds:
        pitch = sum(fold.angles[name] for name in PLANE[: joint - 1])
        axes.plot(pitch, fold.angles[equilibria.joint], "o", mfc="none", color=INK, label="fold")
    if run is not None:
        axes.plot(run[:, 1:joint].sum(axis=1), run[:, joint], color=INK, label="run")
    axes.set(xlabel=f"pitch of the link before {equilibria.joint} [rad]")
    axes.set(ylabel=f"{equilibria.joint} [rad]")
    legend(axes, 6)


def _draw_counts(axes: Axes, equilibria: EquilibriumMap, run: Array | None) -> None:
    """Draw the number of stable equilibria over two active joints, and a motion."""
    stable = [sum(e.kind != "unstable" for e in cell) for cell in equilibria.by_cell]
    counts = np.array(stable, dtype=float).reshape([len(axis) for axis in equilibria.axes])
    x, y = equilibria.axes
    heat_map(axes, x, y, counts, "stable equilibria")
    first, second = equilibria.over
    axes.set(xlabel=f"{first} [rad]", ylabel=f"{second} [rad]")
    if run is not None:
        axes.plot(run[:, JOINTS.index(first)], run[:, JOINTS.index(second)], color="white")
