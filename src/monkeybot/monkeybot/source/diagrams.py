"""Drawing of the report's figures 1 and 2: the model, and the stages of the horizontal gait.

"The report" is the student project of docs/monkeybot.md. The robot has two links, A and B, which a
motor joins at the elbow, and a magnet at the hand of either. th1 is the angle of link A from
hanging straight down, th2 that of link B relative to link A. In the horizontal gait it swings from
hand A to hand B at the same height. `write_model` and `write_stages` draw figures 1 and 2 with
matplotlib to scale, from the robot's parameters: figure 1 in the pose of the report, figure 2 from
a simulation of the gait. source/figures.py calls them. Colours come from roboaccord.report.

The layout, MIN_LABELLED_LENGTH, STAGE_SPACING and PATH_POINTS, may be changed. POSE is that of the
report's figure 1 and stays. STAGE_CAPTIONS must follow the phases of `horizontal`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from roboaccord import report
from roboaccord.contract import Array

from monkeybot.gaits.gait import evaluate, full_starts, horizontal
from monkeybot.model.coordinates import Mode
from monkeybot.model.motion import Motion
from monkeybot.model.parameters import MonkeyBotParameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSE = (-0.6, 1.45)  # rad: th1 and th2 of figure 1
LINK_A, LINK_B = report.BLUE, report.GREEN
# m: a dimension shorter than this has its label beside it, not on it: any between r2, 0.06 m, on
# which a label does not fit, and r1, 0.55 m, on which it does.
MIN_LABELLED_LENGTH = 0.15
STAGE_SPACING = 1.15  # m: distance between the stages, by eye: nearly two links of 0.61 m
# Points of the free hand's path in a stage, by eye: the chords are a few centimetres long.
PATH_POINTS = 40
STAGE_CAPTIONS = (
    "1  start: both\nhang straight",
    "2  swing up:\nA holds",
    "3  level: B grips,\nA lets go",
    "4  torque, until the\nenergy is restored",
    "5  end: both\nhang straight",
)
DRIVEN_STAGE = 3  # index of the stage that begins with the change of hands; its motor is marked
LABEL_BOX = {"facecolor": report.PAGE, "edgecolor": "none", "pad": 1.5}  # behind a label on a line
# Matplotlib's style of a dimension line, with bars at both ends
BAR_ENDS = "|-|,widthA=.25,widthB=.25"


class Stage(NamedTuple):
    """A stage of the gait.

    Attributes:
        poses: positions of hand A, elbow and hand B along the stage (k, 3, 2) [m].
        held: the hand that holds, 0 for A or 1 for B.
    """

    poses: Array
    held: int


def skeleton(parameters: MonkeyBotParameters, u: Array) -> Array:
    """Return the positions of hand A, elbow and hand B (3, 2) [m] for a state from hand A (8,).

    The state is (th1, th2, w1, w2, y, z, vy, vz), of which angles and position count.
    """
    angles = np.array([u[0], u[0] + u[1]])
    lengths = np.array([parameters.length_a, parameters.length_b])
    links = lengths[:, None] * np.column_stack([np.sin(angles), -np.cos(angles)])
    return np.asarray(u[4:6] + np.vstack([np.zeros(2), np.cumsum(links, axis=0)]))


def write_model(parameters: MonkeyBotParameters, path: Path) -> None:
    """Write figure 1 as SVG: the two links with their coordinates and parameters."""
    p = parameters
    th1, th2 = POSE
    hand_a, elbow, hand_b = skeleton(p, np.array([th1, th2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    centre_a = hand_a + p.centre_a / p.length_a * (elbow - hand_a)
    centre_b = elbow + p.centre_b / p.length_b * (hand_b - elbow)
    inertias = (
        f"link A: m1 = {p.mass_a:g} kg, I1 = {p.inertia_a:.3g} kg m^2\n"
        f"link B: m2 = {p.mass_b:g} kg, I2 = {p.inertia_b:.3g} kg m^2"
    )
    # Radii of arcs and offsets of dimensions in m, offsets of labels in points, and places of texts
    # as fractions of the axes: all by eye, so that nothing overlaps.
    with report.picture(path, (7.5, 5.2)) as axes:
        draw_links(axes, np.array([hand_a, elbow, hand_b]), held=0)
        for centre, colour in ((centre_a, LINK_A), (centre_b, LINK_B)):
            axes.plot(*centre, "o", color=report.PAGE, mec=colour, mew=2.0, ms=6.0, zorder=4)
        _draw_angle(axes, hand_a, -0.5 * np.pi, th1, 0.2, "th1 < 0")
        _draw_angle(axes, elbow, th1 - 0.5 * np.pi, th2, 0.22, "th2 > 0")
        _draw_dimension(axes, hand_a, elbow, -0.2, f"L1 = {p.length_a:g} m")
        _draw_dimension(axes, hand_a, centre_a, -0.08, f"r1 = {p.centre_a:.3f} m")
        _draw_dimension(axes, elbow, hand_b, 0.3, f"L2 = {p.length_b:g} m")
        _draw_dimension(axes, elbow, centre_b, 0.06, f"r2 = {p.centre_b:.3f} m")
        _label(axes, hand_a, (12, 0), "hand A at (y, z): its magnet holds", "left")
        _label(axes, hand_b, (12, 0), "hand B: its magnet is off", "left")
        _label(axes, elbow, (-14, -4), "elbow: motor,\ntorque on th2", "right")
        axes.text(0.97, 0.55, inertias, transform=axes.transAxes, ha="right")
        arrow = {"arrowstyle": "-|>", "color": report.INK, "lw": 1.5}
        axes.annotate("", (0.03, 0.05), (0.03, 0.25), xycoords="axes fraction", arrowprops=arrow)
        axes.text(0.05, 0.15, f"g = {p.gravity:g} m/s^2", transform=axes.transAxes, va="center")
        report.bare(axes)
        axes.set(xlim=(-0.85, 0.95), ylim=(-1.05, 0.14))


def write_stages(parameters: MonkeyBotParameters, rates: Array, torque: float, path: Path) -> None:
    """Write figure 2 as SVG: the stages of the horizontal gait from given rates (2,) [rad/s].

    A stage is drawn at its end, with the magnet on that holds from then on.
    """
    gait_stages = stages(parameters, rates, torque)
    next_stages = [*gait_stages[1:], gait_stages[-1]]
    with report.picture(path, (7.5, 3.0)) as axes:
        for number, (stage, next_stage) in enumerate(zip(gait_stages, next_stages, strict=True)):
            poses = stage.poses + np.array([STAGE_SPACING * number, 0.0])
            free_hand = poses[:, 2 if stage.held == 0 else 0]
            axes.plot(*free_hand.T, color=report.SOFT, lw=1.0, ls=":")
            draw_links(axes, poses[-1], next_stage.held, torque=number == DRIVEN_STAGE)
            middle = STAGE_SPACING * number + stage.poses[:, :, 0].mean()
            axes.text(middle, 0.38, STAGE_CAPTIONS[number], ha="center", va="bottom", fontsize=8.5)
        report.legend(axes, 5)
        report.bare(axes)
        axes.set(ylim=(-1.3, 0.72))  # with the captions


def stages(parameters: MonkeyBotParameters, rates: Array, torque: float) -> list[Stage]:
    """Return the stages of the gait from given rates (2,) [rad/s], by simulation.

    The first one is the start, a single pose.
    """
    swing, motor, coast = evaluate(horizontal(torque), parameters, rates).times[0]
    motion = Motion(parameters, full_starts(rates)[0])
    gait_stages = [Stage(skeleton(parameters, motion.u)[None], 0)]
    # Duration [s] and torque [N m] of each stage; the swing is drawn as two stages.
    half_swing = (0.5 * swing, 0.0)
    pieces = (half_swing, half_swing, (motor, torque), (coast, 0.0))
    for number, (duration, push) in enumerate(pieces, 1):
        if number == DRIVEN_STAGE:
            motion.switch_to(Mode.SWING_B)
        poses = [skeleton(parameters, motion.u)]
        for _ in range(PATH_POINTS):
            motion.advance(duration / PATH_POINTS, push)
            poses.append(skeleton(parameters, motion.u))
        gait_stages.append(Stage(np.array(poses), motion.hand))
    return gait_stages


def draw_links(axes: Axes, points: Array, held: int, *, torque: bool = False) -> None:
    """Draw the links through hand A, elbow and hand B (3, 2) [m].

    The magnet of `held`, 0 for A or 1 for B, is filled; `torque` marks the motor.
    """
    for ends, colour, name in ((points[:2], LINK_A, "link A"), (points[1:], LINK_B, "link B")):
        axes.plot(*ends.T, color=colour, lw=5.0, solid_capstyle="round", label=name)
    elbow = report.RED if torque else report.PAGE
    axes.plot(*points[1], "o", color=elbow, mec=report.INK, ms=8.0, zorder=3)
    for hand, end in enumerate((points[0], points[2])):
        fill, label = (report.INK, "magnet on") if hand == held else (report.PAGE, "magnet off")
        axes.plot(*end, "s", color=fill, mec=report.INK, ms=8.0, zorder=3, label=label)


def _draw_angle(axes: Axes, at: Array, start: float, turn: float, radius: float, name: str) -> None:
    """Draw an angle with its arrow and name.

    Args:
        axes: to draw in.
        at: vertex of the angle (2,) [m].
        start, turn: direction from which it leads on, and its size [rad].
        radius: of its arc [m].
        name: its label.
    """
    directions = start + np.linspace(0.0, turn, 30)  # from the vertex to the points of the arc
    arc = at + radius * np.column_stack([np.cos(directions), np.sin(directions)])
    ray = np.array([at, at + 1.25 * radius * np.array([np.cos(start), np.sin(start)])])
    axes.plot(*ray.T, color=report.SOFT, lw=1.0, ls="--")
    # The head of the arrow takes the place of the last two chords.
    axes.plot(*arc[:-2].T, color=report.RED, lw=1.2)
    report.pointer(axes, arc[-3], arc[-1], report.RED)
    # The name is 5 cm outside of the middle of the arc.
    middle = at + (radius + 0.05) * np.array([np.cos(directions[15]), np.sin(directions[15])])
    axes.text(middle[0], middle[1], name, color=report.RED, ha="center", va="center")


def _draw_dimension(axes: Axes, start: Array, end: Array, offset: float, text: str) -> None:
    """Draw the dimension between two points, `offset` [m] to the left of the line between them."""
    length = np.linalg.norm(end - start)
    line = (end - start) / length
    shift = offset * np.array([-line[1], line[0]])
    style = {"arrowstyle": BAR_ENDS, "color": report.SOFT, "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tuple(end + shift), tuple(start + shift), arrowprops=style)
    x, y = 0.5 * (start + end) + shift
    if length < MIN_LABELLED_LENGTH:
        x, y = np.array([x, y]) + 0.3 * shift  # beside the line
        axes.text(x, y, text, ha="left", va="center")
        return
    turn = np.degrees(np.arctan(line[1] / line[0]))  # along the line, never upside down
    axes.text(x, y, text, rotation=turn, ha="center", va="center", bbox=LABEL_BOX)


def _label(axes: Axes, at: Array, offset: tuple[float, float], text: str, side: str) -> None:
    """Write a text at an offset [points] from a point (2,) [m], aligned to a side."""
    axes.annotate(text, tuple(at), offset, textcoords="offset points", ha=side, va="center")
