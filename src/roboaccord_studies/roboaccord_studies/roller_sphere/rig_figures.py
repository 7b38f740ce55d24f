"""Draws the geometry of a rig and of its slip: figures 1, 2, 4 and 5 of the paper, for any rig.

A rig is a ball that rollers drive by friction. The paper is Kimura, Ogata and Ishii (2019), see
roller_sphere/model/rig.py, and these are its symbols: P_i is the contact of roller i on the ball of
radius r, eta_i the roller's axis, nu_i its peripheral speed, and w the ball's angular velocity. A
roller fixes only the component of w along eta_i, (nu_i / r) eta_i, so the end of w lies on a line
through that point along P_i: the roller's line. Two lines do not meet in general; w then ends
halfway between them, where the squared distances have the least sum.

Angular velocities are drawn as lengths in the space of the ball, scaled by `_drawing_scale`. The
command `accord roller-sphere survey` (survey.py) calls the `write_` functions, each of which writes
an SVG and returns it with its caption; the helpers below draw lines, rollers and dots.

What a figure shows is the paper's (test_roller_survey checks that w is halfway between the lines),
and file names are those of docs/images. Colours and sizes may be changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from roboaccord import report
from roboaccord.contract import Array
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.rig import Rig

from roboaccord_studies.drawing import arrow, draw_ball, line, see

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#3366cc", "#12a594", "#8e7cc3", "#c9a227")  # of the rollers, in turn
SLIP_COLOUR = "#ee7733"  # colour of distances between w and the lines, which are the slip
# Lengths over the ball's radius, chosen for legible figures.
ROLLER_DIAMETER, ROLLER_LENGTH = 0.28, 0.16  # diameter and length of a drawn roller
LONGEST_VECTOR = 1.5  # length of the longest drawn angular velocity
OVERHANG = 0.35  # by which a line extends beyond its last marked point
ORIGIN = np.zeros(3)  # O, the ball's centre


def write_roller(kinematics: Kinematics, heading: float, folder: Path) -> report.Still:
    """Write figure 1 for a ball at 1 m/s: one roller, and the line on which w may end.

    Args:
        kinematics: of the rig.
        heading: direction phi of the ball's velocity, from x [rad].
        folder: for the picture.
    """
    rig, nu = kinematics.rig, kinematics.inverse(1.0, heading).nu
    scale, path = _drawing_scale(kinematics, nu), folder / "figure_1.svg"
    contact, length = rig.contacts[0], 0.7 * rig.radius
    with report.picture(path, report.SQUARE) as axes:
        draw_ball(axes, rig.radius)
        _draw_roller(axes, rig, 0)
        arrow(axes, contact, length * rig.axes[0], COLOURS[0], "axis eta")
        arrow(axes, contact, length * rig.directions[0], report.RED, "direction e_i")
        _draw_roller_line(axes, kinematics, nu, 0, scale, np.zeros(1))
        foot = kinematics.lines(nu)[0][0] * scale
        line(axes, np.array([ORIGIN, foot]), report.SOFT, "(nu/r) eta")
        _label(axes, {"P1": contact, "O": ORIGIN}, [COLOURS[0], report.INK])
    caption = (
        "It fixes the part of w along its axis, and leaves the part along P: w ends on the line."
    )
    return report.Still(path, "Figure 1: one roller", caption)


def write_pair(
    kinematics: Kinematics, heading: float, folder: Path, name: str, title: str
) -> report.Still:
    """Write figure 2 at 1 m/s: all rollers with their lines, and w halfway between those of two.

    Args:
        kinematics: of the rig.
        heading: direction phi of the ball's velocity, from x [rad].
        folder, name, title: folder of the figure, its file name without suffix, and its title.
    """
    rig, motion = kinematics.rig, kinematics.inverse(1.0, heading)
    omega = motion.omega  # w (3,) [rad/s]
    scale = _drawing_scale(kinematics, motion.nu)
    # The point of each line nearest to the end of w, and its coordinate along the line.
    feet, along = _nearest_points(kinematics, motion.nu, omega)
    velocity = np.array([np.cos(heading), np.sin(heading), 0.0])
    path = folder / f"{name}.svg"
    with report.picture(path, report.SQUARE) as axes:
        draw_ball(axes, rig.radius)
        for i in range(rig.count):
            _draw_roller(axes, rig, i)
        for i in range(rig.count):
            _draw_roller_line(axes, kinematics, motion.nu, i, scale, along[i : i + 1])
            line(axes, scale * np.array([feet[i], omega]), SLIP_COLOUR, "from lines to w", lw=2.2)
        line(axes, np.array([ORIGIN, scale * omega]), report.RED, "w", lw=2.6)
        arrow(axes, ORIGIN, 1.3 * rig.radius * velocity, report.INK, "heading of V")
        arrow(axes, ORIGIN, 1.2 * rig.radius * rig.pole, report.SOFT, "e")
        dots = {f"P{i + 1}": contact for i, contact in enumerate(rig.contacts)}
        colours = [COLOURS[i % len(COLOURS)] for i in range(rig.count)]
        _label(axes, {**dots, "w": scale * omega}, [*colours, report.RED])
    slip = np.linalg.norm(feet - omega, axis=1).max() * rig.radius
    caption = (
        f"Along {np.degrees(heading):g} degrees. Each roller lets w end on its line; w is where "
        "the sum of the squared distances from the lines is least. The largest distance, times the "
        f"radius, is {slip:.4f} m/s: the slip."
    )
    return report.Still(path, title, caption)


def write_least(kinematics: Kinematics, heading: float, folder: Path) -> list[report.Still]:
    """Write figure 4: why w ends halfway between two lines, in space (a) and by distances (b).

    Q0 is the end of w, Q some other point; d1 and d2 are the distances of a point from both lines,
    and k0 is the distance between the lines.
    """
    motion = kinematics.inverse(1.0, heading)
    shortest, _ = _nearest_points(kinematics, motion.nu, motion.omega)
    spacing = float(np.linalg.norm(shortest[0] - shortest[1]))  # k0
    # Q: moved along both line directions from Q0, by amounts chosen for a legible figure.
    _, directions = kinematics.lines(motion.nu)
    q = motion.omega + spacing * (0.9 * directions[0] + 0.5 * directions[1])
    feet, _ = _nearest_points(kinematics, motion.nu, q)
    in_space, by_distances = folder / "figure_4a.svg", folder / "figure_4b.svg"
    with report.picture(in_space, report.SQUARE) as axes:
        for i in range(2):
            # From 1.6 k0 before to 2.2 k0 after the shortest path, so that Q is beside the line.
            ends = shortest[i] + np.array([[-1.6], [2.2]]) * spacing * directions[i]
            line(axes, ends, COLOURS[i], f"line {i + 1}")
            line(axes, np.array([feet[i], q]), SLIP_COLOUR, "d1 and d2", ls="--")
        line(axes, shortest, report.RED, "the shortest path, k0")
        dots = {"Q": q, "Q1": feet[0], "Q2": feet[1], "Q0 = end of w": motion.omega}
        _label(axes, dots, [report.INK, COLOURS[0], COLOURS[1], report.RED])
    with report.picture(by_distances, report.SQUARE) as axes:
        _draw_distances(axes, spacing, np.linalg.norm(feet - q, axis=1))
    caption_a = (
        f"Along {np.degrees(heading):g} degrees. No path between the lines is shorter than "
        f"k0 = {spacing:.4f} rad/s."
    )
    caption_b = (
        "Every point has d1 + d2 >= k0. The smallest circle that reaches there touches the border "
        "where d1 = d2 = k0/2: halfway between the lines."
    )
    title_a = "Figure 4a: a point and its distances from the lines"
    title_b = "Figure 4b: the least sum of squares"
    second = report.Still(by_distances, title_b, caption_b)
    return [report.Still(in_space, title_a, caption_a), second]


def write_planar(kinematics: Kinematics, heading: float, folder: Path) -> report.Still:
    """Write figure 5: w_t, the component of w in the plane of both contacts, where two lines meet.

    X_i is the tangent of the ball at P_i in this plane; the other symbols are those of the module.
    """
    rig, motion = kinematics.rig, kinematics.inverse(1.0, heading)
    scale, path = _drawing_scale(kinematics, motion.nu), folder / "figure_5.svg"
    # Coordinates in the plane: P1 to the right, X1 upwards.
    plane = np.array([rig.normals[0], rig.across[0]])
    contacts, across = rig.contacts[:2] @ plane.T, rig.radius * rig.across[:2] @ plane.T
    origin, w_t = np.zeros(2), scale * plane @ rig.split(motion.omega)[0]
    starts = scale * kinematics.lines(motion.nu)[0][:2] @ plane.T
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    with report.picture(path, report.SQUARE) as axes:
        axes.plot(rig.radius * np.cos(turn), rig.radius * np.sin(turn), color=report.SOFT, lw=0.8)
        for i in range(2):
            # Line i: from its start along P_i, beyond the end of w_t.
            along = contacts[i] / rig.radius
            marks = np.array([0.0, (w_t - starts[i]) @ along])
            span = np.array([marks.min() - OVERHANG, marks.max() + OVERHANG])
            ends = starts[i] + span[:, None] * along
            axes.plot(*ends.T, color=COLOURS[i], ls="--", label=f"line {i + 1}")
            report.pointer(axes, origin, contacts[i], COLOURS[i])
            report.pointer(axes, origin, across[i], report.SOFT)
            name = f"(nu{i + 1}/r) cos alpha{i + 1} along X{i + 1}"
            axes.plot(*np.array([origin, starts[i]]).T, color=COLOURS[i], ls=":", label=name)
        report.pointer(axes, origin, w_t, report.RED, "w_t")
        report.bare(axes)
        report.legend(axes, 3)
        points = [(float(x), float(y)) for x, y in (*contacts, *across, origin, w_t)]
        report.label_dots(axes, points, ["P1", "P2", "X1", "X2", "O", "w_t"])
    caption = (
        "Seen along e. Each line is parallel to its P and (nu/r) cos alpha from O along its X; "
        "they meet at the end of w_t, the part of w in this plane."
    )
    return report.Still(path, "Figure 5: w in the plane of the contacts", caption)


def _draw_distances(axes: Axes, least: float, point: Array) -> None:
    """Draw the plane of the distances (d1, d2): its reachable part, and the circle that touches it.

    Args:
        axes: of the figure.
        least: distance k0 between both lines [rad/s].
        point: distances of the point Q from the lines (2,) [rad/s].
    """
    # The reachable part d1 + d2 >= k0, up to 15 % beyond Q.
    limit = 1.15 * max(float(point.max()), least)
    corners = np.array([(least, 0.0), (limit, 0.0), (limit, limit), (0.0, limit), (0.0, least)])
    axes.fill(*corners.T, color="#dfe6f3", label="d1 + d2 >= k0")
    axes.plot([0.0, least], [least, 0.0], color=report.RED, label="d1 + d2 = k0")
    # The circle of the least sum of squares touches its border at d1 = d2 = k0 / 2.
    turn = np.linspace(0.0, 0.5 * np.pi, 91)
    x, y = least / np.sqrt(2.0) * np.array([np.cos(turn), np.sin(turn)])
    axes.plot(x, y, color=report.INK, ls="--", label="d1^2 + d2^2 = k0^2 / 2")
    axes.set(xlabel="d1 [rad/s]", ylabel="d2 [rad/s]", xlim=(0.0, limit), ylim=(0.0, limit))
    axes.set_aspect("equal")
    report.legend(axes)
    q0, q = (0.5 * least, 0.5 * least), (point[0], point[1])
    axes.plot(*q0, "o", color=report.RED, mec=report.INK)
    axes.plot(*q, "o", color=report.AMBER, mec=report.INK)
    report.label_dots(axes, [q0, q], ["Q0", "Q"])


def _nearest_points(kinematics: Kinematics, nu: Array, point: Array) -> tuple[Array, Array]:
    """Return the point of each line nearest to `point` (n, 3), and its coordinate along it (n,).

    All are angular velocities [rad/s].
    """
    points, directions = kinematics.lines(nu)
    along = np.einsum("ij,ij->i", point - points, directions)
    return points + along[:, None] * directions, along


def _drawing_scale(kinematics: Kinematics, nu: Array) -> float:
    """Return the scale of angular velocities [m s]: the longest is LONGEST_VECTOR radii long."""
    sizes = [np.linalg.norm(kinematics.omega(nu)), *np.abs(nu) / kinematics.rig.radius]
    return float(LONGEST_VECTOR * kinematics.rig.radius / max(sizes))


def _draw_roller_line(
    axes: Axes, kinematics: Kinematics, nu: Array, i: int, scale: float, marks: Array
) -> None:
    """Draw the line on which w may end for roller i, OVERHANG beyond its marked points.

    Args:
        axes: of the figure.
        kinematics: of the rig.
        nu: peripheral speeds of the rollers (n,) [m/s].
        i: index of the roller.
        scale: length on the drawing of an angular velocity [m s].
        marks: coordinates along the line of points that it must pass, besides 0 (k,) [rad/s].
    """
    points, directions = kinematics.lines(nu)
    ends = scale * np.concatenate([marks, [0.0]])
    margin = OVERHANG * kinematics.rig.radius
    along = np.array([min(ends.min(), 0.0) - margin, ends.max() + margin])
    path = scale * points[i] + along[:, None] * directions[i]
    line(axes, path, COLOURS[i % len(COLOURS)], f"line {i + 1}", ls="--")


def _draw_roller(axes: Axes, rig: Rig, i: int) -> None:
    """Draw roller i as a cylinder that touches the ball: two rims, and ribs between them."""
    r, axis, outward = rig.radius, rig.axes[i], rig.normals[i]
    t = np.radians(np.arange(0.0, 361.0, 10.0))[:, None]
    middle = rig.contacts[i] + 0.5 * ROLLER_DIAMETER * r * outward
    rim = 0.5 * ROLLER_DIAMETER * r * (np.cos(t) * outward + np.sin(t) * np.cross(axis, outward))
    half = 0.5 * ROLLER_LENGTH * r * axis
    ribs = [np.array([middle + rim[k] - half, middle + rim[k] + half]) for k in range(0, 36, 6)]
    for points in (middle + rim - half, middle + rim + half, *ribs):
        line(axes, points, COLOURS[i % len(COLOURS)], f"roller {i + 1}", lw=1.1)


def _label(axes: Axes, points: dict[str, Array], colours: list[str]) -> None:
    """Add the legend, and mark points in space by dots with their names.

    Called last, for names are placed by the limits of the axes, which must not change any more.
    """
    report.bare(axes)
    report.legend(axes)
    projected = [see(point)[:2] for point in points.values()]
    for (x, y), colour in zip(projected, colours, strict=True):
        axes.plot(x, y, "o", color=colour, mec="#ffffff", ms=6.5, zorder=4)
    report.label_dots(axes, [(x, y) for x, y in projected], list(points))
